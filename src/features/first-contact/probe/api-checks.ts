import type * as z from 'zod'
import { platform } from '../../../connect/index.ts'
import type { Probe, ProbeAnswer, RecordsCheck } from '../../tools.ts'
import type { Results } from './results.ts'
import { challengeOf, describeFields, fieldsOf, limitHeadersOf, nameOf, typeOf } from './shape.ts'

const { paging } = platform
const NO_ANSWER = 'no usable answer. Run the probe again'

/** Notes the headers of a response that report the remaining quota of the rate limit. */
export function checkLimitHeaders(results: Results, { headerNames }: ProbeAnswer): void {
  const found = limitHeadersOf(headerNames)
  if (found.length === 0) results.confirm('rate-limit-headers', 'none')
  else results.differ('rate-limit-headers', found.map((name) => `\`${name}\``).join(', '), true)
}

/** Checks the answer to a call with a made-up token. */
export function checkInvalidToken(results: Results, answer: ProbeAnswer | null): void {
  if (!answer) {
    results.notSeen('invalid-access-token', `There was ${NO_ANSWER}.`)
    return
  }
  const challenge = challengeOf(answer.header('www-authenticate'))
  const seen = `${answer.status}, ${challenge ? `\`WWW-Authenticate: ${challenge}\`` : 'without `WWW-Authenticate`'}`
  const isAssumed = answer.status === 401 && /^Bearer\b/i.test(challenge ?? '')
  if (isAssumed) results.confirm('invalid-access-token', seen)
  else results.differ('invalid-access-token', seen, answer.status === 401)
}

/** Checks the answer to a call with a token that lacks the scope. */
export function checkMissingScope(results: Results, answer: ProbeAnswer, scope: string): void {
  const [, named = ''] = /\bscope="([^"]*)"/.exec(answer.header('www-authenticate') ?? '') ?? []
  const isNamed = named.split(' ').includes(scope)
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
  const { path, scope, operations, fields, paged } = check
  const all = await probe.call(
    paged ? `${path}?${paging.top}=25&${paging.skip}=0&${paging.count}=true` : path,
  )
  const notSeen = (how: string) => {
    for (const id of [operations, fields, 'ids']) results.notSeen(id, how)
    return undefined
  }
  if (!all) return notSeen(`GET ${path}: ${NO_ANSWER}.`)
  if (all.status === 403) {
    checkMissingScope(results, all, scope)
    return notSeen(`The consent does not include the scope \`${scope}\`.`)
  }
  if (all.status !== 200) {
    results.differ(operations, `GET ${path}: ${all.status}`, false)
    return undefined
  }
  const records = recordsOf(results, all, path)
  if (!records) return undefined
  if (paged) await checkPaging(results, probe, check, all, records)
  if (records.length === 0)
    return notSeen(`GET ${path} has no records: give consent for an account that has some.`)
  probe.checkFields(fields, check.schema, records)
  return checkRecord(results, probe, check, Object(records[0]))
}

/** See `Probe.recordsOf`. */
export function recordsOf(results: Results, answer: ProbeAnswer, path: string): unknown[] | undefined {
  const list = listOf(answer.json)
  if (!list) {
    const what = answer.json === undefined ? 'not JSON' : `a JSON ${typeOf(answer.json)} without a list`
    results.differ('list-form', `GET ${path}: ${what}`, false)
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
    const what = id === undefined ? 'absent' : `a ${typeOf(id)}`
    results.differ('ids', `\`${idField}\` of ${path} is ${what}`, false)
    return undefined
  }
  const isPlain = !/[/\\]|\.\./.test(String(id))
  if (typeof id === 'string' && isPlain) results.confirm('ids', 'strings')
  else results.differ('ids', isPlain ? 'numbers' : 'with a slash, a backslash or two dots', isPlain)
  const place = `GET ${path}/{id}`
  const one = await probe.call(record(String(id)))
  if (!one) results.notSeen(operations, `${place}: ${NO_ANSWER}.`)
  else if (one.status === 200) results.confirm(operations, `GET ${path} and ${place}: 200`)
  else results.differ(operations, `${place}: ${one.status}`, false)
  if (one?.status === 200) probe.checkFields(fields, schema, [one.json])
  const missing = await probe.call(record('probe-no-such-record'))
  if (!missing) results.notSeen('not-found', `${place}: ${NO_ANSWER}.`)
  else if (missing.status === 404) results.confirm('not-found', '404')
  else results.differ('not-found', `${place}: ${missing.status}`, false)
  return String(id)
}

async function checkPaging(
  results: Results,
  probe: Records,
  { path, idField }: RecordsCheck,
  all: ProbeAnswer,
  records: unknown[],
): Promise<void> {
  checkTotal(results, all)
  if (records.length < 2) {
    for (const id of ['list-page', 'list-order'])
      results.notSeen(
        id,
        `GET ${path} has fewer than two records: give consent for an account that has more.`,
      )
    return
  }
  const idsOf = async (query: string) => {
    const answer = await probe.call(`${path}?${query}`)
    const list = answer?.status === 200 ? listOf(answer.json) : undefined
    return list?.records.map((record) => Object(record)[idField] as unknown)
  }
  const [first, second] = records.map((record) => Object(record)[idField] as unknown)
  const one = await idsOf(`${paging.top}=1`)
  const two = await idsOf(`${paging.top}=1&${paging.skip}=1`)
  if (!one || !two)
    results.differ('list-page', `GET ${path}: \`${paging.top}\` or \`${paging.skip}\` is refused`, false)
  else if (one.length !== 1)
    results.differ('list-page', `GET ${path}: \`${paging.top}=1\` brought ${one.length} records`, false)
  else if (one[0] !== first || two[0] !== second)
    results.differ('list-page', `GET ${path}: \`${paging.skip}=1\` did not bring the second record`, false)
  else results.confirm('list-page', `\`${paging.top}\` and \`${paging.skip}\``)
  const ascending = await idsOf(`${paging.orderBy}=${idField}%20asc`)
  const descending = await idsOf(`${paging.orderBy}=${idField}%20desc`)
  if (!ascending || !descending)
    results.differ('list-order', `GET ${path}: \`${paging.orderBy}\` is refused`, true)
  else if (isSorted(ascending) && isSorted(descending.toReversed()))
    results.confirm('list-order', `\`${paging.orderBy}\``)
  else results.differ('list-order', `GET ${path}: \`${paging.orderBy}\` does not sort`, true)
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

function checkTotal(results: Results, { header, json }: ProbeAnswer): void {
  const total = header(paging.totalHeader)
  if (total !== undefined && /^\d+$/.test(total)) {
    results.confirm('list-total', `\`${paging.totalHeader}\``)
    return
  }
  const inBody = Array.isArray(json)
    ? []
    : Object.entries(Object(json)).filter(([, value]) => typeof value === 'number')
  const numbers = inBody.map(([name]) => `\`${nameOf(name)}\``).join(', ')
  const name = `\`${paging.totalHeader}\``
  const what = total === undefined ? `no ${name}` : `${name} is not a number`
  results.differ('list-total', numbers ? `${what}; numbers beside the list: ${numbers}` : what, true)
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
  results: Results,
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
  if (problems.length === 0) results.confirm(id, describeFields(fields))
  else results.differ(id, problems.join('; '), issues.length === 0)
}
