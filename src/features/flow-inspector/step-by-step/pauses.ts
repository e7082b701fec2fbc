import { createHash, randomBytes } from 'node:crypto'
import * as z from 'zod'
import { createRecordCipher, type EncryptionKey, parseJson } from '../../../connect/index.ts'
import { type Key, type KeyValueStore, keyName, update } from '../../../connect/stores.ts'

/** The hops before which a flow pauses. */
export const STAGES = ['start', 'consent', 'exchange', 'result'] as const
export type Stage = (typeof STAGES)[number]

const pauseSchema = z.object({
  id: z.string(),
  stage: z.enum(STAGES),
  /** The state of its flow; null before there is one. */
  state: z.string().nullable(),
  /** The address that the browser opens next, perhaps with a code. */
  target: z.string(),
  /** When the pause began, in ms since 1970. */
  at: z.number(),
  isContinued: z.boolean(),
})
export type Pause = z.infer<typeof pauseSchema>

/** A browser session of a user: nobody else sees its pauses. */
export interface Owner {
  userId: string
  /** A digest of the session id. */
  session: string
}

/** The pauses of each browser session. Every method throws `StoreUnavailableError` and `DecryptionError`. */
export interface Pauses {
  find(owner: Owner, id: string): Promise<Pause | null>
  /**
   * Starts the pause of a flow at this stage. Resolves to the one before, after a reload for example, if it has the same
   * target, or is of an exchange that was continued: a flow has one. `target`: the address that the browser opens next.
   * `state`: that of the flow; without it, each pause is a new one.
   */
  start(owner: Owner, stage: Stage, target: string, state: string | null): Promise<Pause>
  /** Whether the flow of this state was paused before the consent page. */
  isExpected(owner: Owner, state: string): Promise<boolean>
  /** Ends a pause. Resolves to it, or to null if there is none. */
  end(owner: Owner, id: string): Promise<Pause | null>
}

/** How long a pause lasts, in ms: the lifetime of a connect flow. */
const PAUSE_MS = 15 * 60_000

/** Creates the repository of pauses. They are stored encrypted, since a paused callback holds a code. */
export function createPauses(store: KeyValueStore, encryptionKeys: readonly EncryptionKey[]): Pauses {
  const cipher = createRecordCipher(encryptionKeys)
  const keyOf = ({ userId, session }: Owner, id: string): Key => ({
    kind: 'flow-pause',
    owner: userId,
    id: `${session}.${id}`,
  })
  const encrypt = (key: Key, pause: Pause) => cipher.encrypt(JSON.stringify(pause), keyName(key))

  const decrypt = (key: Key, encrypted: string | null): Pause | null =>
    encrypted === null
      ? null
      : (pauseSchema.safeParse(parseJson(cipher.decrypt(encrypted, keyName(key)))).data ?? null)

  async function find(owner: Owner, id: string): Promise<Pause | null> {
    const key = keyOf(owner, id)
    return decrypt(key, await store.get(key))
  }

  return {
    find,

    async start(owner, stage, target, state) {
      const id = state === null ? randomBytes(18).toString('base64url') : idOf(stage, state)
      const key = keyOf(owner, id)
      let pause: Pause = { id, stage, state, target, at: Date.now(), isContinued: false }
      const started = encrypt(key, pause)
      const change = (encrypted: string | null) => {
        const before = decrypt(key, encrypted)
        const isSame = before?.target === target || (stage === 'exchange' && before?.isContinued)
        if (!before || !isSame) return started
        pause = before
        return encrypted
      }
      await update(store, key, change, PAUSE_MS)
      return pause
    },

    isExpected: async (owner, state) => (await find(owner, idOf('consent', state))) !== null,

    async end(owner, id) {
      const pause = await find(owner, id)
      if (!pause) return null
      const key = keyOf(owner, id)
      await store.set(key, encrypt(key, { ...pause, isContinued: true }), PAUSE_MS)
      return pause
    },
  }
}

/** The id of the pause of a flow at a stage. It does not tell the state. */
const idOf = (stage: Stage, state: string) =>
  createHash('sha256').update(`${stage} ${state}`).digest('base64url').slice(0, 32)
