import type * as z from 'zod'
import { platform } from '../../../connect/index.ts'
import type { Probe, ProbeAnswer, RecordsCheck } from '../../tools.ts'
import type { Comparisons } from './comparisons.ts'
import { challengeOf, describeFields, fieldsOf, limitHeadersOf, nameOf, typeOf } from './shape.ts'

const { paging } = platform
const NO_ANSWER = 'no usable answer. Run the check again'

/** Notes the headers of a response that report the remaining quota of the rate limit. */
export function compareLimitHeaders(comparisons: Comparisons, { headerNames }: ProbeAnswer): void {
  const found = limitHeadersOf(headerNames).map((name) => `\`${name}\``)
  comparisons.compare('rate-limit-headers', found.length === 0, found.join(', ') || 'none', true)
}

/** Compares the answer to a call with a made-up token. */
export function compareInvalidToken(comparisons: Comparisons, answer: ProbeAnswer | null): void {
  if (!answer) return void comparisons.notSeen('invalid-access-token', `There was ${NO_ANSWER}.`)
  const challenge = challengeOf(answer.header('www-authenticate'))
  const seen = `${answer.status}, ${challenge ? `\`WWW-Authenticate: ${challenge}\`` : 'without `WWW-Authenticate`'}`
  const isAsAssumed = answer.status === 401 && /^Bearer\b/i.test(challenge ?? '')
  comparisons.compare('invalid-access-token', isAsAssumed, seen, answer.status === 401)
}

/** Compares the answer to a call with a token that lacks the scope. */
export function compareMissingScope(comparisons: Comparisons, answer: ProbeAnswer, scope: string): void {
  const [, named = ''] = /\bscope="([^"]*)"/.exec(answer.header('www-authenticate') ?? '') ?? []
  const isNamed = named.split(' ').includes(scope)
  const seen = `${answer.status}, ${isNamed ? 'the scope is named' : 'the scope is not named'}`
  const isRefused = answer.status === 403
  comparisons.compare('insufficient-scope', isRefused && isNamed, seen, isRefused)
}

type Records = Pick<Probe, 'call' | 'checkFields'>

/** See `Probe.checkRecords`. */
export async function checkRecords(
  comparisons: Comparisons,
  probe: Records,
  check: RecordsCheck,
): Promise<string | undefined> {
  const { path, scope, operations, fields, paged } = check
  const all = await probe.call(
    paged ? `${path}?${paging.top}=25&${paging.skip}=0&${paging.count}=true` : path,
  )
  const notSeen = (how: string) => {
    for (const id of [operations, fields, 'ids']) comparisons.notSeen(id, how)
    return undefined
  }
  if (!all) return notSeen(`GET ${path}: ${NO_ANSWER}.`)
  if (all.status === 403) {
    compareMissingScope(comparisons, all, scope)
    return notSeen(`The consent does not include the scope \`${scope}\`.`)
  }
  if (all.status !== 200) {
    comparisons.differ(operations, `GET ${path}: ${all.status}`, false)
    return undefined
  }
  const records = recordsOf(comparisons, all, path)
  if (!records) return undefined
  if (paged) await checkPaging(comparisons, probe, check, all, records)
  if (records.length === 0)
    return notSeen(`GET ${path} has no records: give consent for an account that has some.`)
  probe.checkFields(fields, check.schema, records)
  return checkRecord(comparisons, probe, check, records[0])
}

/** See `Probe.recordsOf`. */
export function recordsOf(
  comparisons: Comparisons,
  { json }: ProbeAnswer,
  path: string,
): unknown[] | undefined {
  const list = listOf(json)
  if (!list) {
    const what = json === undefined ? 'not JSON' : `a JSON ${typeOf(json)} without a list`
    comparisons.differ('list-form', `GET ${path}: ${what}`, false)
    return undefined
  }
  const { wrapper } = list
  const seen = wrapper === undefined ? 'a JSON array' : `an object with the list in \`${nameOf(wrapper)}\``
  comparisons.compare('list-form', wrapper === undefined, seen, false)
  return list.records
}

async function checkRecord(
  comparisons: Comparisons,
  probe: Records,
  { path, record, idField, operations, schema, fields }: RecordsCheck,
  first: unknown,
): Promise<string | undefined> {
  const id: unknown = Object(first)[idField]
  if (typeof id !== 'string' && typeof id !== 'number') {
    const what = id === undefined ? 'absent' : `a ${typeOf(id)}`
    comparisons.differ('ids', `\`${idField}\` of ${path} is ${what}`, false)
    return undefined
  }
  const isPlain = !/[/\\]|\.\./.test(String(id))
  const form = isPlain ? `${typeof id}s` : 'with a slash, a backslash or two dots'
  comparisons.compare('ids', typeof id === 'string' && isPlain, form, isPlain)
  const place = `GET ${path}/{id}`
  const one = await probe.call(record(String(id)))
  if (!one) comparisons.notSeen(operations, `${place}: ${NO_ANSWER}.`)
  else if (one.status !== 200) comparisons.differ(operations, `${place}: ${one.status}`, false)
  else {
    comparisons.confirm(operations, `GET ${path} and ${place}: 200`)
    probe.checkFields(fields, schema, [one.json])
  }
  const missing = await probe.call(record('probe-no-such-record'))
  if (!missing) comparisons.notSeen('not-found', `${place}: ${NO_ANSWER}.`)
  else comparisons.compare('not-found', missing.status === 404, `${place}: ${missing.status}`, false)
  return String(id)
}

async function checkPaging(
  comparisons: Comparisons,
  probe: Records,
  { path, idField }: RecordsCheck,
  all: ProbeAnswer,
  records: readonly unknown[],
): Promise<void> {
  compareTotal(comparisons, all)
  if (records.length < 2) {
    const how = `GET ${path} has fewer than two records: give consent for an account that has more.`
    for (const id of ['list-page', 'list-order']) comparisons.notSeen(id, how)
    return
  }
  const idsIn = (list: readonly unknown[]): unknown[] => list.map((record) => Object(record)[idField])
  const idsOf = async (query: string) => {
    const answer = await probe.call(`${path}?${query}`)
    const list = answer?.status === 200 ? listOf(answer.json) : undefined
    return list && idsIn(list.records)
  }
  const [first, second] = idsIn(records)
  const one = await idsOf(`${paging.top}=1`)
  const two = await idsOf(`${paging.top}=1&${paging.skip}=1`)
  const differs = (what: string) => comparisons.differ('list-page', `GET ${path}: ${what}`, false)
  if (!one || !two) differs(`\`${paging.top}\` or \`${paging.skip}\` is refused`)
  else if (one.length !== 1) differs(`\`${paging.top}=1\` brought ${one.length} records`)
  else if (one[0] !== first || two[0] !== second)
    differs(`\`${paging.skip}=1\` did not bring the second record`)
  else comparisons.confirm('list-page', `\`${paging.top}\` and \`${paging.skip}\``)
  const ascending = await idsOf(`${paging.orderBy}=${idField}%20asc`)
  const descending = await idsOf(`${paging.orderBy}=${idField}%20desc`)
  const isAnswered = ascending !== undefined && descending !== undefined
  const isOrdered = isAnswered && isSorted(ascending) && isSorted(descending.toReversed())
  const problem = isOrdered ? '' : isAnswered ? ' does not sort' : ' is refused'
  comparisons.compare('list-order', isOrdered, `GET ${path}: \`${paging.orderBy}\`${problem}`, true)
}

/** Whether ids ascend, in any of the usual orders: by code unit, by language, or by number. */
function isSorted(ids: readonly unknown[]): boolean {
  const orders: ((one: string, other: string) => number)[] = [
    (one, other) => (one < other ? -1 : one > other ? 1 : 0),
    (one, other) => one.localeCompare(other),
    (one, other) => one.localeCompare(other, undefined, { numeric: true }),
  ]
  const texts = ids.map(String)
  return orders.some((compare) =>
    texts.every((text, index) => index === 0 || compare(texts[index - 1] ?? '', text) <= 0),
  )
}

function compareTotal(comparisons: Comparisons, { header, json }: ProbeAnswer): void {
  const total = header(paging.totalHeader)
  const name = `\`${paging.totalHeader}\``
  if (total !== undefined && /^\d+$/.test(total)) return void comparisons.confirm('list-total', name)
  const fields = Array.isArray(json) ? [] : Object.entries(Object(json))
  const numbers = fields.filter(([, value]) => typeof value === 'number').map(([field]) => nameOf(field))
  const beside = numbers.length > 0 ? `; numbers beside the list: \`${numbers.join('`, `')}\`` : ''
  const what = total === undefined ? `no ${name}` : `${name} is not a number`
  comparisons.differ('list-total', what + beside, true)
}

interface List {
  records: unknown[]
  /** The field of an object that has the list. */
  wrapper: string | undefined
}

/** The records of an answer, also if they are inside an object: there, records are objects. */
export function listOf(json: unknown): List | undefined {
  if (Array.isArray(json)) return { records: json, wrapper: undefined }
  if (typeof json !== 'object' || json === null) return undefined
  const lists = Object.entries(json).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))
  const [wrapper, records] = lists.find(([, entries]) => typeof entries[0] === 'object') ?? lists[0] ?? []
  return records && { records, wrapper }
}

/** See `Probe.checkFields`. */
export function checkFields(
  comparisons: Comparisons,
  id: string,
  schema: z.ZodObject,
  records: readonly unknown[],
): void {
  const fields = fieldsOf(records)
  const known = Object.keys(schema.shape)
  const others = Object.fromEntries(Object.entries(fields).filter(([name]) => !known.includes(name)))
  const missing = known.filter((name) => !(name in fields))
  const issues = records.flatMap((record) => schema.safeParse(record).error?.issues ?? [])
  const wrong = new Set(issues.map(({ path: [name] }) => String(name)).filter((name) => name in fields))
  const otherTypes = Object.fromEntries([...wrong].map((name) => [name, fields[name] ?? '']))
  const problems = [
    wrong.size > 0 && `other types: ${describeFields(otherTypes)}`,
    Object.keys(others).length > 0 && `further fields: ${describeFields(others)}`,
    missing.length > 0 && `no ${missing.map((name) => `\`${name}\``).join(', ')}`,
  ].filter((text) => text !== false)
  const seen = problems.join('; ') || describeFields(fields)
  comparisons.compare(id, problems.length === 0, seen, issues.length === 0)
}
