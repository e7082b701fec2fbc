import { type Request, Router } from 'express'
import type { Vault } from '../../connect/vault/vault.ts'
import { connectionRef } from '../../web/connections.ts'
import { sendPageOrJson, sendResultOrRedirect } from '../../web/respond.ts'
import { sendChanges } from '../../web/sse.ts'
import type { BuilderRequests } from './builder-requests.ts'
import type { Pending } from './pending.ts'
import type { Events } from './webhook-events.ts'

export interface BuilderRequestsOptions {
  builderRequests: BuilderRequests
  pending: Pending
  events: Events
  vault: Vault
  /** Whether events arrive by webhook; without, an open page asks the platform every few seconds. */
  hasWebhook: boolean
  shutdownSignal: AbortSignal
  /** How often an open page asks the platform, in ms: by default 10 s, with a webhook 60 s, as a delivery may be lost. */
  pollMs?: number
}

/** How often an open page compares what it shows with the latest fetch, in ms. */
const COMPARE_MS = 500

/** Builders who ask to connect: the list as it grows, accept, reject. */
export function builderRequestsRoutes(options: BuilderRequestsOptions): Router {
  const { builderRequests, pending, events, vault, hasWebhook, shutdownSignal } = options
  const { pollMs = hasWebhook ? 60_000 : 10_000 } = options
  const route = '/connections/:bxcontext/builder-requests'

  const decide =
    (decision: 'accept' | 'reject') => async (req: Request<{ bxcontext: string; id: string }>) => {
      const ref = connectionRef(req)
      await builderRequests[decision](vault.tokenSource(ref), req.params.id)
      // So that open pages see it; the decision stands even if this fails.
      await pending.fetch(ref).catch(() => {})
      return `/connections/${encodeURIComponent(ref.bxcontext)}/builder-requests`
    }

  return Router()
    .get(route, async (req, res) => {
      const ref = connectionRef(req)
      const requests = await pending.fetch(ref)
      const received = hasWebhook ? await events.recent(ref.bxcontext) : []
      sendPageOrJson(req, res, {
        view: 'builder-requests/builder-requests',
        title: 'Builder requests',
        data: { bxcontext: ref.bxcontext, requests, events: received, hasWebhook },
        json: { items: requests },
      })
    })
    .get(`${route}/live`, async (req, res) => {
      const ref = connectionRef(req)
      // Fails here, with a status, rather than in the stream.
      await vault.accessToken(ref)
      let fetchedAt = performance.now()
      const getSnapshot = async () => {
        if (performance.now() - fetchedAt > pollMs) {
          fetchedAt = performance.now()
          await pending.fetch(ref)
        }
        return (await pending.noted(ref)) ?? ''
      }
      sendChanges(req, res, { getSnapshot, everyMs: COMPARE_MS, shutdownSignal })
    })
    .post(`${route}/:id/accept`, async (req, res) => {
      const location = await decide('accept')(req)
      const notice = 'The builder is connected. Managed catalogues stay hidden until you grant them.'
      await sendResultOrRedirect(
        req,
        res,
        location,
        { integrationConnectionId: req.params.id, status: 'accepted' },
        { notice },
      )
    })
    .post(`${route}/:id/reject`, async (req, res) => {
      const location = await decide('reject')(req)
      const notice = 'The request is rejected.'
      await sendResultOrRedirect(
        req,
        res,
        location,
        { integrationConnectionId: req.params.id, status: 'rejected' },
        { notice },
      )
    })
}
