import { createHash, randomBytes } from 'node:crypto'
import * as z from 'zod'
import { HOPS, type Hop } from '../../connect/express.ts'
import { createRecordCipher, type EncryptionKey, parseJson } from '../../connect/index.ts'
import { claim, type Key, type KeyValueStore, keyName } from '../../connect/stores.ts'

const pauseSchema = z.object({
  id: z.string(),
  stage: z.enum(HOPS),
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
   * Starts a pause, or resolves to the one that was started before for the same `cause`. `target`: the address that the
   * browser opens next. `cause`: what led here; without it, each pause is a new one.
   */
  start(owner: Owner, stage: Hop, target: string, cause?: string): Promise<Pause>
  /** Notes the state of a consent request that has been paused, so that `isExpected` recognises its callback. */
  expect(owner: Owner, state: string): Promise<void>
  isExpected(owner: Owner, state: string): Promise<boolean>
  /** Ends a pause. Resolves to it, or to null if there is none. */
  end(owner: Owner, id: string): Promise<Pause | null>
}

/** How long a pause lasts, in ms: the lifetime of an authorization request. */
const PAUSE_MS = 15 * 60_000

/** Creates the repository of pauses. They are stored encrypted, since a paused callback holds a code. */
export function createPauses(store: KeyValueStore, encryptionKeys: readonly EncryptionKey[]): Pauses {
  const cipher = createRecordCipher(encryptionKeys)
  const keyOf = ({ userId, session }: Owner, id: string): Key => ({
    kind: 'flow-pause',
    owner: userId,
    id: `${session}.${id}`,
  })
  const stateKey = ({ userId, session }: Owner, state: string): Key => ({
    kind: 'flow-pause-state',
    owner: userId,
    id: `${session}.${digest(state)}`,
  })
  const encrypt = (key: Key, pause: Pause) => cipher.encrypt(JSON.stringify(pause), keyName(key))

  async function find(owner: Owner, id: string): Promise<Pause | null> {
    const key = keyOf(owner, id)
    const encrypted = await store.get(key)
    if (encrypted === null) return null
    return pauseSchema.safeParse(parseJson(cipher.decrypt(encrypted, keyName(key)))).data ?? null
  }

  return {
    find,

    async start(owner, stage, target, cause) {
      const id = cause === undefined ? randomBytes(18).toString('base64url') : digest(`${stage} ${cause}`)
      const key = keyOf(owner, id)
      const pause: Pause = { id, stage, target, at: Date.now(), isContinued: false }
      const isNew = await claim(store, key, encrypt(key, pause), PAUSE_MS)
      return isNew ? pause : ((await find(owner, id)) ?? pause)
    },

    expect: (owner, state) => store.set(stateKey(owner, state), '1', PAUSE_MS),
    isExpected: async (owner, state) => (await store.get(stateKey(owner, state))) !== null,

    async end(owner, id) {
      const pause = await find(owner, id)
      if (!pause) return null
      const key = keyOf(owner, id)
      await store.set(key, encrypt(key, { ...pause, isContinued: true }), PAUSE_MS)
      return pause
    },
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 32)
