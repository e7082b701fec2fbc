import { randomBytes } from 'node:crypto'
import { type Dispatcher, request } from 'undici'
import { PlatformUnavailableError } from '../../../connect/errors.ts'
import {
  createDispatcher,
  type Http,
  type HttpRequest,
  type HttpResponse,
  type Proxies,
  parseJson,
} from '../../../connect/index.ts'
import type { ProbeAnswer } from '../../tools.ts'

/** A value that the platform cannot know: a code, a token or a client id. */
export const madeUp = () => `doctor-check-${randomBytes(16).toString('hex')}`

const TIMEOUT_MS = 5_000
/** What is beyond this is not read. */
const MAX_BYTES = 200_000
const MAX_REDIRECTS = 5

export interface Request {
  /** How long to wait for the response, in ms; by default 5 s. */
  timeoutMs?: number
  method?: HttpRequest['method']
  headers?: Record<string, string>
  body?: string
}

/** A response, or the reason why there is none. */
export type Answer = Response | NoAnswer

export interface Response extends ProbeAnswer {
  status: number
  contentType: string
  text: string
  /** Parsed JSON; undefined if the body is not JSON. */
  json: unknown
  headers: HttpResponse['headers']
  /** Where a redirect leads. */
  location: URL | undefined
  /** The address of this response, after redirects. */
  url: URL
  /** The values that the request had, which the response may repeat. */
  sent: string[]
}

export interface NoAnswer {
  status: 0
  /** The code of the error, such as `ECONNREFUSED`. */
  error: string
  message: string
}

/** Sends the requests of the doctor and the probe; keeps nothing but the platform's clock. */
export interface DoctorHttp {
  /** Sends one request and follows no redirect. Never throws. */
  send(url: string | URL, request?: Request): Promise<Answer>
  /**
   * Opens a page as a browser without a login does: follows redirects within the first address's origin, with cookies.
   * A redirect to another origin, or to an address that starts with `stopAt`, is the result. Never throws.
   */
  open(url: URL, stopAt?: string): Promise<Answer>
  /** How far this machine's clock is ahead of the `Date` of the platform's responses, in ms, for each response. */
  readonly clockOffsets: number[]
  close(): Promise<void>
}

/** Some servers refuse clients that do not look like a browser. */
const BROWSER = {
  accept: 'text/html,*/*;q=0.8',
  'accept-language': 'en',
  'user-agent': 'Mozilla/5.0 (compatible; connect-starter doctor)',
}

/**
 * `slowestMs`: the longest wait for an answer. `secrets` are replaced in every response, in case the platform repeats
 * them.
 */
export function createDoctorHttp(
  proxies: Proxies | null,
  slowestMs: number,
  secrets: readonly string[] = [],
): DoctorHttp {
  const settings = { connectTimeout: TIMEOUT_MS, headersTimeout: slowestMs, bodyTimeout: TIMEOUT_MS }
  let opening: Promise<Dispatcher> | undefined
  const dispatcher = () => (opening ??= createDispatcher(settings, proxies))
  const clockOffsets: number[] = []

  async function exchange(url: URL, { method = 'GET', headers, body, timeoutMs = TIMEOUT_MS }: Request) {
    const response = await request(url, {
      dispatcher: await dispatcher(),
      method,
      headers: { accept: '*/*', 'accept-encoding': 'identity', ...headers },
      body: body ?? null,
      signal: AbortSignal.timeout(timeoutMs),
    })
    const offset = Date.now() - Date.parse(headerOf(response.headers, 'date'))
    if (!Number.isNaN(offset)) clockOffsets.push(offset)
    const sent = [...url.searchParams.values(), ...new URLSearchParams(body).values()]
    const text = hide(await textOf(response.body), secrets)
    const answer = { ...toResponse(url, response, text), sent }
    return { answer, cookies: [response.headers['set-cookie'] ?? []].flat() }
  }

  async function send(url: string | URL, options: Request = {}): Promise<Answer> {
    return exchange(new URL(url), options).then(({ answer }) => answer, noAnswer)
  }

  async function open(first: URL, stopAt = ''): Promise<Answer> {
    const jar = new Map<string, string>()
    let url = first
    try {
      for (let redirects = 0; ; redirects++) {
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
        const headers = { ...BROWSER, ...(cookie && { cookie }) }
        const { answer, cookies } = await exchange(url, { headers })
        for (const text of cookies) jar.set(...cookieOf(text))
        const next = answer.location
        const isEnd = !next || next.origin !== first.origin || (stopAt !== '' && next.href.startsWith(stopAt))
        if (isEnd) return answer
        if (redirects === MAX_REDIRECTS) return { status: 0, error: 'TOO_MANY_REDIRECTS', message: '' }
        url = next
      }
    } catch (error) {
      return noAnswer(error)
    }
  }

  return { send, open, clockOffsets, close: async () => (await opening)?.destroy() }
}

/** The client for the app's own code, such as `createOAuth`. */
export const asHttp = (client: DoctorHttp, timeoutMs: number): Http => ({
  async send({ method, url, headers = {}, body }) {
    const answer = await client.send(url, { method, headers, timeoutMs, ...(body && { body: String(body) }) })
    if (answer.status === 0)
      throw new PlatformUnavailableError('no_answer', `no answer (${(answer as NoAnswer).error})`)
    const { status, text, header, headers: received } = answer as Response
    return {
      status,
      text,
      header,
      headers: received,
      retryAfterMs: retryAfterOf(answer as Response),
    }
  },
  close: () => client.close(),
})

/** `Retry-After` in ms, if the response has one in seconds. */
export function retryAfterOf({ header }: ProbeAnswer): number | undefined {
  const seconds = header('retry-after')
  return seconds !== undefined && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1000 : undefined
}

/** The beginning of a body. */
async function textOf(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MAX_BYTES) break
  }
  return Buffer.concat(chunks).toString()
}

/** The text without these secrets. */
export const hide = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((rest, secret) => rest.replaceAll(secret, '•••'), text)

function toResponse(
  url: URL,
  { statusCode, headers }: Dispatcher.ResponseData,
  text: string,
): Omit<Response, 'sent'> {
  const target = statusCode >= 300 && statusCode < 400 ? headerOf(headers, 'location') : ''
  return {
    status: statusCode,
    header: (name) => [headers[name]].flat()[0],
    headers,
    headerNames: Object.keys(headers),
    contentType: headerOf(headers, 'content-type'),
    text,
    json: parseJson(text),
    location: (target && URL.parse(target, url.href)) || undefined,
    url,
  }
}

const headerOf = (headers: Dispatcher.ResponseData['headers'], name: string) =>
  [headers[name]].flat()[0] ?? ''

function cookieOf(text: string): [name: string, value: string] {
  const [pair = ''] = text.split(';')
  const separator = pair.indexOf('=')
  return [pair.slice(0, separator), pair.slice(separator + 1)]
}

function noAnswer(error: unknown): NoAnswer {
  // A DOMException has a number as its code.
  const { code, name, message } = error as { code?: unknown; name: string; message: string }
  return { status: 0, error: typeof code === 'string' ? code : name, message }
}

/** Whether the server cannot answer now: a server error, or too many requests. */
export const isOutage = ({ status }: Pick<Response, 'status'>): boolean => status >= 500 || status === 429

/** Whether two responses mean the same: they agree in status, target and text, apart from values of the request, ids and numbers. */
export function isSameAnswer(one: Answer, other: Answer): boolean {
  return signatureOf(one) === signatureOf(other)
}

function signatureOf(answer: Answer): string {
  if (answer.status === 0) return `no answer: ${(answer as NoAnswer).error}`
  const { status, location, text, sent } = answer as Response
  const target =
    location && [location.origin, location.pathname, location.searchParams.get('error')].join(' ')
  return [status, withoutValues(target ?? '', sent), withoutValues(text, sent)].join('\n')
}

function withoutValues(text: string, values: string[]): string {
  const repeated = values
    .filter((value) => value.length > 2)
    .flatMap((value) => [value, encodeURIComponent(value)])
    // One value may be the beginning of another one.
    .toSorted((one, other) => other.length - one.length)
  return (
    repeated
      .reduce((rest, value) => rest.replaceAll(value, '*'), text)
      // Ids and times of a request: long runs, and short ones of letters and digits.
      .replace(/[\w%+/=.:-]{16,}/g, '*')
      .replace(/\b(?=\w*\d)(?=\w*[a-z])\w{5,}\b/gi, '*')
      .replace(/\d+/g, '*')
  )
}

/**
 * What a response says, for a line of output: the beginning of its text, or of the main part of a page, in quotes and
 * without long values, which may be codes and tokens; empty if it says nothing.
 */
export function excerptOf({ text, contentType }: Response): string {
  const plain = /html/i.test(contentType) ? withoutMarkup(text) : text
  const line = plain
    .replace(/[\w-]{30,}/g, '…')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  if (line === '') return ''
  return `: "${line.length > 120 ? `${line.slice(0, 120)}…` : line}"`
}

const ENTITIES: Record<string, string> = {
  '&#39;': "'",
  '&quot;': '"',
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
}

function withoutMarkup(html: string): string {
  const [, main = html] = /<main\b[^>]*>([\s\S]*)<\/main>/i.exec(html) ?? []
  return main
    .replace(/<(script|style|head|nav|header)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(#39|quot|lt|gt|amp);/g, (entity) => ENTITIES[entity] ?? entity)
}
