import type { ProbeAnswer } from '../../web/kit.ts'

/** A response, or the reason why there is none. */
export type Answer = Response | NoAnswer

export interface Response extends ProbeAnswer {
  /** The address of this response, after redirects. */
  url: URL
  /** The address that a redirect leads to. */
  location: URL | undefined
  /** The values that the request sent, because the response may repeat them. */
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

/**
 * Whether two answers mean the same: they agree in status, target and visible text. Values of the request, ids, numbers, and the
 * order of fields do not count.
 */
export const isSameAnswer = (one: Answer, other: Answer): boolean => signatureOf(one) === signatureOf(other)

/** The most characters of a body that are compared. */
const MAX_COMPARED = 200_000

function signatureOf(answer: Answer): string {
  if (!isResponse(answer)) return `no answer: ${answer.error}`
  const { status, location, sent } = answer
  const target =
    location && [location.origin, location.pathname, location.searchParams.get('error')].join(' ')
  return [
    status,
    withoutValues(target ?? '', sent),
    withoutValues(contentOf(answer).slice(0, MAX_COMPARED), sent),
  ].join('\n')
}

/** The part of a body that has a meaning. JSON is sorted, because some servers write its fields in another order each time. */
function contentOf(answer: Response): string {
  if (isHtml(answer)) return visibleText(answer.text)
  return answer.json === undefined ? answer.text : JSON.stringify(answer.json, inOrder)
}

const inOrder = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value

function withoutValues(text: string, values: string[]): string {
  const repeated = values
    .filter((value) => value.length > 2)
    .flatMap((value) => [value, encodeURIComponent(value)])
    // The longest comes first, because one value may be the beginning of another one.
    .toSorted((one, other) => other.length - one.length)
  return (
    repeated
      .reduce((rest, value) => rest.replaceAll(value, '*'), text)
      // Replaces ids and times of a request, which are long runs of characters, or short ones with letters and digits.
      .replace(/[\w%+/=.:-]{16,}/g, '*')
      .replace(/\b(?=\w*\d)(?=\w*[a-z])\w{5,}\b/gi, '*')
      .replace(/\d+/g, '*')
  )
}

/** The member `error` of a response, which is an error code of RFC 6749 or another text; undefined if it is no text. */
export function errorOf(answer: ProbeAnswer): string | undefined {
  const { error } = Object(answer.json)
  return typeof error === 'string' ? error : undefined
}

/** Whether an answer is an error of a token endpoint (RFC 6749 section 5.2). Some servers send these with status 200. */
export const isOAuthError = (answer: Answer): answer is Response =>
  isResponse(answer) &&
  /^(invalid_(request|client|grant|scope|target)|unauthorized_client|unsupported_grant_type|access_denied)$/.test(
    errorOf(answer) ?? '',
  )

/** The status and the error code of a response; without a code, the status and what the response says. */
export function describe(answer: Response): string {
  const error = errorOf(answer)
  const isCode = error !== undefined && /^[\w.-]{1,60}$/.test(error)
  return isCode ? `${answer.status} ${error}` : `${answer.status}${excerptOf(answer)}`
}

/**
 * What a response says, for a line of output: the beginning of its text, or of the main part of a page, in quotes. Long values are
 * left out, because they may be codes and tokens. Empty if the response says nothing.
 */
export function excerptOf(answer: Response): string {
  const line = plain(isHtml(answer) ? visibleText(answer.text) : answer.text)
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

/** What a reader sees of the main part of a page. */
export function visibleText(html: string): string {
  const [, main = html] = /<main\b[^>]*>([\s\S]*)<\/main>/i.exec(html) ?? []
  return main
    .replace(/<(script|style|head|nav|header)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(#39|quot|lt|gt|amp);/g, (entity) => ENTITIES[entity] ?? entity)
}
