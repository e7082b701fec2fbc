import { PATHS } from '../../supplier-api/contract.ts'
import type { Exchange } from './exchange.ts'
import { changedPrice, mixedRequest, usualDetailsOf } from './line-error-rules.ts'
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
  requestPrices,
  unknownItem,
} from './prices.ts'
import {
  arrayOf,
  expectNoLimit,
  expectStatus,
  type Rule,
  RuleViolationError,
  remember,
  type Subject,
  withToken,
} from './rule.ts'
import { findStores, unknownLike } from './stores.ts'
import { expectTotals } from './total-rules.ts'

const echo: Rule = {
  id: 'prices.echo',
  title: 'Each element repeats the itemId, storeId and quantity of its line.',
  given: undefined,
  needs: ['prices.unknown-item'],
  async check(subject) {
    const { exchange, answers } = await mixedRequest(subject)
    const wrong = answers.find(({ line, answer }) => !repeats(answer, line))
    if (!wrong) return exchange
    throw new RuleViolationError(
      `No element repeats the line for item ${wrong.line.itemId}: its itemId, storeId and quantity.`,
      exchange,
    )
  },
}

const order: Rule = {
  id: 'prices.order',
  title: 'The elements are in the order of the lines.',
  given: undefined,
  needs: ['prices.echo'],
  async check(subject) {
    const { exchange, answers } = await mixedRequest(subject)
    const elements = arrayOf(exchange, 'A price request')
    const moved = answers.findIndex(({ answer }, index) => elements[index] !== answer)
    if (moved < 0) return exchange
    throw new RuleViolationError(`Element ${moved + 1} does not belong to line ${moved + 1}.`, exchange)
  },
}

const duplicates: Rule = {
  id: 'prices.duplicates',
  title: 'Lines for the same item at the same store have an element each, with a price.',
  given: undefined,
  needs: ['prices.total'],
  async check(subject) {
    const store = await priceStore(subject)
    const [code = ''] = subject.items
    const lines = [2, 3, 2].map((quantity) => lineOf(code, store, quantity))
    const { exchange, answers } = await ask(subject, lines, 'A price request for the same item')
    if (!answers.every(({ answer }) => isPriced(answer)))
      throw new RuleViolationError('A line has no price because its item occurs more than once.', exchange)
    return exchange
  },
}

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

const twoStores: Rule = {
  id: 'prices.two-stores',
  title: 'Lines for one item at two stores are each answered for their own store.',
  given: '§4.1',
  needs: ['prices.unknown-store', 'prices.duplicates'],
  async check(subject) {
    const [code = ''] = subject.items
    const store = await priceStore(subject)
    const line = lineOf(code, store, 1)
    const elsewhere = lineOf(code, unknownLike(store), 1)
    const usual = await usualDetailsOf(subject)
    let last: Exchange | undefined
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
      const what = wrong.line === line ? 'no price' : 'a price'
      throw new RuleViolationError(
        `The line for item ${code} at store ${wrong.line.storeId} has ${what} beside a line for store ${wrong.line === line ? elsewhere.storeId : store}, which does not change it.`,
        last as Exchange,
      )
    }
    return last as Exchange
  },
}

/** How many stores are compared with that of the price requests. */
const OTHER_STORES = 4

const otherStores: Rule = {
  id: 'prices.other-stores',
  title:
    'At other stores, totals add up too, and a line beside one for another store has the price of its own.',
  given: '§2.3',
  needs: ['prices.two-stores', 'prices.one-line'],
  async check(subject) {
    const [code = ''] = subject.items
    const store = await priceStore(subject)
    const others = (await findStores(subject)).stores.filter(({ id }) => String(id) !== String(store))
    let last = (await baseRequest(subject)).exchange
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
  },
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
  const { memberNumber } = await baseRequest(subject)
  return { lines, exchange: await requestPrices(subject, lines, memberNumber) }
})

const isTooMany = ({ status }: Exchange) => status >= 400 && status < 500 && status !== 429

/** More than a hundred lines, or as many as the supplier accepts. */
export const manyLines = remember(async (subject: Subject): Promise<Line[]> => {
  const most = await manyRequest(subject)
  if (!isTooMany(most.exchange)) return most.lines
  const { memberNumber } = await baseRequest(subject)
  for (const count of FEWER) {
    const lines = await linesAfter(subject, count)
    if (!isTooMany(await requestPrices(subject, lines, memberNumber))) return lines
  }
  return linesAfter(subject, 0)
})

const lineLimit: Rule = {
  id: 'prices.line-limit',
  title: `A price request with more than ${MANY} lines is accepted.`,
  given: undefined,
  needs: ['prices.known', 'prices.unknown-item'],
  async check(subject) {
    const { lines, exchange } = await manyRequest(subject)
    expectNoLimit(exchange)
    if (exchange.status === 200) return exchange
    expectStatus(exchange, 200, `A price request with ${lines.length} lines`)
    return exchange
  },
}

const many: Rule = {
  id: 'prices.many',
  title:
    'More than 100 lines, or as many as are accepted, have an element each, and the last ones have their prices.',
  given: '§4.1',
  needs: ['prices.known', 'prices.unknown-item'],
  async check(subject) {
    const lines = await manyLines(subject)
    const { exchange, answers } = await ask(subject, lines, 'A price request')
    const changed = await changedPrice(subject, answers)
    if (!changed) return exchange
    throw new RuleViolationError(
      `Item ${changed.line.itemId} has no price or another one after ${lines.length - subject.items.length} other lines.`,
      exchange,
    )
  },
}

const empty: Rule = {
  id: 'prices.empty',
  title: 'A price request without lines returns 200 with an empty array.',
  given: undefined,
  needs: ['prices.array'],
  async check(subject) {
    const { memberNumber } = await baseRequest(subject)
    const exchange = await requestPrices(subject, [], memberNumber)
    if (arrayOf(exchange, 'A price request without lines').length === 0) return exchange
    throw new RuleViolationError('The answer to a request without lines is not empty.', exchange)
  },
}

const input: Rule = {
  id: 'prices.input',
  title: 'An invalid body returns 400.',
  given: undefined,
  needs: ['prices.array'],
  async check(subject) {
    let last: Exchange | undefined
    for (const body of ['{"items":', '{}', '{"items":7}', '[]']) {
      last = await withToken(subject, PATHS.prices, body)
      expectStatus(last, 400, `The body ${body}`)
    }
    return last as Exchange
  },
}

/** The lines of a price request (specification 4.1). */
export const REQUEST_RULES: Rule[] = [
  echo,
  order,
  duplicates,
  twoStores,
  otherStores,
  lineLimit,
  many,
  empty,
  input,
]
