import { createHash } from 'node:crypto'
import type { Request } from 'express'
import type { HopEvent, OnHop } from '../../../connect/express.ts'
import type { Key, KeyValueStore } from '../../../connect/stores.ts'
import { wantsJson } from '../../../web/respond.ts'
import { currentUser, requireUser } from '../../../web/user.ts'
import type { Owner, Pause, Pauses } from './pauses.ts'

/** The step-by-step mode of browser sessions. Its methods throw `StoreUnavailableError`. */
export interface StepByStep {
  isOn(req: Request): Promise<boolean>
  turn(req: Request, on: boolean): Promise<void>
  /** Pauses the connect flow before each hop. Without its pause, for example without the store, the flow goes on. */
  onHop: OnHop
}

const MODE_MS = 24 * 3_600_000

const pausePath = ({ id }: Pick<Pause, 'id'>) => `/flows/pauses/${id}`

/** Creates the mode, in which the connect flows of a browser session pause before each hop. */
export function createStepByStep(store: KeyValueStore, pauses: Pauses): StepByStep {
  const isOn = async (req: Request) => {
    const user = currentUser(req)
    return user !== null && (await store.get(modeKey(req, user.id))) !== null
  }

  const pauseBefore = async ({ hop, req, target, status, flow }: HopEvent) => {
    // A question of this app, and the page of a failure, are no hops to the platform.
    if (hop === 'confirm' || status >= 400 || wantsJson(req) || !(await isOn(req))) return target
    const { state } = flow
    const owner = ownerOf(req)
    const isCallback = hop === 'exchange' || hop === 'result'
    // A callback that nobody expects is for the core to refuse, at once.
    if (isCallback && !(await pauses.isExpected(owner, state ?? ''))) return target
    const pause = await pauses.start(owner, hop, target, state ?? null)
    return hop === 'exchange' && pause.isContinued ? target : pausePath(pause)
  }

  return {
    isOn,
    async turn(req, on) {
      const user = currentUser(req)
      if (!user) return
      if (on) await store.set(modeKey(req, user.id), '1', MODE_MS)
      else await store.delete(modeKey(req, user.id))
    },
    // The code must leave the address bar, whatever happens here.
    onHop: (event) => pauseBefore(event).catch(() => event.target),
  }
}

const sessionOf = (req: Request) => createHash('sha256').update(req.sessionID).digest('base64url')

/** The browser session of this request. Throws `unauthenticated` (401). */
export const ownerOf = (req: Request): Owner => ({ userId: requireUser(req), session: sessionOf(req) })

const modeKey = (req: Request, userId: string): Key => ({
  kind: 'step-by-step',
  owner: userId,
  id: sessionOf(req),
})
