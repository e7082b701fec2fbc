import { type Request, Router } from 'express'
import type { Vault } from '../../connect/vault/vault.ts'
import { live } from '../../web/live.ts'
import { done, respond } from '../../web/respond.ts'
import { requireUser } from '../../web/sign-in.ts'
import type { BuilderRequests } from './builder-requests.ts'
import type { Pending } from './pending.ts'
import type { Events } from './webhook-events.ts'

export interface BuilderRequestsOptions {
  builderRequests: BuilderRequests
  pending: Pending
  events: Events
  vault: Vault
  /** Whether events arrive by webhook; without, an open page asks the platform every few seconds. */
  webhook: boolean
  stopping: AbortSignal
  /** How often an open page asks the platform, in ms: by default 10 s, with a webhook 60 s, as a delivery may be lost. */
  pollMs?: number
}

const LOOK_MS = 500

/** Builders who ask to connect: the list as it grows, accept, reject. */
export function builderRequestsRoutes(options: BuilderRequestsOptions): Router {
  const { builderRequests, pending, events, vault, webhook, stopping } = options
  const { pollMs = webhook ? 60_000 : 10_000 } = options
  const at = '/connections/:context/builder-requests'

  const decide = (decision: 'accept' | 'reject') => async (req: Request<{ context: string; id: string }>) => {
    const [userId, { context, id }] = [requireUser(req), req.params]
    await builderRequests[decision](vault.tokenSource(userId, context), id)
    // What pages know is brought up to date; the decision stands even if that fails.
    await pending.fetch(userId, context).catch(() => {})
    return `/connections/${encodeURIComponent(context)}/builder-requests`
  }

  return Router()
    .get(at, async (req, res) => {
      const [userId, { context }] = [requireUser(req), req.params]
      const requests = await pending.fetch(userId, context)
      const received = webhook ? await events.recent(context) : []
      respond(req, res, {
        view: 'builder-requests',
        title: 'Builder requests',
        data: { context, requests, events: received, webhook },
        json: { items: requests },
      })
    })
    .get(`${at}/live`, async (req, res) => {
      const [userId, { context }] = [requireUser(req), req.params]
      // Throws now, as an answer, what a stream could not tell.
      await vault.accessToken(userId, context)
      let asked = performance.now()
      const look = async () => {
        if (performance.now() - asked > pollMs) {
          asked = performance.now()
          await pending.fetch(userId, context)
        }
        return (await pending.known(userId, context)) ?? ''
      }
      live(req, res, { look, everyMs: LOOK_MS, stopping })
    })
    .post(`${at}/:id/accept`, async (req, res) => {
      const to = await decide('accept')(req)
      const notice = 'The builder is connected. Managed catalogues stay hidden until you grant them.'
      await done(req, res, to, { integrationConnectionId: req.params.id, status: 'accepted' }, { notice })
    })
    .post(`${at}/:id/reject`, async (req, res) => {
      const to = await decide('reject')(req)
      const notice = 'The request is rejected.'
      await done(req, res, to, { integrationConnectionId: req.params.id, status: 'rejected' }, { notice })
    })
}
