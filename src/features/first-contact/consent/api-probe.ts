import type * as z from 'zod'
import { type Http, platform } from '../../../connect/index.ts'
import type { Creation, Probe, ProbeAnswer, ReceivedRequest, RecordsCheck } from '../../../web/kit.ts'
import type { Comparisons } from './comparisons.ts'
import { apiRequest, type Grant, type Round, sendOrNull } from './round.ts'
import { challengeOf, describeFields, fieldsOf, limitHeadersOf, listOf, nameOf, typeOf } from './shape.ts'

const { paging } = platform
const NO_ANSWER = 'no usable answer. Run the check again'
/** An access token that was never issued, to see how the API refuses it. */
const MADE_UP_TOKEN = 'probe-made-up-token'

export interface ApiProbeOptions {
  /** Whether to create records, named as a test. */
  write: boolean
  received: readonly ReceivedRequest[]
}

/** What the probes of the features use: calls of the API with the grant, and comparisons that they have in common. */
export class ApiProbe implements Probe {
  readonly http: Http
  readonly apiUrl: string
  readonly write: boolean
  readonly received: readonly ReceivedRequest[]
  /** A list that was read. */
  #path: string | undefined
  readonly #round: Round
  readonly #grant: Grant
  readonly #comparisons: Comparisons

  constructor(round: Round, grant: Grant, { write, received }: ApiProbeOptions) {
    this.http = round.target.client.http
    this.apiUrl = round.target.apiUrl
    this.write = write
    this.received = received
    this.#round = round
    this.#grant = grant
    this.#comparisons = round.comparisons
  }

  confirm(id: string, seen: string): void {
    this.#comparisons.confirm(id, seen)
  }

  differ(id: string, seen: string, copes: boolean): void {
    this.#comparisons.differ(id, seen, copes)
  }

  notSeen(id: string, how: string): void {
    this.#comparisons.notSeen(id, how)
  }

  async call(path: string, body?: object): Promise<ProbeAnswer | null> {
    const { target } = this.#round
    const answer = await sendOrNull(target.client, apiRequest(target, path, this.#grant.accessToken, body))
    if (!answer) return null
    const found = limitHeadersOf(answer).map((name) => `\`${name}\``)
    this.#comparisons.compare('rate-limit-headers', found.length === 0, found.join(', ') || 'none', true)
    if (answer.status < 300 && answer.json !== undefined) this.confirm('api-address', 'calls succeed')
    if (answer.status === 401) this.differ('api-address', '401 to a call with a fresh token', false)
    return answer
  }

  /** Compares the answer to a call with a made-up token, once the features have read a list. */
  async checkInvalidToken(): Promise<void> {
    const { target } = this.#round
    if (this.#path === undefined) return
    const answer = await sendOrNull(target.client, apiRequest(target, this.#path, MADE_UP_TOKEN))
    if (!answer) return this.notSeen('invalid-access-token', `There was ${NO_ANSWER}.`)
    const challenge = challengeOf(answer.header('www-authenticate'))
    const seen = `${answer.status}, ${challenge ? `\`WWW-Authenticate: ${challenge}\`` : 'without `WWW-Authenticate`'}`
    const isAsAssumed = answer.status === 401 && /^Bearer\b/i.test(challenge ?? '')
    this.#comparisons.compare('invalid-access-token', isAsAssumed, seen, answer.status === 401)
  }

  async checkRecords(check: RecordsCheck): Promise<string | undefined> {
    const { path, scope, operations, fields, paged } = check
    this.#path ??= path
    const query = paged ? `?${paging.top}=25&${paging.skip}=0&${paging.count}=true` : ''
    const all = await this.call(path + query)
    const notSeen = (how: string) => {
      for (const id of [operations, fields, 'ids']) this.notSeen(id, how)
      return undefined
    }
    if (!all) return notSeen(`GET ${path}: ${NO_ANSWER}.`)
    if (all.status === 403) {
      compareMissingScope(this.#comparisons, all, scope)
      return notSeen(withoutScope(scope))
    }
    if (all.status !== 200) {
      this.differ(operations, `GET ${path}: ${all.status}`, false)
      return undefined
    }
    const records = this.recordsOf(all, path)
    if (!records) return undefined
    if (paged) await this.#checkPaging(check, all, records)
    if (paged) await this.#checkFilter(path, records)
    if (records.length === 0)
      return notSeen(`GET ${path} has no records: give consent for an account that has some.`)
    this.checkFields(fields, check.schema, records)
    return this.#checkRecord(check, records[0])
  }

  async checkCreation<T>(creation: Creation<T>): Promise<T | undefined> {
    const { id, scope, path, shownPath = path, body, schema } = creation
    const notSeen = (how: string) => void this.notSeen(id, how)
    if (!this.write) return notSeen('Run the doctor with `--consent --write`.')
    const answer = await this.call(path, body)
    if (!answer) return notSeen(`POST ${shownPath}: ${NO_ANSWER}.`)
    if (answer.status === 403) return notSeen(withoutScope(scope))
    const parsed = answer.status < 300 ? schema.safeParse(answer.json) : undefined
    const seen = `POST ${shownPath}: ${answer.status}${parsed?.success === false ? ', with another answer' : ''}`
    this.#comparisons.compare(id, parsed?.success === true, seen, false)
    return parsed?.data
  }

  recordsOf({ json }: ProbeAnswer, path: string): unknown[] | undefined {
    const list = listOf(json)
    if (!list) {
      const what = json === undefined ? 'not JSON' : `a JSON ${typeOf(json)} without a list`
      this.differ('list-form', `GET ${path}: ${what}`, false)
      return undefined
    }
    const { wrapper } = list
    const seen = wrapper === undefined ? 'a JSON array' : `an object with the list in \`${nameOf(wrapper)}\``
    this.#comparisons.compare('list-form', wrapper === undefined, seen, false)
    return list.records
  }

  checkFields(id: string, schema: z.ZodObject, records: readonly unknown[]): void {
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
    this.#comparisons.compare(id, problems.length === 0, seen, issues.length === 0)
  }

  async #checkRecord(
    { path, record, idField, operations, schema, fields }: RecordsCheck,
    first: unknown,
  ): Promise<string | undefined> {
    const id: unknown = Object(first)[idField]
    if (typeof id !== 'string' && typeof id !== 'number') {
      const what = id === undefined ? 'absent' : `a ${typeOf(id)}`
      this.differ('ids', `\`${idField}\` of ${path} is ${what}`, false)
      return undefined
    }
    const isPlain = !/[/\\]|\.\./.test(String(id))
    const form = isPlain ? `${typeof id}s` : 'with a slash, a backslash or two dots'
    this.#comparisons.compare('ids', typeof id === 'string' && isPlain, form, isPlain)
    const place = `GET ${path}/{id}`
    const one = await this.call(record(String(id)))
    if (!one) this.notSeen(operations, `${place}: ${NO_ANSWER}.`)
    else if (one.status !== 200) this.differ(operations, `${place}: ${one.status}`, false)
    else {
      this.confirm(operations, `GET ${path} and ${place}: 200`)
      this.checkFields(fields, schema, [one.json])
    }
    const missing = await this.call(record('probe-no-such-record'))
    if (!missing) this.notSeen('not-found', `${place}: ${NO_ANSWER}.`)
    else this.#comparisons.compare('not-found', missing.status === 404, `${place}: ${missing.status}`, false)
    return String(id)
  }

  /** Asks for the records that have the name of the first one, which users look for. */
  async #checkFilter(path: string, records: readonly unknown[]): Promise<void> {
    const name: unknown = Object(records[0]).name
    if (typeof name !== 'string')
      return this.notSeen('list-filter', `GET ${path} has no record with a \`name\`.`)
    const { filter, all, contains, equals } = paging
    const condition = all([contains('name', name), equals('name', name)])
    const answer = await this.call(`${path}?${filter}=${encodeURIComponent(condition)}`)
    if (!answer) return this.notSeen('list-filter', `GET ${path}: ${NO_ANSWER}.`)
    const found = answer.status === 200 ? listOf(answer.json)?.records : undefined
    const isFiltered = found?.length !== 0 && found?.every((record) => Object(record).name === name) === true
    const problem = isFiltered ? '' : found ? ' does not filter' : ' is refused'
    this.#comparisons.compare('list-filter', isFiltered, `GET ${path}: \`${filter}\`${problem}`, true)
  }

  async #checkPaging(
    { path, idField }: RecordsCheck,
    all: ProbeAnswer,
    records: readonly unknown[],
  ): Promise<void> {
    compareTotal(this.#comparisons, all)
    if (records.length < 2) {
      const how = `GET ${path} has fewer than two records: give consent for an account that has more.`
      for (const id of ['list-page', 'list-order']) this.notSeen(id, how)
      return
    }
    const idsIn = (list: readonly unknown[]): unknown[] => list.map((record) => Object(record)[idField])
    const idsOf = async (query: string) => {
      const answer = await this.call(`${path}?${query}`)
      const list = answer?.status === 200 ? listOf(answer.json) : undefined
      return list && idsIn(list.records)
    }
    const [first, second] = idsIn(records)
    const one = await idsOf(`${paging.top}=1`)
    const two = await idsOf(`${paging.top}=1&${paging.skip}=1`)
    const differs = (what: string) => this.differ('list-page', `GET ${path}: ${what}`, false)
    if (!one || !two) differs(`\`${paging.top}\` or \`${paging.skip}\` is refused`)
    else if (one.length !== 1) differs(`\`${paging.top}=1\` brought ${one.length} records`)
    else if (one[0] !== first || two[0] !== second)
      differs(`\`${paging.skip}=1\` did not bring the second record`)
    else this.confirm('list-page', `\`${paging.top}\` and \`${paging.skip}\``)
    const ascending = await idsOf(`${paging.orderBy}=${idField}%20asc`)
    const descending = await idsOf(`${paging.orderBy}=${idField}%20desc`)
    const isAnswered = ascending !== undefined && descending !== undefined
    // How texts are sorted is the platform's own business.
    const isOrdered = isAnswered && ascending[0] !== descending[0]
    const problem = isOrdered ? '' : isAnswered ? ' does not sort' : ' is refused'
    const seen = `GET ${path}: \`${paging.orderBy}\`${problem}`
    this.#comparisons.compare('list-order', isOrdered, seen, true)
  }
}

const withoutScope = (scope: string) => `The consent does not include the scope \`${scope}\`.`

/** Compares the answer to a call with a token that lacks the scope. */
function compareMissingScope(comparisons: Comparisons, answer: ProbeAnswer, scope: string): void {
  const [, named = ''] = /\bscope="([^"]*)"/.exec(answer.header('www-authenticate') ?? '') ?? []
  const isNamed = named.split(' ').includes(scope)
  const seen = `${answer.status}, ${isNamed ? 'the scope is named' : 'the scope is not named'}`
  const isRefused = answer.status === 403
  comparisons.compare('insufficient-scope', isRefused && isNamed, seen, isRefused)
}

function compareTotal(comparisons: Comparisons, { header }: ProbeAnswer): void {
  const total = header(paging.totalHeader)
  const name = `\`${paging.totalHeader}\``
  const isNumber = total !== undefined && /^\d+$/.test(total)
  const seen = isNumber ? name : total === undefined ? `no ${name}` : `${name} is not a number`
  comparisons.compare('list-total', isNumber, seen, true)
}
