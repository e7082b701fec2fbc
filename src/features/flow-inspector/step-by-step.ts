import { createHash } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import type { KeyValueStore } from '../../connect/index.ts'
import type { Key } from '../../connect/store/store.ts'
import { wantsJson } from '../../web/respond.ts'
import { currentUser, requireUser } from '../../web/user.ts'
import type { Owner, Pause, Pauses, Stage } from './pauses.ts'

/** The step-by-step mode of browser sessions. Its methods throw `StoreUnavailableError`. */
export interface StepByStep {
  isOn(req: Request): Promise<boolean>
  turn(req: Request, on: boolean): Promise<void>
  /** Pauses connect flows before and after the routes of the connect flow. */
  middleware: RequestHandler
}

const MODE_MS = 24 * 3_600_000

export const pausePath = ({ id }: Pick<Pause, 'id'>) => `/flows/pauses/${id}`

/** Creates the mode, in which the connect flows of a browser session pause before each hop. */
export function createStepByStep(store: KeyValueStore, pauses: Pauses): StepByStep {
  const isOn = async (req: Request) => {
    const user = currentUser(req)
    return user !== null && (await store.get(modeKey(req, user.id))) !== null
  }
  return {
    isOn,

    async turn(req, on) {
      const user = currentUser(req)
      if (!user) return
      if (on) await store.set(modeKey(req, user.id), '1', MODE_MS)
      else await store.delete(modeKey(req, user.id))
    },

    async middleware(req, res, next) {
      const stage = stageAfter(req)
      if (!stage || wantsJson(req) || !isNavigation(req) || !(await isOn(req))) return next()
      const owner = ownerOf(req)
      if (stage === 'result') {
        // A callback that nobody expects is for the core to refuse, at once.
        if (!(await pauses.isExpected(owner, String(req.query.state)))) return next()
        const pause = await pauses.start(owner, 'exchange', req.originalUrl, req.originalUrl)
        if (!pause.isContinued) return res.redirect(303, pausePath(pause))
      }
      // A reload of the same address finds the same pause. Each start is a flow of its own.
      const cause = stage === 'start' ? undefined : req.originalUrl
      pauseRedirect(res, async (target) => {
        const state = new URL(target, 'http://app.invalid').searchParams.get('state')
        if (stage === 'consent' && state !== null) await pauses.expect(owner, state)
        return pauses.start(owner, stage, target, cause)
      })
      next()
    },
  }
}

/** Makes the response redirect to the page of a pause, from which the user goes on to the target. */
function pauseRedirect(res: Response, pause: (target: string) => Promise<Pause>): void {
  const redirect = res.redirect.bind(res) as (status: number, url: string) => void
  res.redirect = (...args: unknown[]) => {
    const target = String(args.at(-1))
    // Without its pause, the flow goes on: the code must leave the address bar.
    pause(target)
      .then(pausePath, () => target)
      .then((url) => redirect(303, url))
  }
}

/** The stage that the response to this request leads to, if it belongs to the connect flow. */
function stageAfter(req: Request): Stage | null {
  const { method } = req
  // Express accepts other letter cases and a trailing slash.
  const path = req.path.toLowerCase().replace(/\/$/, '')
  if (method === 'POST' && path === '/connect') return 'start'
  if (method === 'GET' && path === '/connect/context') return 'consent'
  if (method === 'POST' && path.startsWith('/connect/confirm/')) return 'consent'
  return method === 'GET' && path === '/connect/callback' ? 'result' : null
}

/** The core refuses a callback inside an image or a frame; it must see it. */
const isNavigation = (req: Request) => (req.get('sec-fetch-dest') ?? 'document') === 'document'

const sessionOf = (req: Request) => createHash('sha256').update(req.sessionID).digest('base64url')

/** The browser session of this request. Throws `unauthenticated` (401). */
export const ownerOf = (req: Request): Owner => ({ userId: requireUser(req), session: sessionOf(req) })

const modeKey = (req: Request, userId: string): Key => ({
  kind: 'step-by-step',
  owner: userId,
  id: sessionOf(req),
})
