/** The type of a value in JSON. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** A name that may be a value, such as an email address as a key, is not shown. */
const NAME = /^[A-Za-z_$@][\w$.@-]{0,59}$/
const VALUE_LIKE = /@.+\.|\d{5,}|[\w-]{30,}/

export const nameOf = (name: string): string =>
  NAME.test(name) && !VALUE_LIKE.test(name) ? name : '(a name that may be a value)'

/** The fields of records as names with their types: `{id: 'number', name: 'string'}`. Types of several records are joined. */
export function fieldsOf(records: readonly unknown[]): Record<string, string> {
  const types = new Map<string, Set<string>>()
  for (const record of records) {
    if (typeof record !== 'object' || record === null || Array.isArray(record)) continue
    for (const [name, value] of Object.entries(record)) {
      const shown = nameOf(name)
      types.set(shown, (types.get(shown) ?? new Set()).add(typeOf(value)))
    }
  }
  return Object.fromEntries([...types].map(([name, found]) => [name, [...found].sort().join(' or ')]))
}

export const describeFields = (fields: Record<string, string>): string =>
  Object.entries(fields)
    .map(([name, type]) => `\`${name}\` (${type})`)
    .join(', ')

/** An error code as it may be shown: RFC 6749 section 5.2 allows any text. */
export function errorCodeOf(json: unknown): string | undefined {
  const error = typeof json === 'object' && json !== null && 'error' in json ? json.error : undefined
  return typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? error : undefined
}

/** The scheme and the names of the parameters of a challenge: `Bearer error, scope`. */
export function challengeOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const [scheme = ''] = header.trim().split(/\s+/)
  const names = [...header.matchAll(/([A-Za-z_]{1,30})\s*=/g)].map(([, name = '']) => name)
  return [/^[A-Za-z]{1,20}$/.test(scheme) ? scheme : '(unknown scheme)', names.join(', ')].join(' ').trim()
}
