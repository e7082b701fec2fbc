/** Converts the events of the core to steps of a flow. */

import type { ConnectionEvent } from '../../connect/index.ts'
import type { MaskedExchange, MaskedHop, MaskedRequest, MaskedResponse } from './exchanges.ts'
import { toHeaders, toParameter } from './fingerprints.ts'
import type { Step, StepRequest, StepResponse } from './flow.ts'

export type RecordedEvent =
  | { type: 'browser'; event: MaskedHop }
  | { type: 'tokenRequest'; event: MaskedExchange }
  | { type: 'apiCall'; event: MaskedExchange }
  | { type: 'change'; event: ChangeEvent }

/** What a change of a connection's record shows, with its time in ms since 1970. */
export interface ChangeEvent {
  at: number
  ms: number
  shows: 'lease' | 'connected' | 'refreshed' | 'ended' | 'disconnected' | ConnectionEvent
}

/** What a step has beside its times. */
type Shown = Omit<Step, 'at' | 'ms'>

/** `key`: the key of the fingerprints. */
export function toStep(recorded: RecordedEvent, key: string): Step {
  const { at, ms } = recorded.event
  return { at: new Date(at).toISOString(), ms: Math.max(0, ms), ...show(recorded, key) }
}

function show(recorded: RecordedEvent, key: string): Shown {
  switch (recorded.type) {
    case 'browser':
      return browserStep(recorded.event, key)
    case 'tokenRequest':
      return tokenStep(recorded.event, key)
    case 'apiCall':
      return apiStep(recorded.event, key)
    case 'change':
      return changeStep(recorded.event.shows)
  }
}

type Hop = MaskedHop['hop']
type Heading = Pick<Step, 'topic' | 'title'>

const BXCONTEXT: Heading = {
  topic: 'bxcontext_received',
  title: 'The browser brings the chosen business (bxcontext)',
}
const CALLBACK: Heading = {
  topic: 'callback_received',
  title: "The browser brings the consent page's answer",
}
const DEPARTURES: Record<Hop, Heading> = {
  start: { topic: 'to_start_page', title: "Lead to the platform's start page" },
  confirm: { topic: 'confirm_bxcontext', title: 'Ask about the other business' },
  consent: { topic: 'to_consent_page', title: 'Lead to the consent page' },
  result: { topic: 'to_connections', title: 'Redirect to the connections' },
}

function arrivalAt(hop: Hop, { method, parameters }: MaskedRequest): Heading {
  switch (hop) {
    case 'start': {
      const isReconnect = parameters.some(({ name }) => name === 'bxcontext')
      const button = isReconnect ? 'Reconnect' : 'Connect an account'
      return { topic: 'connect_started', title: `The user presses “${button}”` }
    }
    case 'consent':
      if (method === 'GET') return BXCONTEXT
      return { topic: 'confirm_bxcontext', title: 'The user accepts the other business' }
    case 'confirm':
      return BXCONTEXT
    case 'result':
      return CALLBACK
  }
}

function browserStep({ hop, direction, request, status, failure }: MaskedHop, key: string): Shown {
  if (direction === 'in')
    return { from: 'browser', to: 'app', ...arrivalAt(hop, request), request: toRequest(request, key) }
  const response: StepResponse =
    status !== undefined && status >= 400
      ? { status, headers: {}, parameters: [] }
      : leadingTo(request, status, key)
  const lanes = { from: 'app', to: 'browser' } as const
  if (failure === undefined) return { ...lanes, ...DEPARTURES[hop], response }
  const title = `The app shows why it failed: ${failure}`
  return { ...lanes, topic: 'flow_failed', title, failure, response }
}

function tokenStep({ request, response }: MaskedExchange, key: string): Shown {
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

function apiStep({ request, response }: MaskedExchange, key: string): Shown {
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

const statusOf = (response: MaskedResponse | undefined) => (response ? String(response.status) : 'no answer')

/** The code of a failed exchange: the OAuth error, the status, or `no_answer`. */
function failureOf(response: MaskedResponse | undefined): { failure?: string } {
  if (!response) return { failure: 'no_answer' }
  if (response.status < 400) return {}
  const error = response.parameters.find(({ name }) => name === 'error')?.value
  return { failure: typeof error === 'string' ? error.slice(0, 100) : `http_${response.status}` }
}

function exchangeOf(request: MaskedRequest, response: MaskedResponse | undefined, key: string) {
  return { request: toRequest(request, key), ...(response && { response: toResponse(response, key) }) }
}

function toRequest({ method, url, headers, parameters }: MaskedRequest, key: string): StepRequest {
  return {
    method,
    url: url.slice(0, 4000),
    headers: toHeaders(headers, key),
    parameters: parameters.slice(0, 100).map((parameter) => toParameter(parameter, key)),
  }
}

function toResponse({ status, headers, parameters, bodyLength }: MaskedResponse, key: string): StepResponse {
  return {
    status,
    headers: toHeaders(headers, key),
    parameters: parameters.slice(0, 100).map((parameter) => toParameter(parameter, key)),
    ...(bodyLength !== undefined && { bodyLength }),
  }
}

/** A redirect, or a page that goes on by itself, with the parameters of its target. */
function leadingTo(target: MaskedRequest, status = 303, key: string): StepResponse {
  const { url, parameters } = toRequest(target, key)
  return { status, headers: status === 303 ? { location: url.slice(0, 1000) } : {}, parameters }
}
