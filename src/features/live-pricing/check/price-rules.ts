import { Big } from 'big.js'
import { PATHS } from '../contract.ts'
import type { Exchange, Probe } from './probe.ts'
import {
  arrayOf,
  Broken,
  expectStatus,
  isRecord,
  MADE_UP,
  type Rule,
  type Subject,
  Unchecked,
  withToken,
} from './rule.ts'
import { knownStore } from './store-rules.ts'

interface Line {
  itemId: string
  storeId: string
  quantity: unknown
}

/** Requests prices for lines, among them such that cannot be priced. */
async function prices(
  subject: Subject,
  items: Line[],
  memberNumber = subject.memberNumber,
): Promise<Exchange> {
  return withToken(subject.probe, PATHS.prices, {
    ...(memberNumber !== undefined && { memberNumber }),
    items,
  })
}

const mixed = new WeakMap<Probe, Promise<{ exchange: Exchange; lines: Line[] }>>()
/** One request with everything in it: items that should have prices, made-up ones, duplicates, fractions. */
function mixedRequest(subject: Subject) {
  const known = mixed.get(subject.probe)
  if (known) return known
  const made = (async () => {
    const storeId = await knownStore(subject).catch(() => MADE_UP)
    const good = subject.items.flatMap((itemId) =>
      [2.4, 0.1, 3, 1.1].map((quantity) => ({ itemId, storeId, quantity })),
    )
    const lines: Line[] = [
      { itemId: `first-${MADE_UP}`, storeId, quantity: 1 },
      ...good,
      { itemId: `second-${MADE_UP}`, storeId, quantity: 7 },
      ...good.slice(0, 2),
      { itemId: `first-${MADE_UP}`, storeId, quantity: 1 },
      { itemId: `last-${MADE_UP}`, storeId, quantity: 2 },
    ]
    const exchange = await prices(subject, lines)
    // What anybody pays is looked at as well, by every rule about answers.
    if (subject.memberNumber !== undefined) await withToken(subject.probe, PATHS.prices, { items: lines })
    return { exchange, lines }
  })()
  mixed.set(subject.probe, made)
  return made
}

/** Every price item that any answer so far has held. */
function allAnswers({ probe }: Subject): { exchange: Exchange; item: Record<string, unknown> }[] {
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

/** The answer to lines that cannot be priced: the call must succeed, and answer each of them without a price. */
async function unpriced(subject: Subject, lines: Line[], what: string): Promise<Exchange> {
  const exchange = await prices(subject, lines)
  const answers = answersTo(lines, exchange, `A price request with ${what}`)
  if (answers.every(hasNoPrice)) return exchange
  throw new Broken(`${what} must have no price: unitPrice, discount and totalPrice are null.`, exchange)
}

/** One answer for each line. */
function answersTo(lines: Line[], exchange: Exchange, when: string): Record<string, unknown>[] {
  const answers = arrayOf(exchange, when)
  if (answers.length === lines.length && answers.every(isRecord)) return answers
  const odd = answers.findIndex((answer) => !isRecord(answer))
  if (answers.length === lines.length) throw new Broken(`Answer ${odd + 1} is no object.`, exchange)
  throw new Broken(`${when} asks for ${lines.length} items, and ${answers.length} are answered.`, exchange)
}

/** Prices (specification 2.3, 2.4, 4.1, 7). */
export const PRICE_RULES: Rule[] = [
  {
    id: 'prices.array',
    section: '4.1',
    basis: 'given',
    says: 'POST /request-prices is answered 200 with a JSON array, and one element for each item.',
    async check(subject) {
      const { exchange, lines } = await mixedRequest(subject)
      answersTo(lines, exchange, 'A price request')
      return exchange
    },
  },
  {
    id: 'prices.empty',
    section: '4.1',
    basis: 'assumed',
    says: 'A price request without items is answered 200 with an empty array.',
    async check(subject) {
      const exchange = await prices(subject, [])
      if (arrayOf(exchange, 'A price request without items').length === 0) return exchange
      throw new Broken('Nothing was asked for, and something is answered.', exchange)
    },
  },
  {
    id: 'prices.order',
    section: '4.1',
    basis: 'assumed',
    says: 'The answers are in the order of the request, repeat its itemId, storeId and quantity, and keep duplicates.',
    async check(subject) {
      const { exchange, lines } = await mixedRequest(subject)
      const answers = arrayOf(exchange, 'A price request')
      for (const [at, line] of lines.entries()) {
        const answer = answers[at]
        for (const name of ['itemId', 'storeId', 'quantity'] as const)
          if (!isRecord(answer) || answer[name] !== line[name])
            throw new Broken(
              `Answer ${at + 1} is not that to item ${at + 1}: ${name} is not ${JSON.stringify(line[name])}.`,
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
    says: 'unitPrice, discount and totalPrice are numbers, none below 0, or all null.',
    async check(subject) {
      const { exchange } = await mixedRequest(subject)
      for (const { exchange: at, item } of allAnswers(subject))
        if (!isPriced(item) && !hasNoPrice(item))
          throw new Broken(
            `The prices of ${JSON.stringify(item.itemId)} are neither such numbers nor all null.`,
            at,
          )
      return exchange
    },
  },
  {
    id: 'prices.error-names',
    section: '2.4',
    basis: 'assumed',
    says: 'An item without prices has an errorCode and an errorMessage, which are text; one with prices has neither.',
    async check(subject) {
      const { exchange } = await mixedRequest(subject)
      for (const { exchange: at, item } of allAnswers(subject)) {
        for (const name of ['errorCode', 'errorMessage'] as const) {
          const value = item[name]
          const right = hasNoPrice(item) ? typeof value === 'string' && value !== '' : value == null
          if (!right)
            throw new Broken(
              `The answer for ${JSON.stringify(item.itemId)} has ${value == null ? 'no' : 'an'} ${name}.`,
              at,
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
    says: 'totalPrice is unitPrice * quantity - discount, computed in decimals.',
    async check(subject) {
      await mixedRequest(subject)
      const priced = allAnswers(subject).filter(
        ({ item }) => isPriced(item) && typeof item.quantity === 'number',
      )
      for (const { exchange, item } of priced) {
        const [unit, quantity, off] = [item.unitPrice, item.quantity, item.discount] as [
          number,
          number,
          number,
        ]
        const total = new Big(unit).times(quantity).minus(off)
        if (total.toNumber() !== item.totalPrice)
          throw new Broken(
            `${unit} * ${quantity} - ${off} is ${total.toFixed()}, not ${item.totalPrice}.`,
            exchange,
          )
      }
      const [shown] = priced
      if (!shown) throw new Unchecked('nothing was priced; name items that have a price: --item CODE')
      return shown.exchange
    },
  },
  {
    id: 'prices.known',
    section: '4.1',
    basis: 'given',
    says: 'An item that has a price is priced, whatever else is in the request.',
    async check(subject) {
      if (subject.items.length === 0) throw new Unchecked('name items that have a price: --item CODE')
      const { exchange } = await mixedRequest(subject)
      const answers = arrayOf(exchange, 'A price request').filter(isRecord)
      for (const code of subject.items) {
        const unpricedOne = answers.find((answer) => answer.itemId === code && !isPriced(answer))
        if (unpricedOne)
          throw new Broken(
            `The item ${code} has no price: ${String(unpricedOne.errorMessage ?? 'no reason is given')}`,
            exchange,
          )
        if (!answers.some((answer) => answer.itemId === code))
          throw new Broken(`The item ${code} is not answered.`, exchange)
      }
      return exchange
    },
  },
  {
    id: 'prices.item-error',
    section: '7',
    basis: 'given',
    says: 'An item that does not exist is an error of that item, and the call succeeds.',
    check: async (subject) =>
      unpriced(
        subject,
        [{ itemId: MADE_UP, storeId: await knownStore(subject).catch(() => MADE_UP), quantity: 1 }],
        'an item that does not exist',
      ),
  },
  {
    id: 'prices.store-error',
    section: '7',
    basis: 'given',
    says: 'A store that does not exist is an error of the item, and the call succeeds.',
    check: async (subject) =>
      unpriced(
        subject,
        [{ itemId: subject.items[0] ?? MADE_UP, storeId: MADE_UP, quantity: 1 }],
        'a store that does not exist',
      ),
  },
  {
    id: 'prices.quantity-error',
    section: '7',
    basis: 'assumed',
    says: 'A quantity of zero or below is an error of the item, and the call succeeds.',
    async check(subject) {
      const storeId = await knownStore(subject).catch(() => MADE_UP)
      const itemId = subject.items[0] ?? MADE_UP
      return unpriced(
        subject,
        [0, -1].map((quantity) => ({ itemId, storeId, quantity })),
        'a quantity of zero or below',
      )
    },
  },
  {
    id: 'prices.member',
    section: '2.3',
    basis: 'given',
    says: 'The member number is optional: with one and without, the call succeeds.',
    async check(subject) {
      const storeId = await knownStore(subject).catch(() => MADE_UP)
      const lines = [{ itemId: subject.items[0] ?? MADE_UP, storeId, quantity: 1 }]
      const without = await withToken(subject.probe, PATHS.prices, { items: lines })
      answersTo(lines, without, 'A price request without a member number')
      const exchange = await prices(subject, lines, subject.memberNumber ?? MADE_UP)
      answersTo(lines, exchange, 'A price request with a member number')
      return exchange
    },
  },
  {
    id: 'prices.input',
    section: '4.1',
    basis: 'assumed',
    says: 'A body that is no price request is answered 400.',
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
