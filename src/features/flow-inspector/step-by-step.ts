import { createHash, randomBytes } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import * as z from 'zod'
import type { EncryptionKey, KeyValueStore } from '../../connect/index.ts'
import { parseJson } from '../../connect/platform/http.ts'
import { type Key, keyName } from '../../connect/store/store.ts'
import { createRecordCipher } from '../../connect/vault/encryption.ts'
import { wantsJson } from '../../web/respond.ts'
import { currentUser } from '../../web/sign-in.ts'

/** Where a connect flow pauses. */
export const STAGES = ['start', 'consent', 'exchange', 'result'] as const
export type Stage = (typeof STAGES)[number]

const pauseSchema = z.object({
  id: z.string(),
  stage: z.enum(STAGES),
  /** The address that the browser opens next, perhaps with a code. */
  target: z.string(),
  /** When the pause began, in ms since 1970. */
  at: z.number(),
  isContinued: z.boolean(),
})
export type Pause = z.infer<typeof pauseSchema>

/** Pauses the connect flows of a browser session before each hop. Every method throws `StoreUnavailableError`. */
export interface StepByStep {
  isOn(req: Request): Promise<boolean>
  turn(req: Request, on: boolean): Promise<void>
  /** Pauses the flow before and after the routes of the connect flow. */
  middleware: RequestHandler
  find(userId: string, id: string): Promise<Pause | null>
  /** Ends a pause. Resolves to the address that the browser opens next, or null. */
  continue(userId: string, id: string): Promise<string | null>
}

export interface StepByStepOptions {
  store: KeyValueStore
  /** A paused callback holds a code, so pauses are stored encrypted. */
  encryptionKeys: readonly EncryptionKey[]
}

/** How long a pause lasts, in ms: the lifetime of an authorization request. */
const PAUSE_MS = 15 * 60_000
const MODE_MS = 24 * 3_600_000
export const PAUSES_PATH = '/flows/pauses'

const pauseKey = (userId: string, id: string): Key => ({ kind: 'flow-pause', owner: userId, id })

export function createStepByStep({ store, encryptionKeys }: StepByStepOptions): StepByStep {
  const cipher = createRecordCipher(encryptionKeys)

  async function find(userId: string, id: string): Promise<Pause | null> {
    const key = pauseKey(userId, id)
    const encrypted = await store.get(key)
    if (encrypted === null) return null
    return pauseSchema.safeParse(parseJson(cipher.decrypt(encrypted, keyName(key)))).data ?? null
  }

  async function save(userId: string, pause: Pause): Promise<void> {
    const key = pauseKey(userId, pause.id)
    await store.set(key, cipher.encrypt(JSON.stringify(pause), keyName(key)), PAUSE_MS)
  }

  /** Starts a pause, or finds the one that was started for the same address. Resolves to its path. */
  async function pauseAt(userId: string, stage: Stage, target: string): Promise<string> {
    const id = idOf(stage, target)
    if (!(await find(userId, id)))
      await save(userId, { id, stage, target, at: Date.now(), isContinued: false })
    return `${PAUSES_PATH}/${id}`
  }

  /** Pauses instead of redirecting. */
  function interceptRedirect(
    res: Response,
    pause: (target: string) => Promise<string>,
    fail: (error: unknown) => void,
  ) {
    const redirect = res.redirect.bind(res) as (status: number, url: string) => void
    res.redirect = (...args: unknown[]) => {
      const target = String(args.at(-1))
      pause(target).then((path) => redirect(303, path), fail)
    }
  }

  return {
    find,

    async isOn(req) {
      const user = currentUser(req)
      return user !== null && (await store.get(modeKey(req, user.id))) !== null
    },

    async turn(req, on) {
      const user = currentUser(req)
      if (!user) return
      if (on) await store.set(modeKey(req, user.id), '1', MODE_MS)
      else await store.delete(modeKey(req, user.id))
    },

    async middleware(req, res, next) {
      const stage = stageAfter(req)
      const user = currentUser(req)
      if (!stage || !user || wantsJson(req) || !isNavigation(req)) return next()
      if ((await store.get(modeKey(req, user.id))) === null) return next()
      if (stage === 'result') {
        const path = await pauseAt(user.id, 'exchange', req.originalUrl)
        if (!(await find(user.id, path.slice(PAUSES_PATH.length + 1)))?.isContinued)
          return res.redirect(303, path)
      }
      // The outcome of one callback has one pause, however often it is opened.
      const suffix = stage === 'result' ? `#${idOf('exchange', req.originalUrl)}` : ''
      interceptRedirect(res, (target) => pauseAt(user.id, stage, target + suffix), next)
      next()
    },

    async continue(userId, id) {
      const pause = await find(userId, id)
      if (!pause) return null
      await save(userId, { ...pause, isContinued: true })
      return pause.target.split('#')[0] ?? null
    },
  }
}

/** The stage that the response to this request leads to, if it belongs to the connect flow. */
function stageAfter({ method, path }: Request): Stage | null {
  if (method === 'POST' && path === '/connect') return 'start'
  if (method === 'GET' && path === '/connect/context') return 'consent'
  if (method === 'POST' && path.startsWith('/connect/confirm/')) return 'consent'
  return method === 'GET' && path === '/connect/callback' ? 'result' : null
}

/** The core refuses a callback inside an image or a frame; it must see it. */
const isNavigation = (req: Request) => (req.get('sec-fetch-dest') ?? 'document') === 'document'

const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 32)

/** The same address has the same pause, so that a reload does not start another one. Each start is a flow of its own. */
const idOf = (stage: Stage, target: string) =>
  stage === 'start' ? randomBytes(18).toString('base64url') : digest(`${stage} ${target}`)

const modeKey = (req: Request, userId: string): Key => ({
  kind: 'step-by-step',
  owner: userId,
  id: digest(req.sessionID),
})
