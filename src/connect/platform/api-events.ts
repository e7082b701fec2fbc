import {
  type ApiCallEvent,
  apiCallChannel,
  contextOf,
  type EventContext,
  type EventRequest,
  type EventResponse,
} from '../events.ts'
import { mask, splitUrl } from '../masking.ts'
import type { Platform } from './contract.ts'
import { type HttpRequest, type HttpResponse, parseJson, responseHeaders } from './http.ts'
import type { TokenSource } from './token-source.ts'

/** The members of an error's body that say what is wrong. Other bodies are the user's data and never part of an event. */
const ERROR_MEMBERS = ['error', 'error_description']

/** Publishes one attempt of an API call. `response`: undefined if there was no complete answer. */
export function publishApiCall(
  platform: Platform,
  request: HttpRequest,
  response: HttpResponse | undefined,
  source: TokenSource,
  startedAt: number,
): void {
  apiCallChannel.publish(
    new MaskedApiCall(platform, contextOf(source.connection), startedAt, request, response),
  )
}

/** Masks the call when a subscriber reads its request or response: most only count calls, and masking is most of the work. */
class MaskedApiCall implements ApiCallEvent {
  readonly context: EventContext
  readonly at: number
  readonly ms: number
  readonly status: number | undefined
  readonly #platform: Platform
  readonly #request: HttpRequest
  /** What is kept of the answer; its body would fill the memory. */
  readonly #answer: { headers: [string, string][]; members: [string, unknown][]; bodyLength: number }

  constructor(
    platform: Platform,
    context: EventContext,
    at: number,
    request: HttpRequest,
    response: HttpResponse | undefined,
  ) {
    this.#platform = platform
    this.context = context
    this.at = at
    this.ms = Date.now() - at
    this.status = response?.status
    const { method, url, headers = {} } = request
    this.#request = { method, url, headers }
    this.#answer = {
      headers: responseHeaders(response),
      members: errorMembers(response),
      bodyLength: response?.text.length ?? 0,
    }
  }

  get method(): string {
    return this.#request.method
  }

  get url(): string {
    return splitUrl(this.#request.url).address
  }

  get request(): EventRequest {
    const { address, query, sent } = this.#mask()
    return { method: this.#request.method, url: address, headers: sent, parameters: query }
  }

  get response(): EventResponse | undefined {
    if (this.status === undefined) return undefined
    const { headers, members } = this.#mask()
    const { bodyLength } = this.#answer
    return { status: this.status, headers, parameters: members, bodyLength }
  }

  toJSON(): ApiCallEvent {
    const { context, at, ms, status, method, url, request, response } = this
    return { context, at, ms, status, method, url, request, response }
  }

  #mask() {
    const { address, query } = splitUrl(this.#request.url)
    const { headers, members } = this.#answer
    const masked = mask(this.#platform, {
      query,
      sent: Object.entries(this.#request.headers ?? {}),
      headers,
      members,
    })
    return { address, ...masked }
  }
}

function errorMembers(response: HttpResponse | undefined): [string, unknown][] {
  if (!response || response.status < 400) return []
  const body = Object(parseJson(response.text)) as Record<string, unknown>
  return ERROR_MEMBERS.filter((name) => typeof body[name] === 'string').map((name) => [name, body[name]])
}
