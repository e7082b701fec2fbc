import type { HttpRequest } from '../connect/platform/http.ts'
import type { Probe, ProbeAnswer, RecordsCheck } from '../features/feature.ts'
import type { Results } from './results.ts'
import { challengeOf, describeFields, fieldsOf, nameOf, typeOf } from './shape.ts'

const LIMIT_HEADERS = [
  'ratelimit',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'ratelimit-policy',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-rate-limit-limit',
  'x-rate-limit-remaining',
  'x-rate-limit-reset',
]

/** Notes the headers of a response that tell what is left of the rate limit. */
export function checkLimitHeaders(results: Results, { header }: ProbeAnswer): void {
  const found = LIMIT_HEADERS.filter((name) => header(name) !== undefined)
  if (found.length === 0) results.confirm('rate-limit-headers', 'none')
  else results.differ('rate-limit-headers', found.map((name) => `\`${name}\``).join(', '), true)
}

/** Checks the answer to a call with a made-up token. */
export function checkInvalidToken(results: Results, answer: ProbeAnswer): void {
  const challenge = challengeOf(answer.header('www-authenticate'))
  const seen = `${answer.status}, ${challenge ? `\`WWW-Authenticate: ${challenge}\`` : 'without `WWW-Authenticate`'}`
  const isAssumed = answer.status === 401 && /^Bearer\b/i.test(challenge ?? '')
  if (isAssumed) results.confirm('invalid-access-token', seen)
  else results.differ('invalid-access-token', seen, answer.status === 401)
}

/** Checks the answer to a call with a token that lacks the scope. */
export function checkMissingScope(results: Results, answer: ProbeAnswer, scope: string): void {
  const header = answer.header('www-authenticate')
  const isNamed = header !== undefined && new RegExp(`scope="[^"]*\\b${RegExp.escape(scope)}\\b`).test(header)
  const seen = `${answer.status}, ${isNamed ? 'the scope is named' : 'the scope is not named'}`
  if (answer.status === 403 && isNamed) results.confirm('insufficient-scope', seen)
  else results.differ('insufficient-scope', seen, answer.status === 403)
}

type Records = Pick<Probe, 'call' | 'checkFields'>

/** See `Probe.checkRecords`. */
export async function checkRecords(
  results: Results,
  probe: Records,
  check: RecordsCheck,
): Promise<string | undefined> {
  const { path, operations, paged } = check
  const all = await probe.call(paged ? `${path}?$top=25&$skip=0&$count=true` : path)
  if (all?.status !== 200) {
    results.differ(operations, `GET ${path}: ${all?.status ?? 'no answer'}`, false)
    return undefined
  }
  const records = recordsOf(results, all, path)
  if (!records) return undefined
  if (paged) await checkPaging(results, probe, check, all, records)
  const [first] = records as Record<string, unknown>[]
  if (!first) {
    const how = `GET ${path} has no records: give consent for an account that has some`
    for (const id of ['ids', check.fields, operations]) results.notSeen(id, how)
    return undefined
  }
  probe.checkFields(check.fields, check.schema, records)
  return checkRecord(results, probe, check, first)
}

/** See `Probe.recordsOf`. */
export function recordsOf(results: Results, answer: ProbeAnswer | null, path: string): unknown[] | undefined {
  const list = answer?.status === 200 ? listOf(answer.json) : undefined
  if (!list) {
    if (answer?.status === 200)
      results.differ('list-form', `GET ${path}: a JSON ${typeOf(answer.json)} without a list`, false)
    return undefined
  }
  if (list.wrapper === undefined) results.confirm('list-form', 'a JSON array')
  else results.differ('list-form', `an object with the list in \`${nameOf(list.wrapper)}\``, false)
  return list.records
}

async function checkRecord(
  results: Results,
  probe: Records,
  { path, record, idField, operations, schema, fields }: RecordsCheck,
  first: Record<string, unknown>,
): Promise<string | undefined> {
  const id = first[idField]
  if (typeof id !== 'string' && typeof id !== 'number') {
    results.differ(
      'ids',
      `\`${idField}\` of ${path} is ${id === undefined ? 'absent' : `a ${typeOf(id)}`}`,
      false,
    )
    return undefined
  }
  const isPlain = !/[/\\]|\.\./.test(String(id))
  if (typeof id === 'string' && isPlain) results.confirm('ids', 'strings')
  else results.differ('ids', isPlain ? 'numbers' : 'with `/`, `\\` or `..`', isPlain)
  const one = await probe.call(record(String(id)))
  const place = `GET ${record('{id}').replace('%7Bid%7D', '{id}')}`
  if (one?.status === 200) results.confirm(operations, `GET ${path} and ${place}: 200`)
  else results.differ(operations, `${place}: ${one ? one.status : 'no answer'}`, false)
  if (one?.status === 200) probe.checkFields(fields, schema, [one.json])
  const missing = await probe.call(record('probe-no-such-record'))
  if (missing?.status === 404) results.confirm('not-found', '404')
  else results.differ('not-found', `${place}: ${missing ? missing.status : 'no answer'}`, false)
  return String(id)
}

async function checkPaging(
  results: Results,
  probe: Records,
  { path, idField }: RecordsCheck,
  all: ProbeAnswer,
  records: unknown[],
): Promise<void> {
  const total = all.header('x-odata-total-count')
  if (total !== undefined && /^\d+$/.test(total)) results.confirm('list-total', '`x-odata-total-count`')
  else results.differ('list-total', total === undefined ? 'no `x-odata-total-count`' : 'not a number', true)
  if (records.length < 2) {
    for (const id of ['list-page', 'list-order'])
      results.notSeen(id, `GET ${path} has fewer than two records: give consent for an account that has more`)
    return
  }
  const idsOf = (answer: ProbeAnswer | null) =>
    listOf(answer?.json)?.records.map((record) => (record as Record<string, unknown>)[idField])
  const all2 = idsOf(all)?.slice(0, 2)
  const pages = [await probe.call(`${path}?$top=1`), await probe.call(`${path}?$top=1&$skip=1`)]
  const [one, two] = pages.map(idsOf)
  const isPaged = one?.length === 1 && two?.length === 1 && one[0] === all2?.[0] && two[0] === all2?.[1]
  if (isPaged) results.confirm('list-page', '`$top` and `$skip`')
  else
    results.differ(
      'list-page',
      `\`$top=1\` brought ${one?.length ?? 'no'} records${one?.length === 1 ? ', and `$skip=1` not the next one' : ''}`,
      false,
    )
  const ascending = idsOf(await probe.call(`${path}?$orderby=${idField} asc`.replace(' ', '%20')))
  const descending = idsOf(await probe.call(`${path}?$orderby=${idField} desc`.replace(' ', '%20')))
  const isOrdered = ascending && descending && ascending[0] !== descending[0]
  if (isOrdered) results.confirm('list-order', '`$orderby`')
  else
    results.differ(
      'list-order',
      ascending && descending ? '`$orderby` changes nothing' : '`$orderby` is refused',
      true,
    )
}

interface List {
  records: unknown[]
  /** The field of an object that has the list. */
  wrapper: string | undefined
}

/** The records of an answer, also if they are inside an object. */
export function listOf(json: unknown): List | undefined {
  if (Array.isArray(json)) return { records: json, wrapper: undefined }
  if (typeof json !== 'object' || json === null) return undefined
  const entry = Object.entries(json).find(([, value]) => Array.isArray(value))
  return entry && { records: entry[1] as unknown[], wrapper: entry[0] }
}

/** See `Probe.checkFields`. */
export function checkFields(
  results: Results,
  id: string,
  schema: { shape: object; safeParse(value: unknown): { success: boolean } },
  records: readonly unknown[],
): void {
  const fields = fieldsOf(records)
  const known = Object.keys(schema.shape)
  const others = Object.fromEntries(Object.entries(fields).filter(([name]) => !known.includes(name)))
  const missing = known.filter((name) => !(name in fields))
  const copes = records.every((record) => schema.safeParse(record).success)
  const problems = [
    Object.keys(others).length > 0 && `further fields: ${describeFields(others)}`,
    missing.length > 0 && `no ${missing.map((name) => `\`${name}\``).join(', ')}`,
    !copes && `other types: ${describeFields(fields)}`,
  ].filter((text) => text !== false)
  if (problems.length === 0) results.confirm(id, describeFields(fields))
  else results.differ(id, problems.join('; '), copes)
}

/** A request to the API with this token; null: without one. */
export function apiRequest(apiUrl: string, path: string, token: string | null, body?: object): HttpRequest {
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
  const url = apiUrl.replace(/\/+$/, '') + path
  if (!body) return { method: 'GET', url, headers }
  return {
    method: 'POST',
    url,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
}
