import type { ProbeAnswer } from '../../../web/kit.ts'

/** The type of a value in JSON. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

const NAME = /^[A-Za-z_$][\w$.-]{0,39}$/
/** What is more likely a value than a name: many digits, long runs of letters and digits, or a dot in a word. */
const VALUE_LIKE = /\d{4,}|[A-Za-z]\.[A-Za-z]|(?=\w*\d)(?=\w*[A-Z])\w{12,}|\w{30,}/

/** The name of a field as a report may have it. A name that may be a value is not shown, such as an email address as a key. */
export const nameOf = (name: string): string =>
  NAME.test(name) && !VALUE_LIKE.test(name) ? name : '(a name that may be a value)'

/**
 * The fields of records as names with their types: `{id: 'number', name: 'string'}`. The types of several records are joined. A
 * name that only few records have is not shown, because it may be a value.
 */
export function fieldsOf(records: readonly unknown[]): Record<string, string> {
  const types = new Map<string, string[]>()
  for (const record of records) {
    if (typeof record !== 'object' || record === null || Array.isArray(record)) continue
    for (const [name, value] of Object.entries(record))
      types.set(name, [...(types.get(name) ?? []), typeOf(value)])
  }
  const fields = new Map<string, Set<string>>()
  for (const [name, found] of types) {
    const isRare = records.length > 4 && found.length < records.length / 4
    const shown = isRare ? nameOf('') : nameOf(name)
    fields.set(shown, new Set([...(fields.get(shown) ?? []), ...found]))
  }
  return Object.fromEntries([...fields].map(([name, found]) => [name, [...found].sort().join(' or ')]))
}

export const describeFields = (fields: Record<string, string>): string =>
  Object.entries(fields)
    .map(([name, type]) => `\`${name}\` (${type})`)
    .join(', ')

/** Words in lower case, joined by underscores, as in the codes of RFC 6749. Everything else may be a value. */
const ERROR_CODE = /^(?=.{2,40}$)[a-z]{1,16}(_[a-z]{1,16})*$/

/** The error code of a response: undefined if it has none, and `another_code` if it may not be shown. */
export function errorCodeOf(json: unknown): string | undefined {
  const { error } = Object(json)
  if (typeof error !== 'string' || error === '') return undefined
  return ERROR_CODE.test(error) ? error : 'another_code'
}

const SCHEMES = /^(Basic|Bearer|Digest|DPoP|Negotiate)$/i
const CHALLENGE_PARAMETERS =
  /^(realm|scope|error|error_description|error_uri|resource_metadata|nonce|algorithm)$/i

/** The scheme of a challenge and the names of its parameters, such as `Bearer error, scope`. */
export function challengeOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const unquoted = header.replace(/"[^"]*"?/g, '""')
  const [scheme = ''] = unquoted.trim().split(/\s+/)
  const names = [...unquoted.matchAll(/(\w+)\s*=/g)].map(([, name = '']) => name)
  const known = names.filter((name) => CHALLENGE_PARAMETERS.test(name))
  return [SCHEMES.test(scheme) ? scheme : 'Another', known.join(', ')].join(' ').trim()
}

/** The names of the headers that tell what is left of a rate limit. */
export const limitHeadersOf = ({ headers }: ProbeAnswer): string[] =>
  Object.keys(headers)
    .filter((name) => /rate-?limit/i.test(name))
    .map((name) => (/^[a-z-]{1,40}$/.test(name) ? name : 'another name with ratelimit'))

interface List {
  records: unknown[]
  /** The field of an object that has the list. */
  wrapper: string | undefined
}

/** The records of an answer, which is a list, or an object with a list. Of several lists, one with objects is preferred. */
export function listOf(json: unknown): List | undefined {
  if (Array.isArray(json)) return { records: json, wrapper: undefined }
  if (typeof json !== 'object' || json === null) return undefined
  const lists = Object.entries(json).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))
  const [wrapper, records] = lists.find(([, entries]) => typeof entries[0] === 'object') ?? lists[0] ?? []
  return records && { records, wrapper }
}
