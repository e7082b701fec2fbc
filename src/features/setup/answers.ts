/** Finds the evidence in an answer of the platform: the name of an OAuth error, or a difference from another answer. */
import { type HttpRequest, type HttpResponse, parseJson } from '../../connect/index.ts'

/** A response, or the reason why there is none. */
export type Answer = Response | NoAnswer

export interface Response extends HttpResponse {
  /** Undefined if the body is not JSON. */
  json: unknown
  /** The address that a redirect leads to. */
  location: URL | undefined
  /** The values in the request, because the response may repeat them. */
  sent: string[]
}

export interface NoAnswer {
  /** The code of the error, such as `ECONNREFUSED`. */
  error: string
}

export function toResponse({ url, body = '' }: HttpRequest, response: HttpResponse): Response {
  const { pathname, searchParams } = new URL(url)
  const { status, text, header } = response
  const target = status >= 300 && status < 400 ? header('location') : undefined
  return {
    ...response,
    json: parseJson(text),
    location: (target && URL.parse(target, url)) || undefined,
    sent: [pathname, ...searchParams.values(), ...new URLSearchParams(String(body)).values()],
  }
}

export const isResponse = (answer: Answer): answer is Response => !('error' in answer)

export const isHtml = ({ header }: Response): boolean => /html/i.test(header('content-type') ?? '')

/** Whether the server cannot answer now: a server error, or too many requests. */
export const isOutage = ({ status }: Response): boolean => status >= 500 || status === 429

/** Errors of RFC 6749 sections 4.1.2.1 and 5.2, OpenID Connect Core section 3.1.2.6, and other names for a wrong redirect url. */
const ERROR =
  /\b(invalid_(request|client|grant|scope|target|redirect_uri)|redirect_uri_mismatch|unauthorized_client|unsupported_(grant|response|token)_type|access_denied|(login|interaction|consent)_required|account_selection_required)\b/

/**
 * The name of the OAuth error in a redirect, in a token endpoint's answer (some send errors with status 200), or on a page.
 * Undefined if there is no known error: any other text is ignored.
 */
export function oauthErrorOf(answer: Answer): string | undefined {
  if (!isResponse(answer)) return undefined
  const { location, json } = answer
  if (location) return ERROR.exec(location.searchParams.get('error') ?? '')?.[0]
  if (isHtml(answer)) return ERROR.exec(visibleText(answer.text))?.[0]
  const { error } = Object(json)
  return typeof error === 'string' && ERROR.exec(error)?.[0] === error ? error : undefined
}

/**
 * Whether two answers have the same meaning: the same status, redirect target and visible words. Ignores the order of words, ids,
 * numbers, and values of the request.
 */
export const isSameAnswer = (one: Answer, other: Answer): boolean => meaningOf(one) === meaningOf(other)

/** How many characters of an answer are compared. */
const MAX_COMPARED = 200_000

function meaningOf(answer: Answer): string {
  if (!isResponse(answer)) return `no answer: ${answer.error}`
  const { status, location, sent, text } = answer
  const target = location ? `${location.origin}${location.pathname} ${oauthErrorOf(answer)}` : ''
  const shown = isHtml(answer) ? visibleText(text) : text
  const known = sent
    .filter((value) => value.length > 2)
    .flatMap((value) => [value, encodeURIComponent(value)])
    // Longest first, because one value may be the beginning of another.
    .toSorted((one, other) => other.length - one.length)
  const rest = known.reduce(
    (left, value) => left.replaceAll(value, ' '),
    `${target} ${shown.slice(0, MAX_COMPARED)}`,
  )
  // Some servers change the order of JSON fields each time. A long word, or a word with a digit, is probably an id or a time.
  const words = rest.split(/[^\w%+/=-]+/).filter((word) => !/\d/.test(word) && word.length < 16)
  return [status, ...words.sort()].join(' ')
}

/**
 * Describes a page, or an answer to a request without a secret: its status, the address that it redirects to, and the beginning of
 * its text in quotes. Leaves out long values, because they may be session ids.
 */
export function quoteOf(answer: Response): string {
  const { status, location, text } = answer
  const description = location?.searchParams.get('error_description') ?? ''
  const to = location ? `, a redirect to ${location.origin}${location.pathname}` : ''
  const said = location
    ? `${oauthErrorOf(answer) ?? ''} ${description}`
    : isHtml(answer)
      ? visibleText(text)
      : text
  const line = said
    .replace(/[\w-]{30,}/g, '…')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  const quoted = line.length > 120 ? `${line.slice(0, 120)}…` : line
  return `${status}${to}${quoted && `: "${quoted}"`}`
}

/** The visible text in the main part of a page. */
function visibleText(html: string): string {
  const [, main = html] = /<main\b[^>]*>([\s\S]*)<\/main>/i.exec(html) ?? []
  return main.replace(/<(script|style|head|nav|header)\b[\s\S]*?<\/\1>/gi, ' ').replace(/<[^>]*>/g, ' ')
}
