import { randomBytes } from 'node:crypto'
import { PlatformUnavailableError } from '../../connect/errors.ts'
import {
  createHttp,
  formsOf,
  type Http,
  type HttpOptions,
  type HttpRequest,
  type HttpResponse,
  parseJson,
  platform,
} from '../../connect/index.ts'
import { type Answer, isResponse, type NoAnswer, type Response } from './answers.ts'

/** A value that the platform cannot know: a code, a token or a client id. */
export const madeUp = () => `doctor-check-${randomBytes(16).toString('hex')}`

const TIMEOUT_MS = 5_000
const MAX_REDIRECTS = 5
/** Some servers refuse clients that do not look like a browser. */
const USER_AGENT = 'Mozilla/5.0 (compatible; connect-starter doctor)'

export type Client = ReturnType<typeof createClient>

/**
 * Creates the client that sends every request of the doctor. It uses the app's own HTTP code, with the same proxies and internal
 * addresses. It remembers only how far the clocks differ. It removes `secrets` from every response, in case the platform repeats
 * them.
 */
export function createClient(
  { proxies = null, internalUrls = {} }: Pick<HttpOptions, 'proxies' | 'internalUrls'>,
  secrets: readonly string[] = [],
  timeoutMs = TIMEOUT_MS,
) {
  const slowest = platform.tokenEndpointMs
  const pool = createHttp({
    proxies,
    internalUrls,
    userAgent: USER_AGENT,
    stepTimeoutMs: slowest,
    deadlineMs: slowest,
  })
  const http: Http = {
    send: (request) => pool.send({ deadlineMs: timeoutMs, ...request }),
    close: pool.close,
  }
  /** How far this machine's clock is ahead of the `Date` header of each response of the platform, in ms. */
  const clockOffsets: number[] = []

  /** Sends one request and follows no redirect. Never throws. Waits `timeoutMs`, unless the request has a `deadlineMs`. */
  async function send(request: HttpRequest): Promise<Answer> {
    try {
      const response = await http.send(request)
      const offset = Date.now() - Date.parse(response.header('date') ?? '')
      if (!Number.isNaN(offset)) clockOffsets.push(offset)
      return toResponse(request, response, secrets)
    } catch (error) {
      return toNoAnswer(error)
    }
  }

  /**
   * Opens a page as a browser without a login does: follows redirects within the first address's origin, with cookies.
   * A redirect to another origin, or to an address that starts with `stopAt`, is the result. Never throws.
   */
  async function open(first: URL, stopAt?: string): Promise<Answer> {
    const jar = new Map<string, string>()
    let url = first
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
      const headers = { accept: 'text/html,*/*;q=0.8', 'accept-language': 'en', ...(cookie && { cookie }) }
      const answer = await send({ method: 'GET', url: url.href, headers })
      const next = isResponse(answer) ? answer.location : undefined
      if (!isResponse(answer) || !next || next.origin !== first.origin) return answer
      if (stopAt !== undefined && next.href.startsWith(stopAt)) return answer
      for (const text of [answer.headers['set-cookie'] ?? []].flat()) {
        const [, name = '', value = ''] = /^([^=;]*)=([^;]*)/.exec(text) ?? []
        jar.set(name, value)
      }
      url = next
    }
    return { error: 'TOO_MANY_REDIRECTS' }
  }

  const get = (url: string) => send({ method: 'GET', url })
  return { send, get, open, http, clockOffsets, close: pool.close }
}

/**
 * Resolves to the first request with a body that `code` makes, and does not send it. It does send requests without a body. Throws
 * what `code` throws before it makes that request.
 */
export function requestBy(
  http: Http,
  code: (http: Http) => Promise<unknown> | undefined,
): Promise<HttpRequest> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpRequest>()
  const send = (request: HttpRequest) => {
    if (request.body === undefined) return http.send(request)
    resolve(request)
    return new Promise<never>(() => {})
  }
  code({ send, close: async () => {} })?.catch(reject)
  return promise
}

function toResponse(
  { url, body = '' }: HttpRequest,
  response: HttpResponse,
  secrets: readonly string[],
): Response {
  const { status, header } = response
  const text = hide(response.text, secrets)
  const target = status >= 300 && status < 400 ? header('location') : undefined
  const address = new URL(url)
  return {
    ...response,
    text,
    json: parseJson(text),
    url: address,
    location: (target && URL.parse(target, url)) || undefined,
    sent: [...address.searchParams.values(), ...new URLSearchParams(String(body)).values()],
  }
}

function toNoAnswer(error: unknown): NoAnswer {
  if (!(error instanceof PlatformUnavailableError)) return { error: String(error) }
  const { reason = '' } = error
  const [, code = reason] = /\((\w+)\)$/.exec(reason) ?? []
  return { error: reason.includes('deadline') ? 'TIMEOUT' : code }
}

/** The text without these secrets. */
export const hide = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((rest, secret) => rest.replaceAll(secret, '•••'), text)

/** The client secret in all forms in which a response may repeat it. */
export function secretsOf({ clientId, clientSecret }: { clientId: string; clientSecret: string }): string[] {
  const form = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)
  const json = (text: string) => JSON.stringify(text).slice(1, -1)
  const html = clientSecret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
  return [
    ...formsOf(clientSecret),
    ...formsOf(`${clientId}:${clientSecret}`),
    ...formsOf(`${form(clientId)}:${form(clientSecret)}`),
    form(clientSecret),
    json(clientSecret),
    json(json(clientSecret)),
    json(clientSecret).replaceAll('/', '\\/'),
    html,
  ]
}
