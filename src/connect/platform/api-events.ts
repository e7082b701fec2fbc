import { apiCallChannel, type EventResponse, publish } from '../events.ts'
import { mask, splitUrl } from '../masking.ts'
import { type HttpRequest, type HttpResponse, parseJson, responseHeaders } from './http.ts'
import type { TokenSource } from './token-source.ts'

/** The members of an error's body that say what is wrong. Other bodies are the user's data and never part of an event. */
const ERROR_MEMBERS = ['error', 'error_description']

/** Publishes one attempt of an API call. `response`: undefined if there was no complete answer. */
export function publishApiCall(
  request: HttpRequest,
  response: HttpResponse | undefined,
  source: TokenSource,
  startedAt: number,
): void {
  const { address, query } = splitUrl(request.url)
  const masked = mask({
    query,
    sent: Object.entries(request.headers ?? {}),
    headers: responseHeaders(response),
    members: errorMembers(response),
  })
  const answered: EventResponse | undefined = response && {
    status: response.status,
    headers: masked.headers,
    parameters: masked.members,
    bodyLength: response.text.length,
  }
  publish(
    apiCallChannel,
    {
      request: { method: request.method, url: address, headers: masked.sent, parameters: masked.query },
      ...(answered && { response: answered }),
    },
    source.connection,
    startedAt,
  )
}

function errorMembers(response: HttpResponse | undefined): [string, unknown][] {
  if (!response || response.status < 400) return []
  const body = Object(parseJson(response.text)) as Record<string, unknown>
  return ERROR_MEMBERS.filter((name) => typeof body[name] === 'string').map((name) => [name, body[name]])
}
