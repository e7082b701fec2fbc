import { createHash } from 'node:crypto'
import type { Request } from 'express'
import * as z from 'zod'
import type { HopEvent, OnHop } from '../../connect/express.ts'
import { createRecordCipher, type EncryptionKey, parseJson } from '../../connect/index.ts'
import { type Key, type KeyValueStore, keyName, update } from '../../connect/stores.ts'
import { currentUser, requireUser, wantsJson } from '../../web/kit.ts'
import { CONNECT_MS } from './flow.ts'

declare module 'express-session' {
  interface SessionData {
    /** Whether the connect flows of this browser session pause before each hop. */
    stepByStep: boolean
  }
}

/** The hops before which a flow pauses. */
export const STAGES = ['start', 'consent', 'exchange', 'result'] as const
export type Stage = (typeof STAGES)[number]

const pauseSchema = z.object({
  id: z.string(),
  stage: z.enum(STAGES),
  /** The id of its flow. */
  flowId: z.string(),
  /** The address that the browser opens next, perhaps with a code. */
  target: z.string(),
  isContinued: z.boolean(),
})
export type Pause = z.infer<typeof pauseSchema>

export type Pauses = ReturnType<typeof createPauses>

/** Whether the connect flows of this browser session pause. */
export const isStepByStep = (req: Request): boolean =>
  currentUser(req) !== null && req.session.stepByStep === true

/**
 * The pauses of each browser session, which nobody else sees. They are stored encrypted, since a paused callback holds a code.
 * Methods throw `StoreUnavailableError` and `DecryptionError`.
 */
export function createPauses(store: KeyValueStore, encryptionKeys: readonly EncryptionKey[]) {
  const cipher = createRecordCipher(encryptionKeys)
  const encrypt = (key: Key, pause: Pause) => cipher.encrypt(JSON.stringify(pause), keyName(key))

  const decrypt = (key: Key, encrypted: string | null): Pause | null =>
    encrypted === null
      ? null
      : (pauseSchema.safeParse(parseJson(cipher.decrypt(encrypted, keyName(key)))).data ?? null)

  async function find(req: Request, id: string): Promise<Pause | null> {
    const key = keyOf(req, id)
    return decrypt(key, await store.get(key))
  }

  /** Starts a pause. If there is one with the same target already, for example after a reload, resolves to that one. */
  async function start(req: Request, started: Pause): Promise<Pause> {
    const key = keyOf(req, started.id)
    let pause = started
    const encrypted = encrypt(key, started)
    const change = (value: string | null) => {
      const before = decrypt(key, value)
      pause = before?.target === started.target ? before : started
      return pause === started ? encrypted : value
    }
    await update(store, key, change, CONNECT_MS)
    return pause
  }

  async function pauseBefore({ hop, req, target, failure, flow }: HopEvent): Promise<string> {
    // These do not pause: a question of this app, the page of a failure, and a request for JSON.
    if (hop === 'confirm' || failure !== undefined || wantsJson(req) || !isStepByStep(req)) return target
    if (hop === 'exchange' && !new URLSearchParams(target.split('?')[1]).has('code')) return target
    let flowId = flow.id
    if (hop === 'exchange' || hop === 'result') {
      // A callback pauses only if its flow paused before the consent. The core gets any other callback at once, and may refuse it.
      const consent = await find(req, idOf('consent', flow.state ?? ''))
      if (!consent) return target
      flowId = consent.flowId
    }
    if (flowId === undefined) return target
    const id = idOf(hop, flow.state ?? flowId)
    const pause = await start(req, { id, stage: hop, flowId, target, isContinued: false })
    return hop === 'exchange' && pause.isContinued ? target : `/flows/pauses/${id}`
  }

  return {
    /** Pauses a connect flow before each hop. If it cannot be paused, for example without the store, the flow goes on. */
    // The flow must go on whatever happens here, because the code must leave the address bar.
    onHop: ((event) => pauseBefore(event).catch(() => event.target)) satisfies OnHop,
    find,
    /** Ends a pause. Resolves to the pause, or to null if there is none. */
    async end(req: Request, id: string): Promise<Pause | null> {
      const pause = await find(req, id)
      if (!pause) return null
      const key = keyOf(req, id)
      await store.set(key, encrypt(key, { ...pause, isContinued: true }), CONNECT_MS)
      return pause
    },
  }
}

/** The key of a pause in this browser session. Throws `unauthenticated` (401). */
function keyOf(req: Request, id: string): Key {
  const session = createHash('sha256').update(req.sessionID).digest('base64url')
  return { kind: 'flow-pause', owner: requireUser(req), id: `${session}.${id}` }
}

/** The id of a flow's pause at a stage, which does not reveal `secret`: the flow's state, or the flow's id before it has one. */
const idOf = (stage: Stage, secret: string) =>
  createHash('sha256').update(`${stage} ${secret}`).digest('base64url').slice(0, 32)
