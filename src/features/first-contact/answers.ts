import type { ProbeAnswer } from '../../web/kit.ts'

/** A response, or the reason why there is none. */
export type Answer = Response | NoAnswer

export interface Response extends ProbeAnswer {
  /** The address of this response, after redirects. */
  url: URL
  /** Where a redirect leads. */
  location: URL | undefined
  /** The values that the request had, which the response may repeat. */
  sent: string[]
}

export interface NoAnswer {
  /** The code of the error, such as `ECONNREFUSED`. */
  error: string
}

export const isResponse = (answer: Answer): answer is Response => !('error' in answer)

export const isHtml = ({ header }: Response): boolean => /html/i.test(header('content-type') ?? '')

/** Whether the server cannot answer now: a server error, or too many requests. */
export const isOutage = ({ status }: ProbeAnswer): boolean => status >= 500 || status === 429

/** Whether there is nothing at the address of this answer. */
export const isMissing = (answer: Answer): boolean =>
  isResponse(answer) && [404, 405, 410].includes(answer.status)

/** Whether two answers mean the same: they agree in status, target and text, apart from values of the request, ids and numbers. */
export const isSameAnswer = (one: Answer, other: Answer): boolean => signatureOf(one) === signatureOf(other)

/** What is beyond this is not compared, in characters. */
const MAX_COMPARED = 200_000

function signatureOf(answer: Answer): string {
  if (!isResponse(answer)) return `no answer: ${answer.error}`
  const { status, location, sent } = answer
  const target =
    location && [location.origin, location.pathname, location.searchParams.get('error')].join(' ')
  return [
    status,
    withoutValues(target ?? '', sent),
    withoutValues(answer.text.slice(0, MAX_COMPARED), sent),
  ].join('\n')
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

/** The error code of RFC 6749 that a response has as JSON, or what stands in its place; undefined if it is no text. */
export function errorOf(answer: ProbeAnswer): string | undefined {
  const { error } = Object(answer.json)
  return typeof error === 'string' ? error : undefined
}

/** Whether a token endpoint refuses the client id or the secret (RFC 6749 section 5.2). */
export const refusesClient = (answer: Response): boolean =>
  /^(invalid|unauthorized)_client$/.test(errorOf(answer) ?? '') ||
  (answer.status === 401 && errorOf(answer) !== 'invalid_grant')

/** The status and the error code of a response; without a code, the status and what the response says. */
export function describe(answer: Response): string {
  const error = errorOf(answer)
  const isCode = error !== undefined && /^[\w.-]{1,60}$/.test(error)
  return isCode ? `${answer.status} ${error}` : `${answer.status}${excerptOf(answer)}`
}

/**
 * What a response says, for a line of output: the beginning of its text, or of the main part of a page, in quotes and
 * without long values, which may be codes and tokens; empty if it says nothing.
 */
export function excerptOf(answer: Response): string {
  const line = plain(isHtml(answer) ? withoutMarkup(answer.text) : answer.text)
  if (line === '') return ''
  return `: "${line.length > 120 ? `${line.slice(0, 120)}…` : line}"`
}

/** One line without long values, which may be codes and tokens. */
export const plain = (text: string): string =>
  text
    .replace(/[\w-]{30,}/g, '…')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()

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
