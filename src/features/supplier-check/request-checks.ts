import { PATHS } from '../../supplier-api/contract.ts'
import type { Exchange } from './exchange.ts'
import { changedPrice, mixedRequest, usualDetailsOf } from './line-error-checks.ts'
import {
  ask,
  baseRequest,
  isPriced,
  isUnpriced,
  type Line,
  lineOf,
  linesOf,
  priceStore,
  repeats,
  requestAsUsual,
  unknownItem,
} from './prices.ts'
import {
  arrayOf,
  type Checks,
  demand,
  judge,
  judgeEach,
  RuleViolationError,
  remember,
  type Subject,
  withToken,
} from './rule.ts'
import { findStores, unknownLike } from './stores.ts'
import { expectTotals } from './total-checks.ts'

/** How often lines are requested before one is said to be wrong: prices may change (specification 1.7). */
const ROUNDS = 3

/** What `find` finds the last time; undefined once it finds nothing. */
async function foundEachTime<T>(find: () => Promise<T | undefined>): Promise<T | undefined> {
  let found: T | undefined
  for (let round = 0; round < ROUNDS; round++) {
    found = await find()
    if (found === undefined) return undefined
  }
  return found
}

/** Requests two lines in both orders. Throws `RuleViolationError` if one is answered for the store of the other. */
async function expectTwoStores(subject: Subject): Promise<Exchange> {
  const [code = ''] = subject.items
  const store = await priceStore(subject)
  const line = lineOf(code, store, 1)
  const elsewhere = lineOf(code, unknownLike(store), 1)
  const usual = await usualDetailsOf(subject)
  let { exchange: last } = await baseRequest(subject)
  for (const lines of [
    [line, elsewhere],
    [elsewhere, line],
  ]) {
    // A line may have no price for a moment.
    const wrong = await foundEachTime(async () => {
      const { exchange, answers } = await ask(subject, lines, 'A price request for one item at two stores')
      last = exchange
      return answers.find((one) => (one.line === line) === isUnpriced(one, usual))
    })
    if (!wrong) continue
    const [what, other] = wrong.line === line ? ['no price', elsewhere] : ['a price', line]
    throw new RuleViolationError(
      `The line for item ${code} at store ${wrong.line.storeId} has ${what} beside a line for store ${other.storeId}, which does not change it.`,
      last,
    )
  }
  return last
}

/** How many stores are compared with that of the price requests. */
const OTHER_STORES = 4

/** Compares other stores with that of the price requests. Throws `RuleViolationError` if their prices are wrong. */
async function expectOtherStores(subject: Subject): Promise<Exchange> {
  const [code = ''] = subject.items
  const store = await priceStore(subject)
  const others = (await findStores(subject)).stores.filter(({ id }) => String(id) !== String(store))
  let { exchange: last } = await baseRequest(subject)
  for (const { id } of others.slice(0, OTHER_STORES)) {
    const { exchange, answers } = await ask(
      subject,
      [lineOf(code, id, 3)],
      'A price request for another store',
    )
    last = exchange
    if (!answers.some(({ answer }) => isPriced(answer))) continue
    expectTotals(answers)
    await expectOwnPrices(subject, [lineOf(code, store, 1), lineOf(code, id, 1)])
  }
  return last
}

/**
 * Requests two lines alone and together, in both orders. Throws `RuleViolationError` if one of them has the price of the other
 * each time, which it never has alone.
 */
async function expectOwnPrices(subject: Subject, lines: readonly [Line, Line]): Promise<void> {
  const [first, second] = await pricesAlone(subject, lines)
  if (first === second) return
  for (const together of [lines, lines.toReversed()]) {
    const wrong = await foundEachTime(async () => {
      const { answers } = await ask(subject, together, 'A price request for one item at two stores')
      const swapped = answers.find(
        ({ line, answer }) => answer.unitPrice === (line === lines[0] ? second : first),
      )
      if (!swapped) return undefined
      const again = await pricesAlone(subject, lines)
      return again[0] === first && again[1] === second ? swapped : undefined
    })
    if (wrong)
      throw new RuleViolationError(
        `The line for item ${wrong.line.itemId} at store ${wrong.line.storeId} has the price of the other store beside a line for that store.`,
        wrong.exchange,
      )
  }
}

/** The unit prices of two lines in requests of their own; undefined if a price changes with each request. */
async function pricesAlone(subject: Subject, [one, other]: readonly [Line, Line]) {
  const priceOf = async (line: Line) =>
    (await ask(subject, [line], 'A price request with one line')).answers[0]?.answer.unitPrice
  const price = await priceOf(one)
  return (await priceOf(one)) === price ? [price, await priceOf(other)] : [undefined, undefined]
}

const MANY = 150
/** What a supplier that limits the lines of a request may accept. */
const FEWER = [100, 50, 20, 10]

/** This many items that do not exist, and at the end those that have a price. */
async function linesAfter(subject: Subject, count: number): Promise<Line[]> {
  const store = await priceStore(subject)
  const unknown = Array.from({ length: count }, (_, index) => lineOf(unknownItem(subject, index), store, 1))
  return [...unknown, ...linesOf(subject.items, store, 1)]
}

/** The request for many lines, which may be refused. */
const manyRequest = remember(async (subject: Subject) => {
  const lines = await linesAfter(subject, MANY)
  return { lines, exchange: await requestAsUsual(subject, lines) }
})

const isTooMany = ({ status }: Exchange) => status >= 400 && status < 500 && status !== 429

/** More than a hundred lines, or as many as the supplier accepts. */
export const manyLines = remember(async (subject: Subject): Promise<Line[]> => {
  const most = await manyRequest(subject)
  if (!isTooMany(most.exchange)) return most.lines
  for (const count of FEWER) {
    const lines = await linesAfter(subject, count)
    if (!isTooMany(await requestAsUsual(subject, lines))) return lines
  }
  return linesAfter(subject, 0)
})

/** Lines for one item at one store. */
export async function sameItem(subject: Subject) {
  const store = await priceStore(subject)
  const [code = ''] = subject.items
  const lines = [2, 3, 2].map((quantity) => lineOf(code, store, quantity))
  return ask(subject, lines, 'A price request for the same item')
}

/** The line of an item that has another price after many lines; none if there is no such line. */
async function changedAfterMany(subject: Subject) {
  const lines = await manyLines(subject)
  const { exchange, answers } = await ask(subject, lines, 'A price request')
  const others = lines.length - subject.items.length
  return { exchange, others, changed: await changedPrice(subject, answers) }
}

/** The lines of a price request (specification 4.1). */
export const REQUEST_CHECKS: Checks = {
  'prices.echo': judgeEach(
    mixedRequest,
    ({ line, answer }) =>
      !repeats(answer, line) &&
      `No element repeats the line for item ${line.itemId}: its itemId, storeId and quantity.`,
  ),
  'prices.order': judge(mixedRequest, ({ exchange, answers }) => {
    const elements = arrayOf(exchange, 'A price request')
    const moved = answers.findIndex(({ answer }, index) => elements[index] !== answer)
    return moved >= 0 && `Element ${moved + 1} does not belong to line ${moved + 1}.`
  }),
  'prices.duplicates': judgeEach(
    sameItem,
    ({ answer }) => !isPriced(answer) && 'A line has no price because its item occurs more than once.',
  ),
  'prices.two-stores': expectTwoStores,
  'prices.other-stores': expectOtherStores,
  'prices.line-limit': demand(async (subject) => {
    const { lines, exchange } = await manyRequest(subject)
    return [[`A price request with ${lines.length} lines`, 200, async () => exchange]]
  }),
  'prices.many': judge(
    changedAfterMany,
    ({ changed, others }) =>
      changed && `Item ${changed.line.itemId} has no price or another one after ${others} other lines.`,
  ),
  'prices.empty': judge(
    async (subject) => ({ exchange: await requestAsUsual(subject, []) }),
    ({ exchange }) =>
      arrayOf(exchange, 'A price request without lines').length > 0 &&
      'The answer to a request without lines is not empty.',
  ),
  'prices.input': demand((subject) =>
    ['{"items":', '{}', '{"items":7}', '[]'].map((body) => [
      `The body ${body}`,
      400,
      () => withToken(subject, PATHS.prices, body),
    ]),
  ),
}
