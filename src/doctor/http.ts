import { type Dispatcher, request } from 'undici'
import { createDispatcher, type Proxies } from '../connect/platform/http.ts'

const TIMEOUT_MS = 5_000
const MAX_BYTES = 1_000_000
const MAX_REDIRECTS = 5

export interface Request {
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
}

/** A response, or the reason why there is none. */
export type Answer = Response | NoAnswer

export interface Response {
  status: number
  contentType: string
  text: string
  /** Parsed JSON; undefined if the body is not JSON. */
  json: unknown
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

/** Sends the doctor's requests; keeps nothing but the platform's clock. */
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

/** `secrets` are replaced in every response, in case the platform repeats them. */
export function createDoctorHttp(proxies: Proxies | null, secrets: readonly string[]): DoctorHttp {
  const dispatcher = createDispatcher(
    {
      connect: { timeout: TIMEOUT_MS },
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      maxResponseSize: MAX_BYTES,
    },
    proxies,
  )
  const clockOffsets: number[] = []

  async function exchange(url: URL, { method = 'GET', headers, body }: Request) {
    const response = await request(url, {
      dispatcher,
      method,
      headers: { accept: '*/*', ...headers },
      body: body ?? null,
      signal: AbortSignal.timeout(2 * TIMEOUT_MS),
    })
    const offset = Date.now() - Date.parse(headerOf(response.headers, 'date'))
    if (!Number.isNaN(offset)) clockOffsets.push(offset)
    const sent = [...url.searchParams.values(), ...new URLSearchParams(body).values()]
    const text = secrets.reduce((rest, secret) => rest.replaceAll(secret, '•••'), await response.body.text())
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
        const headers = { accept: 'text/html,*/*;q=0.8', ...(cookie && { cookie }) }
        const { answer, cookies } = await exchange(url, { headers })
        for (const text of cookies) jar.set(...cookieOf(text))
        const next = answer.location
        const isEnd = !next || next.origin !== first.origin || (stopAt !== '' && next.href.startsWith(stopAt))
        if (isEnd || redirects === MAX_REDIRECTS) return answer
        url = next
      }
    } catch (error) {
      return noAnswer(error)
    }
  }

  return { send, open, clockOffsets, close: () => dispatcher.destroy() }
}

function toResponse(
  url: URL,
  { statusCode, headers }: Dispatcher.ResponseData,
  text: string,
): Omit<Response, 'sent'> {
  const target = statusCode >= 300 && statusCode < 400 ? headerOf(headers, 'location') : ''
  return {
    status: statusCode,
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function noAnswer(error: unknown): NoAnswer {
  const { code, name, message } = error as { code?: string; name: string; message: string }
  return { status: 0, error: String(code ?? name), message }
}

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
  return repeated
    .reduce((rest, value) => rest.replaceAll(value, '*'), text)
    .replace(/[\w%+.-]{20,}/g, '*')
    .replace(/\d+/g, '0')
}

/**
 * What a response says, for a line of output: the beginning of its text, or of the main part of a page, in quotes and
 * without long values, which may be codes and tokens; empty if it says nothing.
 */
export function excerptOf({ text, contentType }: Response): string {
  const plain = /html/i.test(contentType) ? textOf(text) : text
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

function textOf(html: string): string {
  const [, main = html] = /<main\b[^>]*>([\s\S]*)<\/main>/i.exec(html) ?? []
  return main
    .replace(/<(script|style|head|nav|header)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(#39|quot|lt|gt|amp);/g, (entity) => ENTITIES[entity] ?? entity)
}
