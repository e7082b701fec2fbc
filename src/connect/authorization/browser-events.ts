import { browserChannel, publish, withoutEffect } from '../events.ts'
import { mask, splitUrl } from '../masking.ts'
import type { Platform } from '../platform/contract.ts'
import type { ConnectError } from './errors.ts'

/** The flow that a request of the browser belongs to, as far as it is known. */
export interface BrowserFlow {
  platform: Platform
  userId: string
  authorizationRequestId?: string
  bxcontext?: string
}

/** The field of this app's own form, whatever the platform calls it. */
const OWN_FORM = { publicParameters: new Set(['bxcontext']) }

/** Publishes that the browser opened an address of this app. `form`: the fields of a POST. */
export function publishArrival(
  flow: BrowserFlow,
  method: 'GET' | 'POST',
  url: URL,
  { startedAt, form = {} }: { startedAt: number; form?: Record<string, unknown> },
): void {
  if (browserChannel.hasSubscribers) publishRequest('in', flow, { method, url, form, startedAt })
}

/** A redirect, or a page that goes on by itself. */
export type OnwardStatus = 303 | 200

/** Publishes that this app sends the browser on to `url`. `failure`: the code of the failure that the next page shows. */
export function publishOnward(flow: BrowserFlow, url: URL, status: OnwardStatus, failure?: string): void {
  if (!browserChannel.hasSubscribers) return
  publishRequest('out', flow, { method: 'GET', url, startedAt: Date.now(), status, failure })
}

/** Publishes that this app answers with the page of a failure. */
export function publishFailure(flow: BrowserFlow, url: URL, { code, status }: ConnectError): void {
  if (!browserChannel.hasSubscribers) return
  publishRequest('out', flow, { method: 'GET', url, startedAt: Date.now(), status, failure: code })
}

interface PublishedRequest {
  method: 'GET' | 'POST'
  url: URL
  form?: Record<string, unknown>
  startedAt: number
  status?: number
  failure?: string | undefined
}

function publishRequest(direction: 'in' | 'out', flow: BrowserFlow, published: PublishedRequest): void {
  const { method, url, form = {}, startedAt, status, failure } = published
  withoutEffect(() => {
    const { address, query } = splitUrl(url)
    const sent = mask(flow.platform, { query }).query
    const posted = mask(OWN_FORM, { form: Object.entries(form) }).form
    const request = { method, url: address, headers: [], parameters: [...sent, ...posted] }
    const outcome = { ...(status && { status }), ...(failure && { failure }) }
    publish(browserChannel, { direction, request, ...outcome }, flow, startedAt)
  })
}
