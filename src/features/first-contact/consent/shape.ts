import type { ProbeAnswer } from '../../../web/kit.ts'

/** The type of a value in JSON. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Letters with one or two digits at most; long names with capitals have no digit. Anything else may be a value. */
const NAME = /^(?=.{1,30}$)(?!(?=.*[A-Z])(?=.*\d).{12})[A-Za-z_$]+(\d{1,2}[A-Za-z_$]*)?$/

/** The name of a field as a report may show it. It does not show a name that may be a value, such as an email address as a key. */
export const nameOf = (name: string): string => (NAME.test(name) ? name : '(a name that may be a value)')

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

/** What a response that refuses says: its status and its error code. */
export function refusalOf({ status, json }: ProbeAnswer): string {
  const code = errorCodeOf(json)
  return `${status}${code ? ` \`${code}\`` : ', without an error code of RFC 6749'}`
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

/** The records of an answer, which is a list, or an object with lists. If there are several, the first one with objects counts. */
export function listOf(json: unknown): List | undefined {
  if (Array.isArray(json)) return { records: json, wrapper: undefined }
  if (typeof json !== 'object' || json === null) return undefined
  const lists = Object.entries(json).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))
  const [wrapper, records] = lists.find(([, entries]) => typeof entries[0] === 'object') ?? lists[0] ?? []
  return records && { records, wrapper }
}
