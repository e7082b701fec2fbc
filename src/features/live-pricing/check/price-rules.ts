import { Big } from 'big.js'
import { PATHS } from '../contract.ts'
import type { Exchange, Probe } from './probe.ts'
import {
  arrayOf,
  expectStatus,
  isRecord,
  NotCheckedError,
  type Rule,
  RuleViolationError,
  type Subject,
  UNKNOWN_ID,
  withToken,
} from './rule.ts'
import { knownStore } from './store-rules.ts'

interface Line {
  itemId: string
  storeId: string
  quantity: unknown
}

/** Requests prices for lines, which may be invalid. */
async function requestPrices(
  subject: Subject,
  items: Line[],
  memberNumber = subject.memberNumber,
): Promise<Exchange> {
  return withToken(subject.probe, PATHS.prices, {
    ...(memberNumber !== undefined && { memberNumber }),
    items,
  })
}

const mixedRequests = new WeakMap<Probe, Promise<{ exchange: Exchange; lines: Line[] }>>()
/** Sends one request, once per probe, that combines priced items, unknown items, duplicates and fractions. */
function mixedRequest(subject: Subject) {
  const cached = mixedRequests.get(subject.probe)
  if (cached) return cached
  const request = (async () => {
    const storeId = await knownStore(subject).catch(() => UNKNOWN_ID)
    const valid = subject.items.flatMap((itemId) =>
      [2.4, 0.1, 3, 1.1].map((quantity) => ({ itemId, storeId, quantity })),
    )
    const lines: Line[] = [
      { itemId: `first-${UNKNOWN_ID}`, storeId, quantity: 1 },
      ...valid,
      { itemId: `second-${UNKNOWN_ID}`, storeId, quantity: 7 },
      ...valid.slice(0, 2),
      { itemId: `first-${UNKNOWN_ID}`, storeId, quantity: 1 },
      { itemId: `last-${UNKNOWN_ID}`, storeId, quantity: 2 },
    ]
    const exchange = await requestPrices(subject, lines)
    // Request public prices too: the rules about responses check both.
    if (subject.memberNumber !== undefined) await withToken(subject.probe, PATHS.prices, { items: lines })
    return { exchange, lines }
  })()
  mixedRequests.set(subject.probe, request)
  return request
}

/** Returns every price item in any response so far. */
function allPriceItems({ probe }: Subject): { exchange: Exchange; item: Record<string, unknown> }[] {
  return probe.exchanges
    .filter(({ request, status }) => request.startsWith(`POST ${PATHS.prices}\n`) && status === 200)
    .flatMap((exchange) =>
      Array.isArray(exchange.json) ? exchange.json.filter(isRecord).map((item) => ({ exchange, item })) : [],
    )
}

const AMOUNTS = ['unitPrice', 'discount', 'totalPrice'] as const
const isPriced = (item: Record<string, unknown>) =>
  AMOUNTS.every((name) => Number.isFinite(item[name]) && Number(item[name]) >= 0)
const hasNoPrice = (item: Record<string, unknown>) => AMOUNTS.every((name) => item[name] === null)

/** Requests prices for invalid lines. The call must succeed without a price for any line. */
async function expectUnpriced(subject: Subject, lines: Line[], description: string): Promise<Exchange> {
  const exchange = await requestPrices(subject, lines)
  const items = expectOnePerLine(lines, exchange, `A price request with ${description}`)
  if (items.every(hasNoPrice)) return exchange
  throw new RuleViolationError(
    `${description} must have no price: unitPrice, discount and totalPrice are null.`,
    exchange,
  )
}

/** Returns the price items, one for each line. Throws `RuleViolationError` if there are more or fewer. */
function expectOnePerLine(lines: Line[], exchange: Exchange, when: string): Record<string, unknown>[] {
  const answers = arrayOf(exchange, when)
  if (answers.length === lines.length && answers.every(isRecord)) return answers
  const invalid = answers.findIndex((answer) => !isRecord(answer))
  if (answers.length === lines.length)
    throw new RuleViolationError(`Element ${invalid + 1} is not an object.`, exchange)
  throw new RuleViolationError(
    `${when} for ${lines.length} items returned ${answers.length} items.`,
    exchange,
  )
}

/** Prices (specification 2.3, 2.4, 4.1, 7). */
export const PRICE_RULES: Rule[] = [
  {
    id: 'prices.array',
    section: '4.1',
    basis: 'given',
    requirement: 'POST /request-prices returns 200 with a JSON array that has one element for each item.',
    async check(subject) {
      const { exchange, lines } = await mixedRequest(subject)
      expectOnePerLine(lines, exchange, 'A price request')
      return exchange
    },
  },
  {
    id: 'prices.empty',
    section: '4.1',
    basis: 'assumed',
    requirement: 'A price request without items returns 200 with an empty array.',
    async check(subject) {
      const exchange = await requestPrices(subject, [])
      if (arrayOf(exchange, 'A price request without items').length === 0) return exchange
      throw new RuleViolationError('The response to a request without items is not empty.', exchange)
    },
  },
  {
    id: 'prices.order',
    section: '4.1',
    basis: 'assumed',
    requirement:
      'The response keeps the order and duplicates of the request and repeats each itemId, storeId and quantity.',
    async check(subject) {
      const { exchange, lines } = await mixedRequest(subject)
      const answers = arrayOf(exchange, 'A price request')
      for (const [index, line] of lines.entries()) {
        const answer = answers[index]
        for (const name of ['itemId', 'storeId', 'quantity'] as const)
          if (!isRecord(answer) || answer[name] !== line[name])
            throw new RuleViolationError(
              `Element ${index + 1} does not belong to item ${index + 1}: ${name} is not ${JSON.stringify(line[name])}.`,
              exchange,
            )
      }
      return exchange
    },
  },
  {
    id: 'prices.fields',
    section: '2.4',
    basis: 'given',
    requirement: 'unitPrice, discount and totalPrice are all non-negative numbers or all null.',
    async check(subject) {
      const { exchange } = await mixedRequest(subject)
      for (const { exchange: source, item } of allPriceItems(subject))
        if (!isPriced(item) && !hasNoPrice(item))
          throw new RuleViolationError(
            `The prices of ${JSON.stringify(item.itemId)} are neither all non-negative numbers nor all null.`,
            source,
          )
      return exchange
    },
  },
  {
    id: 'prices.error-names',
    section: '2.4',
    basis: 'assumed',
    requirement:
      'Items without prices have an errorCode and an errorMessage, both strings; items with prices have neither.',
    async check(subject) {
      const { exchange } = await mixedRequest(subject)
      for (const { exchange: source, item } of allPriceItems(subject)) {
        for (const name of ['errorCode', 'errorMessage'] as const) {
          const value = item[name]
          const valid = hasNoPrice(item) ? typeof value === 'string' && value !== '' : value == null
          if (!valid)
            throw new RuleViolationError(
              `The response for ${JSON.stringify(item.itemId)} has ${value == null ? 'no' : 'an'} ${name}.`,
              source,
            )
        }
      }
      return exchange
    },
  },
  {
    id: 'prices.total',
    section: '2.4',
    basis: 'given',
    requirement: 'totalPrice is unitPrice * quantity - discount, in decimal arithmetic.',
    async check(subject) {
      await mixedRequest(subject)
      const priced = allPriceItems(subject).filter(
        ({ item }) => isPriced(item) && typeof item.quantity === 'number',
      )
      for (const { exchange, item } of priced) {
        const [unit, quantity, discount] = [item.unitPrice, item.quantity, item.discount] as [
          number,
          number,
          number,
        ]
        const total = new Big(unit).times(quantity).minus(discount)
        if (total.toNumber() !== item.totalPrice)
          throw new RuleViolationError(
            `${unit} * ${quantity} - ${discount} is ${total.toFixed()}, not ${item.totalPrice}.`,
            exchange,
          )
      }
      const [example] = priced
      if (!example)
        throw new NotCheckedError('no item was priced; specify items that have a price with --item CODE')
      return example.exchange
    },
  },
  {
    id: 'prices.known',
    section: '4.1',
    basis: 'given',
    requirement: 'Items that have a price are priced, even if other items in the request are invalid.',
    async check(subject) {
      if (subject.items.length === 0)
        throw new NotCheckedError('specify items that have a price with --item CODE')
      const { exchange } = await mixedRequest(subject)
      const answers = arrayOf(exchange, 'A price request').filter(isRecord)
      for (const code of subject.items) {
        const unpriced = answers.find((answer) => answer.itemId === code && !isPriced(answer))
        if (unpriced)
          throw new RuleViolationError(
            `Item ${code} has no price: ${String(unpriced.errorMessage ?? 'no reason given')}`,
            exchange,
          )
        if (!answers.some((answer) => answer.itemId === code))
          throw new RuleViolationError(`Item ${code} is missing from the response.`, exchange)
      }
      return exchange
    },
  },
  {
    id: 'prices.item-error',
    section: '7',
    basis: 'given',
    requirement: 'An unknown item is an error of that item, and the call succeeds.',
    check: async (subject) =>
      expectUnpriced(
        subject,
        [{ itemId: UNKNOWN_ID, storeId: await knownStore(subject).catch(() => UNKNOWN_ID), quantity: 1 }],
        'an item that does not exist',
      ),
  },
  {
    id: 'prices.store-error',
    section: '7',
    basis: 'given',
    requirement: 'An unknown store is an error of the item, and the call succeeds.',
    check: async (subject) =>
      expectUnpriced(
        subject,
        [{ itemId: subject.items[0] ?? UNKNOWN_ID, storeId: UNKNOWN_ID, quantity: 1 }],
        'a store that does not exist',
      ),
  },
  {
    id: 'prices.quantity-error',
    section: '7',
    basis: 'assumed',
    requirement: 'A quantity of zero or less is an error of the item, and the call succeeds.',
    async check(subject) {
      const storeId = await knownStore(subject).catch(() => UNKNOWN_ID)
      const itemId = subject.items[0] ?? UNKNOWN_ID
      return expectUnpriced(
        subject,
        [0, -1].map((quantity) => ({ itemId, storeId, quantity })),
        'a quantity of zero or less',
      )
    },
  },
  {
    id: 'prices.member',
    section: '2.3',
    basis: 'given',
    requirement: 'The member number is optional: the call succeeds with and without it.',
    async check(subject) {
      const storeId = await knownStore(subject).catch(() => UNKNOWN_ID)
      const lines = [{ itemId: subject.items[0] ?? UNKNOWN_ID, storeId, quantity: 1 }]
      const without = await withToken(subject.probe, PATHS.prices, { items: lines })
      expectOnePerLine(lines, without, 'A price request without a member number')
      const exchange = await requestPrices(subject, lines, subject.memberNumber ?? UNKNOWN_ID)
      expectOnePerLine(lines, exchange, 'A price request with a member number')
      return exchange
    },
  },
  {
    id: 'prices.input',
    section: '4.1',
    basis: 'assumed',
    requirement: 'An invalid body returns 400.',
    async check({ probe }) {
      let last: Exchange | undefined
      for (const body of ['{"items":', '{}', '{"items":7}', '[]']) {
        last = await withToken(probe, PATHS.prices, body)
        expectStatus(last, 400, `The body ${body}`)
      }
      return last as Exchange
    },
  },
]
