/** Turns the core's events into the steps of a flow, with all secrets masked. */
import {
  type ConnectionEvent,
  type ConnectionRecord,
  type Exchange,
  type HttpResponse,
  parseJson,
} from '../../connect/index.ts'
import type { Heading, Step, StepRequest, StepResponse } from './flow.ts'
import type { Masking, Raw } from './masking.ts'

/** The members that describe an error in a response body. All other body content is the user's data. */
const ERROR_MEMBERS = ['error', 'error_description']
/** Response headers that describe how to read the response. */
const DESCRIBING_HEADERS =
  'content-type retry-after www-authenticate x-request-id x-odata-total-count location'.split(' ')

/** Whether an exchange asks for tokens. */
export const isTokenRequest = ({ purpose, request }: Exchange): boolean =>
  purpose === 'token' && new URLSearchParams(String(request.body)).has('grant_type')

/** An exchange with the token endpoint or the API. */
export function exchangeStep(masking: Masking, exchange: Exchange): Step {
  const { at, purpose, request } = exchange
  const masked = maskExchange(masking, exchange)
  const common = {
    at: new Date(at).toISOString(),
    ms: Math.max(0, exchange.ms),
    from: 'app',
    ...masked,
    ...failureOf(masked.response),
  } as const
  const status = masked.response?.status ?? 'no answer'
  if (purpose === 'api') {
    const title = `${request.method} ${new URL(request.url).pathname.slice(0, 200)}: ${status}`
    return { ...common, to: 'api', topic: 'api_call', title }
  }
  const isRefresh = new URLSearchParams(String(request.body)).get('grant_type') === 'refresh_token'
  const heading: Heading = isRefresh
    ? { topic: 'token_refresh', title: `Refresh the access token: ${status}` }
    : { topic: 'code_exchange', title: `Exchange the code for tokens: ${status}` }
  return { ...common, to: 'identity_provider', ...heading }
}

/** Keeps all members of a token response, but only the members of an API response that describe an error. */
function maskExchange(
  { mask }: Masking,
  { purpose, request, response }: Exchange,
): { request: StepRequest; response?: StepResponse } {
  const { address, query } = splitUrl(request.url)
  const isToken = purpose === 'token'
  const json = isToken || (response && response.status >= 400) ? parseJson(response?.text ?? '') : undefined
  const isObject = typeof json === 'object' && json !== null
  const members = isObject ? Object.entries(json) : []
  const isErrorMember = ([name, value]: Raw) => ERROR_MEMBERS.includes(name) && typeof value === 'string'
  const masked = mask({
    sent: Object.entries(request.headers ?? {}).map(withCredentials),
    parameters: [...query, ...(isToken ? new URLSearchParams(String(request.body)) : [])],
    received: response ? describingHeaders(response) : [],
    members: isToken ? members : members.filter(isErrorMember),
  })
  const { sent: headers, parameters } = masked
  return {
    request: { method: request.method, url: address.slice(0, 4000), headers, parameters },
    ...(response && {
      response: {
        status: response.status,
        headers: masked.received,
        parameters: masked.members,
        ...(!(isToken && isObject) && { bodyLength: response.text.length }),
      },
    }),
  }
}

/** A header of a request. For `authorization`, the value is the token, or the client secret, decoded (RFC 6749 section 2.3.1). */
function withCredentials([name, value]: [string, string]): Raw {
  if (name !== 'authorization') return [name, value]
  const [scheme, credentials = ''] = value.split(' ')
  if (scheme !== 'Basic') return [name, credentials, 'access_token']
  const [, secret = ''] = Buffer.from(credentials, 'base64').toString().split(':')
  return [name, new URLSearchParams(`secret=${secret}`).get('secret') ?? '', 'client_secret']
}

function describingHeaders(response: HttpResponse): Raw[] {
  return DESCRIBING_HEADERS.flatMap((name): Raw[] => {
    const value = response.header(name)
    if (value === undefined) return []
    // The query of a redirect may contain any data.
    return [[name, name === 'location' ? value.split(/[?#]/)[0] : value]]
  })
}

/** The code of a failed exchange: the OAuth error, the status, or `no_answer`. */
function failureOf(response: StepResponse | undefined): { failure?: string } {
  if (!response) return { failure: 'no_answer' }
  if (response.status < 400) return {}
  const error = response.parameters.find(({ name }) => name === 'error')?.value
  return { failure: error ?? `http_${response.status}` }
}

const EVENT_TITLES: Record<ConnectionEvent['type'], string> = {
  connected: 'The app reports: connected',
  refreshed: 'The app reports: token refreshed',
  refreshFailed: 'The app reports: the refresh failed',
  recovered: 'The app reports: working again',
  revoked: 'The app reports: access was revoked',
  disconnected: 'The app reports: disconnected',
}

/** The steps for a change of a connection: the record that was written, and the events that were published. */
export function changeSteps(
  events: readonly ConnectionEvent[],
  { before, after }: { before: ConnectionRecord; after: ConnectionRecord },
): Step[] {
  const common = { at: new Date().toISOString(), ms: 0, from: 'app' } as const
  const written = writtenBy(before, after)
  return [
    ...(written ? [{ ...common, to: 'store', ...written } as const] : []),
    ...events.map(
      (event): Step => ({
        ...common,
        to: 'app',
        topic: 'connection_event',
        title: EVENT_TITLES[event.type],
        event: event.type,
        ...(event.type === 'refreshFailed' && { failure: event.lastError }),
      }),
    ),
  ]
}

function writtenBy(before: ConnectionRecord, after: ConnectionRecord): Heading | undefined {
  const written = (title: string): Heading => ({ topic: 'record_written', title })
  const deleted = (title: string): Heading => ({ topic: 'record_deleted', title })
  if (after.status === 'none' && before.status !== 'none')
    return deleted('Delete the connection and its tokens')
  if (after.status === 'ended' && before.status !== 'ended')
    return deleted('Mark the connection as ended and delete its tokens')
  if (after.status !== 'active') return undefined
  if (before.status !== 'active' || after.consent !== before.consent)
    return written('Store the tokens, encrypted')
  if (after.refusal !== null && before.refusal === null)
    return written('Mark access as ended, and keep the tokens until the platform has said it again')
  if (after.fence > before.fence) return { topic: 'lease_taken', title: 'Take the lease for the refresh' }
  return after.refreshes > before.refreshes ? written('Store the refreshed tokens, encrypted') : undefined
}

/** Splits a URL into its address and its query, without a fragment. */
export function splitUrl(url: string | URL): { address: string; query: [string, string][] } {
  const { origin, pathname, searchParams } = new URL(url)
  return { address: origin + pathname, query: [...searchParams] }
}
