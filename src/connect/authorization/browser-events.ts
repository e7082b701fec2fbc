import { browserChannel, publish } from '../events.ts'
import { mask, splitUrl } from '../masking.ts'

/** The flow that a request of the browser belongs to, as far as it is known. */
export interface BrowserFlow {
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
  if (browserChannel.hasSubscribers) publishRequest('in', flow, { method, url, form, startedAt })
}

/** Publishes that this app redirects the browser. `failure`: the code of the failure that the next page shows. */
export function publishRedirect(flow: BrowserFlow, url: URL, failure?: string): void {
  if (browserChannel.hasSubscribers)
    publishRequest('out', flow, { method: 'GET', url, form: {}, failure, startedAt: Date.now() })
}

interface PublishedRequest {
  method: 'GET' | 'POST'
  url: URL
  form: Record<string, unknown>
  startedAt: number
  failure?: string | undefined
}

function publishRequest(direction: 'in' | 'out', flow: BrowserFlow, published: PublishedRequest): void {
  const { method, url, form, startedAt, failure } = published
  const { address, query } = splitUrl(url)
  const { parameters } = mask({ parameters: [...query, ...Object.entries(form)] })
  const request = { method, url: address, headers: [], parameters }
  publish(browserChannel, { direction, request, ...(failure && { failure }) }, flow, startedAt)
}
