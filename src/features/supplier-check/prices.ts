import { PATHS } from '../../supplier-api/contract.ts'
import { type Exchange, isRecord } from './exchange.ts'
import { arrayOf, RuleViolationError, remember, type Subject, UNKNOWN_ID, withToken } from './rule.ts'
import { findStores, knownStore } from './stores.ts'

/** A line of a price request. */
export interface Line {
  itemId: string
  storeId: string | number
  quantity: number
}

/** A JSON object that answers a line. */
export type PriceJson = Record<string, unknown>

/** A line with its answer. */
export interface AnsweredLine {
  line: Line
  answer: PriceJson
  exchange: Exchange
}

/** A price request that succeeded. */
export interface Answered {
  exchange: Exchange
  /** In the order of the request. */
  answers: AnsweredLine[]
}

/** What is needed where no item is known. */
export const NO_ITEMS = 'no item is known; name items that have a price with --item CODE'

export const lineOf = (itemId: string, storeId: string | number, quantity: number): Line => ({
  itemId,
  storeId,
  quantity,
})

/** The amounts of a line, by their names in the specification (2.4). */
export const AMOUNTS = ['unitPrice', 'discount', 'totalPrice'] as const

export const isAmount = (name: string) => AMOUNTS.some((amount) => amount === name)

/** The first amount of an answer that is neither a number nor null. */
export const brokenAmount = (answer: PriceJson) =>
  AMOUNTS.find((name) => (answer[name] ?? null) !== null && !Number.isFinite(answer[name]))

/** A line for each item, each item once. */
export const linesOf = (items: readonly string[], storeId: string | number, quantity: number): Line[] =>
  [...new Set(items)].map((itemId) => lineOf(itemId, storeId, quantity))

/** Every price request so far, with its lines. */
const priceRequests = remember(
  async (_subject: Subject): Promise<{ lines: readonly Line[]; exchange: Exchange }[]> => [],
)

/** Requests prices. `memberNumber` undefined: without the field. */
export async function requestPrices(
  subject: Subject,
  items: readonly Line[],
  memberNumber?: string | null,
): Promise<Exchange> {
  const body = { ...(memberNumber !== undefined && { memberNumber }), items }
  const exchange = await withToken(subject, PATHS.prices, body)
  const requests = await priceRequests(subject)
  requests.push({ lines: items, exchange })
  return exchange
}

/** Every line that was answered so far, in requests that succeeded with one element for each line. */
export async function allAnswered(subject: Subject): Promise<AnsweredLine[]> {
  return (await priceRequests(subject)).flatMap(({ lines, exchange }) => {
    const { json } = exchange
    if (exchange.status !== 200 || !Array.isArray(json) || json.length !== lines.length) return []
    return json.every(isRecord) ? pair(lines, json, exchange) : []
  })
}

/** Requests prices in the way that is known to work: with the member number only if it is needed. */
export async function requestAsUsual(subject: Subject, lines: readonly Line[]): Promise<Exchange> {
  const { memberNumber } = await baseRequest(subject)
  return requestPrices(subject, lines, memberNumber)
}

/**
 * Requests prices in this way. Throws `RuleViolationError` if the call does not succeed with one answer for each line.
 * `when`: the request, as the subject of the message.
 */
export const ask = async (subject: Subject, lines: readonly Line[], when: string): Promise<Answered> =>
  answered(lines, await requestAsUsual(subject, lines), when)

/** Pairs each line with its answer. Throws `RuleViolationError` if there are more or fewer. */
export function answered(lines: readonly Line[], exchange: Exchange, when: string): Answered {
  const answers = arrayOf(exchange, when)
  const broken = answers.findIndex((answer) => !isRecord(answer))
  if (broken >= 0) throw new RuleViolationError(`Element ${broken + 1} is not an object.`, exchange)
  if (answers.length !== lines.length)
    throw new RuleViolationError(
      `${when} with ${lines.length} lines returned ${answers.length} elements.`,
      exchange,
    )
  return { exchange, answers: pair(lines, answers as PriceJson[], exchange) }
}

/** The lines of each request with their answers: several rules read those of a request with a thousand lines. */
const pairs = new WeakMap<Exchange, AnsweredLine[]>()

/** Pairs lines and answers by what the answers repeat of the lines, under any name, or else by their order. */
function pair(lines: readonly Line[], answers: readonly PriceJson[], exchange: Exchange): AnsweredLine[] {
  const known = pairs.get(exchange)
  if (known) return known
  const left = [...answers]
  const repeated = lines.flatMap((line) => {
    const exact = left.findIndex((answer) => mentions(answer, line))
    const index = exact < 0 ? left.findIndex((answer) => mentions(answer, { itemId: line.itemId })) : exact
    return left.splice(index < 0 ? left.length : index, 1).map((answer) => ({ line, answer, exchange }))
  })
  const inOrder = () => lines.map((line, index) => ({ line, answer: answers[index] ?? {}, exchange }))
  const found = repeated.length === lines.length ? repeated : inOrder()
  pairs.set(exchange, found)
  return found
}

/** Whether an answer has these values, as texts or numbers: under their names or, if it lacks a name, under any. */
function mentions(answer: PriceJson, line: Partial<Line>): boolean {
  const values = Object.entries(line)
  if (values.every(([name]) => name in answer))
    return values.every(([name, value]) => String(answer[name]) === String(value))
  const own = Object.entries(answer).flatMap(([name, value]) => (isAmount(name) ? [] : [String(value)]))
  return values.every(([, value]) => own.includes(String(value)))
}

/** Whether an answer repeats the item, store and quantity of a line. */
export const repeats = (answer: PriceJson, line: Line) =>
  answer.itemId === line.itemId && answer.storeId === line.storeId && answer.quantity === line.quantity

/** Whether an answer has a price: a unit price and a total. */
export const isPriced = ({ unitPrice, totalPrice }: PriceJson) =>
  Number.isFinite(unitPrice) && Number.isFinite(totalPrice)

/** How many stores to try for one that sells the items. */
const MAX_STORES = 5

/** The store of price requests: the one that `--store` names, or the first that has a price for all items. */
export const priceStore = remember(async (subject: Subject): Promise<string | number> => {
  const first = await knownStore(subject)
  if (subject.storeId !== undefined || subject.items.length === 0) return first
  const { stores } = await findStores(subject)
  for (const { id } of stores.slice(0, MAX_STORES)) {
    const { json } = await requestPrices(subject, linesOf(subject.items, id, 1))
    const isSelling = Array.isArray(json) && json.every((answer) => isRecord(answer) && isPriced(answer))
    if (isSelling) return id
  }
  return first
})

/** The first request: one of each item without a member number, and if that is refused, with one. */
export const baseRequest = remember(async (subject: Subject) => {
  const storeId = subject.items.length > 0 ? await priceStore(subject) : UNKNOWN_ID
  const lines = linesOf(subject.items, storeId, 1)
  const without = await requestPrices(subject, lines)
  const { memberNumber } = subject
  if (memberNumber === undefined || without.status < 400 || without.status >= 500)
    return { lines, exchange: without, without }
  const exchange = await requestPrices(subject, lines, memberNumber)
  return exchange.status === 200
    ? { lines, exchange, without, memberNumber }
    : { lines, exchange: without, without }
})

/** The answers to the first request. */
export async function baseAnswers(subject: Subject): Promise<Answered> {
  const { lines, exchange } = await baseRequest(subject)
  return answered(lines, exchange, 'A price request')
}

/** The store of price requests; one that does not exist if none is known, and an item is not needed. */
export const storeOrUnknown = (subject: Subject): Promise<string | number> =>
  priceStore(subject).catch(() => UNKNOWN_ID)

/** The code of an item that does not exist; of digits only, if the codes of all items are. */
export function unknownItem({ items }: Subject, index: number): string {
  const isNumeric = items.length > 0 && items.every((code) => /^\d+$/.test(code))
  return isNumeric ? `${900 + ((index * 7) % 100)}8765${index}` : `${'mzak'[index % 4]}${index}-${UNKNOWN_ID}`
}

const ECHO: readonly string[] = ['itemId', 'storeId', 'quantity', ...AMOUNTS]
const ERROR_NAME = /err|code|status|reason|message|fault|problem|result|success|valid|avail|priced/i

/** What an answer says at any depth besides prices and its line: names, with their values if they may tell an error. */
function detailsOf(json: unknown, line: Line, path = ''): string[] {
  if (isRecord(json) || Array.isArray(json))
    return Object.entries(json).flatMap(([name, value]) =>
      path === '' && ECHO.includes(name) ? [] : detailsOf(value, line, `${path}.${name}`),
    )
  if (json === null || json === undefined || json === '') return []
  if ([line.itemId, line.storeId].some((part) => String(part) === String(json))) return []
  // A text may be an error code that looks like the quantity.
  if (json === line.quantity || (String(line.quantity) === json && /quant|qty/i.test(path))) return []
  return [ERROR_NAME.test(path) ? `${path}=${json}` : path]
}

/** What answers with a price say besides prices and their lines. */
export const usualDetails = (answers: readonly AnsweredLine[]): ReadonlySet<string> =>
  new Set(answers.flatMap(({ answer, line }) => (isPriced(answer) ? detailsOf(answer, line) : [])))

/** Whether an answer carries an error under any name: something that answers with prices do not say. */
export const carriesError = ({ line, answer }: AnsweredLine, usual: ReadonlySet<string>): boolean =>
  detailsOf(answer, line).some((detail) => !usual.has(detail))

/** Whether an answer says that its line cannot be priced: it has no price, or carries an error. */
export const isUnpriced = (pairOf: AnsweredLine, usual: ReadonlySet<string>) =>
  !isPriced(pairOf.answer) || carriesError(pairOf, usual)
