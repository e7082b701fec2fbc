import { Router } from 'express'
import * as z from 'zod'
import { NotFoundError } from '../../../connect/errors.ts'
import type { ConnectionRef, Vault } from '../../../connect/index.ts'
import {
  connectionRef,
  rejectForm,
  sendPageOrJson,
  sendResultOrRedirect,
  sendVersion,
  wantsJson,
} from '../../../web/feature-api.ts'
import type { Grant } from '../../catalogues/grants.ts'
import { doneNow, type History } from '../../catalogues/history.ts'
import type { BuilderRequests } from './builder-requests.ts'
import { type BuilderRequest, revisionOf } from './contract.ts'
import type { Decision } from './decisions.ts'
import { BuilderRequestError } from './errors.ts'
import type { Pending } from './pending.ts'
import { texts } from './texts.ts'
import type { Events } from './webhook-events.ts'

export interface BuilderRequestsOptions {
  builderRequests: BuilderRequests
  pending: Pending
  decisions: History<Decision>
  grants: History<Grant>
  events: Events
  vault: Vault
  /** Whether a webhook is configured. Without one, the app polls the platform more often for open pages. */
  hasWebhook: boolean
}

/** `shown`: the revision of the request on the user's page. Only forms send it. */
const answerSchema = z.object({ shown: z.string().optional() })

/** The two decisions: their names in URLs of the platform and of this app, and the names of the resulting states. */
const OUTCOMES = { accept: 'accepted', reject: 'rejected' } as const
type Answer = keyof typeof OUTCOMES

/** Routes that list builder requests, with live updates, and accept or reject them. */
export function builderRequestsRoutes(options: BuilderRequestsOptions): Router {
  const { pending, decisions, grants, events, hasWebhook } = options
  // How often the app polls the platform, regardless of open pages. A webhook can't replace polling: deliveries may be lost.
  const pollMs = hasWebhook ? 60_000 : 10_000
  const router = Router()
  router.get('/', async (req, res) => {
    const ref = connectionRef(req)
    const requests = await pending.fetch(ref)
    const granted = await grants.list(ref)
    const decided = (await decisions.list(ref)).map((decision) => ({
      ...decision,
      access: granted.filter(({ externalRef }) => externalRef === decision.externalRef),
    }))
    const received = hasWebhook ? await events.recent(ref.bxcontext) : []
    const shown = { requests, decided, events: received, hasWebhook }
    sendPageOrJson(req, res, {
      view: 'supplier/builder-requests/builder-requests',
      title: texts.title,
      data: { bxcontext: ref.bxcontext, ...shown, requestTexts: texts },
      json: { items: requests, decided },
    })
  })
  router.get('/live', async (req, res) => {
    const ref = connectionRef(req)
    await pending.fetchIfOlder(ref, pollMs)
    sendVersion(res, await pending.snapshot(ref))
  })
  for (const decision of ['accept', 'reject'] as const) answerRoutes(router, decision, options)
  return router
}

/** Adds a confirmation page that names the builder, because a decision can't be undone here, and the route for the decision. */
function answerRoutes(router: Router, decision: Answer, options: BuilderRequestsOptions): void {
  const { builderRequests, pending, decisions, vault } = options
  const status = OUTCOMES[decision]
  const question = ({ bxcontext }: ConnectionRef, request: BuilderRequest) => ({
    view: 'supplier/builder-requests/answer',
    title: texts.ask[decision].title(request.builder?.name || texts.unnamedBuilder),
    data: {
      bxcontext,
      id: request.integrationConnectionId,
      decision,
      shown: revisionOf(request),
      requestTexts: texts,
    },
  })

  router.get(`/:id/${decision}`, async (req, res) => {
    const ref = connectionRef(req)
    const request = await findRequest(pending, ref, req.params.id)
    if (!request) throw new NotFoundError(texts.notFound)
    sendPageOrJson(req, res, { ...question(ref, request), json: request })
  })

  router.post(`/:id/${decision}`, async (req, res) => {
    const ref = connectionRef(req)
    const { id } = req.params
    const path = `/connections/${encodeURIComponent(ref.bxcontext)}`
    const request = await findRequest(pending, ref, id)
    const { shown } = answerSchema.parse(req.body ?? {})
    if (shown !== undefined && shown !== (request && revisionOf(request))) {
      const changed = new BuilderRequestError('request_changed', texts.changed.detail)
      if (wantsJson(req)) throw changed
      const notice = { notice: changed.message, tone: 'wait' } as const
      return sendResultOrRedirect(req, res, `${path}/builder-requests`, null, notice)
    }
    if (!request) throw new NotFoundError(texts.notFound)
    try {
      await builderRequests[decision](vault.tokenSource(ref), id)
    } catch (error) {
      return rejectForm(req, res, error, async () => question(ref, request))
    }
    const externalRef = request.externalRef ?? null
    await decisions.note(ref, id, {
      integrationConnectionId: id,
      builder: request.builder?.name ?? null,
      externalRef,
      decision: status,
      ...doneNow(req),
    })
    // Updates open pages. The decision is made even if this fails.
    await pending.fetch(ref).catch(() => {})
    // Links to the page for granting access to a catalogue, with the builder's account number filled in.
    const href = `${path}/catalogues${externalRef ? `?account=${encodeURIComponent(externalRef)}` : ''}`
    const grant = decision === 'accept' && { link: { href, label: texts.grantAccess } }
    const result = { integrationConnectionId: id, status }
    await sendResultOrRedirect(req, res, `${path}/builder-requests`, result, {
      notice: texts[status],
      ...grant,
    })
  })
}

const findRequest = async (pending: Pending, ref: ConnectionRef, id: string) =>
  (await pending.fetch(ref)).find(({ integrationConnectionId }) => integrationConnectionId === id)
