/** How lists and records of the API are compared with the assumptions about them. */
import type * as z from 'zod'
import { platform } from '../../../connect/index.ts'
import type { Creation, Probe, ProbeAnswer, RecordsCheck } from '../../../web/kit.ts'
import { describeFields, fieldsOf, listOf, nameOf, typeOf } from './shape.ts'

const { paging } = platform

const withoutScope = (scope: string) => `The consent does not include the scope \`${scope}\`.`

export async function checkRecords(probe: Probe, check: RecordsCheck): Promise<string | undefined> {
  const { path, scope, operations, fields, paged } = check
  const query = paged ? `?${paging.top}=25&${paging.skip}=0&${paging.count}=true` : ''
  const all = await probe.call(path + query)
  const notSeen = (how: string) => {
    for (const id of [operations, fields, 'ids']) probe.notSeen(id, how)
    return undefined
  }
  if (all.status === 403) {
    compareMissingScope(probe, all, scope)
    return notSeen(withoutScope(scope))
  }
  if (all.status !== 200) return void probe.differ(operations, `GET ${path}: ${all.status}`, false)
  const records = probe.recordsOf(all, path)
  if (!records) return undefined
  if (paged) {
    compareTotal(probe, all)
    await checkPaging(probe, check, records)
    await checkFilter(probe, path, records)
  }
  if (records.length === 0)
    return notSeen(`GET ${path} has no records: give consent for an account that has some.`)
  probe.checkFields(fields, check.schema, records)
  return checkRecord(probe, check, records[0])
}

export async function checkCreation<T>(probe: Probe, creation: Creation<T>): Promise<T | undefined> {
  const { id, scope, path, shownPath = path, body, schema } = creation
  const notSeen = (how: string) => void probe.notSeen(id, how)
  if (!probe.write) return notSeen('Run the doctor with `--consent --write`.')
  const answer = await probe.call(path, body)
  if (answer.status === 403) return notSeen(withoutScope(scope))
  const parsed = answer.status < 300 ? schema.safeParse(answer.json) : undefined
  const seen = `POST ${shownPath}: ${answer.status}${parsed?.success === false ? ', with another answer' : ''}`
  probe.compare(id, parsed?.success === true, seen, false)
  return parsed?.data
}

export function recordsOf(probe: Probe, { json }: ProbeAnswer, path: string): unknown[] | undefined {
  const list = listOf(json)
  if (!list) {
    const what = json === undefined ? 'not JSON' : `a JSON ${typeOf(json)} without a list`
    return void probe.differ('list-form', `GET ${path}: ${what}`, false)
  }
  const { wrapper } = list
  const seen = wrapper === undefined ? 'a JSON array' : `an object with the list in \`${nameOf(wrapper)}\``
  probe.compare('list-form', wrapper === undefined, seen, false)
  return list.records
}

export function checkFields(
  probe: Probe,
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
  probe.compare(id, problems.length === 0, seen, issues.length === 0)
}

async function checkRecord(
  probe: Probe,
  { path, record, idField, operations, schema, fields }: RecordsCheck,
  first: unknown,
): Promise<string | undefined> {
  const id: unknown = Object(first)[idField]
  if (typeof id !== 'string' && typeof id !== 'number') {
    const what = id === undefined ? 'absent' : `a ${typeOf(id)}`
    return void probe.differ('ids', `\`${idField}\` of ${path} is ${what}`, false)
  }
  const isPlain = !/[/\\]|\.\./.test(String(id))
  const form = isPlain ? `${typeof id}s` : 'with a slash, a backslash or two dots'
  probe.compare('ids', typeof id === 'string' && isPlain, form, isPlain)
  const place = `GET ${path}/{id}`
  const one = await probe.call(record(String(id)))
  if (one.status !== 200) probe.differ(operations, `${place}: ${one.status}`, false)
  else {
    probe.confirm(operations, `GET ${path} and ${place}: 200`)
    probe.checkFields(fields, schema, [one.json])
  }
  const missing = await probe.call(record('probe-no-such-record'))
  probe.compare('not-found', missing.status === 404, `${place}: ${missing.status}`, false)
  return String(id)
}

/** Searches for the name of the first record, as users do. */
async function checkFilter(probe: Probe, path: string, records: readonly unknown[]): Promise<void> {
  const name: unknown = Object(records[0]).name
  if (typeof name !== 'string')
    return probe.notSeen('list-filter', `GET ${path} has no record with a \`name\`.`)
  const { filter, all, contains, equals } = paging
  const condition = all([contains('name', name), equals('name', name)])
  const answer = await probe.call(`${path}?${filter}=${encodeURIComponent(condition)}`)
  const found = answer.status === 200 ? listOf(answer.json)?.records : undefined
  const isFiltered = found?.length !== 0 && found?.every((record) => Object(record).name === name) === true
  const problem = isFiltered ? '' : found ? ' does not filter' : ' is refused'
  probe.compare('list-filter', isFiltered, `GET ${path}: \`${filter}\`${problem}`, true)
}

async function checkPaging(
  probe: Probe,
  { path, idField }: RecordsCheck,
  records: readonly unknown[],
): Promise<void> {
  if (records.length < 2) {
    const how = `GET ${path} has fewer than two records: give consent for an account that has more.`
    for (const id of ['list-page', 'list-order']) probe.notSeen(id, how)
    return
  }
  const idsIn = (list: readonly unknown[]): unknown[] => list.map((record) => Object(record)[idField])
  const idsOf = async (query: string) => {
    const answer = await probe.call(`${path}?${query}`)
    const list = answer.status === 200 ? listOf(answer.json) : undefined
    return list && idsIn(list.records)
  }
  const [first, second] = idsIn(records)
  const one = await idsOf(`${paging.top}=1`)
  const two = await idsOf(`${paging.top}=1&${paging.skip}=1`)
  const differs = (what: string) => probe.differ('list-page', `GET ${path}: ${what}`, false)
  if (!one || !two) differs(`\`${paging.top}\` or \`${paging.skip}\` is refused`)
  else if (one.length !== 1) differs(`\`${paging.top}=1\` brought ${one.length} records`)
  else if (one[0] !== first || two[0] !== second)
    differs(`\`${paging.skip}=1\` did not bring the second record`)
  else probe.confirm('list-page', `\`${paging.top}\` and \`${paging.skip}\``)
  const ascending = await idsOf(`${paging.orderBy}=${idField}%20asc`)
  const descending = await idsOf(`${paging.orderBy}=${idField}%20desc`)
  const isAnswered = ascending !== undefined && descending !== undefined
  // The platform decides how it sorts texts, so it is enough that the two orders differ.
  const isOrdered = isAnswered && ascending[0] !== descending[0]
  const problem = isOrdered ? '' : isAnswered ? ' does not sort' : ' is refused'
  probe.compare('list-order', isOrdered, `GET ${path}: \`${paging.orderBy}\`${problem}`, true)
}

/** Compares the answer to a call with a token that lacks the scope. */
function compareMissingScope(probe: Probe, answer: ProbeAnswer, scope: string): void {
  const [, named = ''] = /\bscope="([^"]*)"/.exec(answer.header('www-authenticate') ?? '') ?? []
  const isNamed = named.split(' ').includes(scope)
  const seen = `${answer.status}, ${isNamed ? 'the scope is named' : 'the scope is not named'}`
  probe.compare('insufficient-scope', isNamed, seen, true)
}

function compareTotal(probe: Probe, { header }: ProbeAnswer): void {
  const total = header(paging.totalHeader)
  const name = `\`${paging.totalHeader}\``
  const isNumber = total !== undefined && /^\d+$/.test(total)
  const seen = isNumber ? name : total === undefined ? `no ${name}` : `${name} is not a number`
  probe.compare('list-total', isNumber, seen, true)
}
