/** Converts the events of the core to steps of a flow. */

import type {
  ApiCallEvent,
  BrowserEvent,
  ConnectionEvent,
  EventRequest,
  EventResponse,
  Platform,
  TokenRequestEvent,
  WebhookEvent,
} from '../../connect/index.ts'
import { toHeaders, toParameter } from './fingerprints.ts'
import type { Step, StepRequest, StepResponse, Topic } from './flow.ts'

export type RecordedEvent =
  | { type: 'browser'; event: BrowserEvent }
  | { type: 'tokenRequest'; event: TokenRequestEvent }
  | { type: 'apiCall'; event: ApiCallEvent }
  | { type: 'change'; event: ChangeEvent }
  | { type: 'webhook'; event: WebhookEvent }

/** What a change of a connection's record shows, with its time in ms since 1970. */
export interface ChangeEvent {
  at: number
  ms: number
  shows: 'lease' | 'connected' | 'refreshed' | 'ended' | 'disconnected' | ConnectionEvent
}

/** What a step has beside its times. */
type Shown = Omit<Step, 'at' | 'ms'>

/** `key`: the key of the fingerprints. */
export function toStep(platform: Platform, recorded: RecordedEvent, key: string): Step {
  const { at, ms } = recorded.event
  return { at: new Date(at).toISOString(), ms: Math.max(0, ms), ...show(platform, recorded, key) }
}

function show(platform: Platform, recorded: RecordedEvent, key: string): Shown {
  switch (recorded.type) {
    case 'browser':
      return browserStep(platform, recorded.event, key)
    case 'tokenRequest':
      return tokenStep(recorded.event, key)
    case 'apiCall':
      return apiStep(recorded.event, key)
    case 'change':
      return changeStep(recorded.event.shows)
    case 'webhook':
      return {
        from: 'web_application',
        to: 'app',
        topic: 'webhook_received',
        title: `Webhook: ${recorded.event.type}`,
      }
  }
}

const ARRIVALS: { path: string; topic: Topic; title: string }[] = [
  {
    path: '/connect/context',
    topic: 'bxcontext_received',
    title: 'The browser brings the chosen business (bxcontext)',
  },
  {
    path: '/connect/callback',
    topic: 'callback_received',
    title: "The browser brings the consent page's answer",
  },
  { path: '/connect/confirm', topic: 'confirm_bxcontext', title: 'The user accepts the other business' },
]
const STARTED = { topic: 'connect_started', title: 'The user presses “Connect an account”' } as const

const RECONNECTING = { topic: 'connect_started', title: 'The user presses “Reconnect”' } as const

function browserStep(
  { startPage }: Platform,
  { direction, request, status, failure }: BrowserEvent,
  key: string,
): Shown {
  // Express accepts other letter cases and a trailing slash.
  const pathname = new URL(request.url).pathname.toLowerCase().replace(/\/$/, '')
  if (direction === 'in') {
    const found = ARRIVALS.find(({ path }) => pathname === path)
    const isReconnect = request.parameters.some(({ name }) => name === 'bxcontext')
    const { topic, title } = found ?? (isReconnect ? RECONNECTING : STARTED)
    return { from: 'browser', to: 'app', topic, title, request: toRequest(request, key) }
  }
  if (direction === 'out' && status !== undefined && status >= 400)
    return {
      from: 'app',
      to: 'browser',
      topic: 'flow_failed',
      title: `The app shows why it failed: ${failure}`,
      ...(failure && { failure }),
      response: { status, headers: {}, parameters: [] },
    }
  const response = leadingTo(request, status, key)
  const lanes = { from: 'app', to: 'browser' } as const
  if (failure)
    return {
      ...lanes,
      topic: 'flow_failed',
      title: `The app shows why it failed: ${failure}`,
      failure,
      response,
    }
  if (pathname.endsWith(startPage.path))
    return { ...lanes, topic: 'to_start_page', title: "Lead to the platform's start page", response }
  if (pathname === '/connections')
    return { ...lanes, topic: 'to_connections', title: 'Redirect to the connections', response }
  if (pathname === '/connect/confirm')
    return { ...lanes, topic: 'confirm_bxcontext', title: 'Ask about the other business', response }
  return { ...lanes, topic: 'to_consent_page', title: 'Lead to the consent page', response }
}

function tokenStep({ request, response }: TokenRequestEvent, key: string): Shown {
  const grant = request.parameters.find(({ name }) => name === 'grant_type')?.value
  const isRefresh = grant === 'refresh_token'
  return {
    from: 'app',
    to: 'identity_provider',
    topic: isRefresh ? 'token_refresh' : 'code_exchange',
    title: `${isRefresh ? 'Refresh the access token' : 'Exchange the code for tokens'}: ${statusOf(response)}`,
    ...exchangeOf(request, response, key),
    ...failureOf(response),
  }
}

function apiStep({ request, response }: ApiCallEvent, key: string): Shown {
  const { pathname } = new URL(request.url)
  return {
    from: 'app',
    to: 'api',
    topic: 'api_call',
    title: `${request.method} ${pathname.slice(0, 200)}: ${statusOf(response)}`,
    ...exchangeOf(request, response, key),
    ...failureOf(response),
  }
}

const RECORD_TITLES = {
  connected: 'Store the tokens, encrypted',
  refreshed: 'Store the refreshed tokens, encrypted',
  ended: 'Mark the connection as ended and delete its tokens',
  disconnected: 'Delete the connection and its tokens',
}

function changeStep(shows: ChangeEvent['shows']): Shown {
  if (typeof shows !== 'string') return connectionStep(shows)
  const lanes = { from: 'app', to: 'store' } as const
  if (shows === 'lease') return { ...lanes, topic: 'lease_taken', title: 'Take the lease for the refresh' }
  return { ...lanes, topic: 'record_written', title: RECORD_TITLES[shows] }
}

const EVENT_TITLES: Record<ConnectionEvent['type'], string> = {
  connected: 'The app reports: connected',
  refreshed: 'The app reports: token refreshed',
  refreshFailed: 'The app reports: the refresh failed',
  recovered: 'The app reports: working again',
  revoked: 'The app reports: access was revoked',
  disconnected: 'The app reports: disconnected',
}

function connectionStep(event: ConnectionEvent): Shown {
  return {
    from: 'app',
    to: 'app',
    topic: 'connection_event',
    title: EVENT_TITLES[event.type],
    event: event.type,
    ...(event.type === 'refreshFailed' && { failure: event.trouble }),
  }
}

const statusOf = (response: EventResponse | undefined) => (response ? String(response.status) : 'no answer')

/** The code of a failed exchange: the OAuth error, the status, or `no_answer`. */
function failureOf(response: EventResponse | undefined): { failure?: string } {
  if (!response) return { failure: 'no_answer' }
  if (response.status < 400) return {}
  const error = response.parameters.find(({ name }) => name === 'error')?.value
  return { failure: typeof error === 'string' ? error.slice(0, 100) : `http_${response.status}` }
}

function exchangeOf(request: EventRequest, response: EventResponse | undefined, key: string) {
  return { request: toRequest(request, key), ...(response && { response: toResponse(response, key) }) }
}

function toRequest({ method, url, headers, parameters }: EventRequest, key: string): StepRequest {
  return {
    method,
    url: url.slice(0, 4000),
    headers: toHeaders(headers, key),
    parameters: parameters.slice(0, 100).map((parameter) => toParameter(parameter, key)),
  }
}

function toResponse({ status, headers, parameters, bodyLength }: EventResponse, key: string): StepResponse {
  return {
    status,
    headers: toHeaders(headers, key),
    parameters: parameters.slice(0, 100).map((parameter) => toParameter(parameter, key)),
    ...(bodyLength !== undefined && { bodyLength }),
  }
}

/** A redirect, or a page that goes on by itself, with the parameters of its target. */
function leadingTo(target: EventRequest, status = 303, key: string): StepResponse {
  const { url, parameters } = toRequest(target, key)
  return { status, headers: status === 303 ? { location: url.slice(0, 1000) } : {}, parameters }
}
