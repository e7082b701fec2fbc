import { browserChannel, publish } from '../events.ts'
import type { Platform } from '../platform/contract.ts'
import type { ConnectError } from './errors.ts'

/** The flow that a request of the browser belongs to, as far as it is known. */
export interface BrowserFlow {
  platform: Platform
  userId: string
  authorizationRequestId?: string
  bxcontext?: string
}

/** Publishes that the browser opened an address of this app. `form`: the fields of a POST. */
export function publishArrival(
  flow: BrowserFlow,
  method: 'GET' | 'POST',
  url: URL,
  { startedAt, form = {} }: { startedAt: number; form?: Record<string, unknown> },
): void {
  publish(browserChannel, { direction: 'in', method, url: url.href, form }, flow, startedAt)
}

/** A redirect, or a page that goes on by itself. */
export type OnwardStatus = 303 | 200

/** Publishes that this app sends the browser on to `url`. `failure`: the code of the failure that the next page shows. */
export function publishOnward(flow: BrowserFlow, url: URL, status: OnwardStatus, failure?: string): void {
  const outcome = { status, ...(failure && { failure }) }
  publish(browserChannel, { direction: 'out', method: 'GET', url: url.href, form: {}, ...outcome }, flow)
}

/** Publishes that this app answers with the page of a failure. */
export function publishFailure(flow: BrowserFlow, url: URL, { code, status }: ConnectError): void {
  const outcome = { status, failure: code }
  publish(browserChannel, { direction: 'out', method: 'GET', url: url.href, form: {}, ...outcome }, flow)
}
