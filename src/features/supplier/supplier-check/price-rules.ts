import {
  type Exchange,
  expectUnderstood,
  fieldOf,
  isRecord,
  NotPassedError,
  namedField,
  shapeOf,
} from './answer.ts'
import { type Check, judge, type Rules, type Supplier, UNKNOWN_ID } from './rule.ts'
import type { SupplierFile } from './supplier-file.ts'

/** The quantities for which totals are checked. */
const QUANTITIES = [1, 3]

/** The allowed difference between amounts, in dollars: half a cent, plus the error of floating-point numbers. */
const HALF_CENT = 0.005 + 1e-9

/** The amounts of a price item (specification 2.4). */
const AMOUNTS = ['unitPrice', 'discount', 'totalPrice'] as const

/** The price items in an answer. Throws `NotPassedError` if it isn't an array of objects, one for each line. */
function itemsIn(answer: Exchange, length: number): object[] {
  const { status, json } = answer
  if (status === 200 && Array.isArray(json) && json.length === length && json.every(isRecord)) return json
  const message = `A request of ${length} prices must return as many objects in an array, not ${shapeOf(answer)}.`
  throw new NotPassedError('failed', message, answer)
}

/** The true price of one unit, for a member or without a member number. */
interface KnownPrice {
  itemId: string
  price: number
  memberNumber: string | undefined
}

const listOf = (prices: SupplierFile['prices'], memberNumber?: string): KnownPrice[] =>
  Object.entries(prices).map(([itemId, price]) => ({ itemId, price, memberNumber }))

const pricesOf = ({ prices }: Supplier) => listOf(prices)
const memberPricesOf = ({ memberPrices }: Supplier) =>
  Object.entries(memberPrices).flatMap(([number, prices]) => listOf(prices, number))

const askUnknown = async ({ client }: Supplier) => [await client.requestPrices([UNKNOWN_ID], 1)]

/** Requests each price separately, because a promotion may combine items. */
async function askEach({ client }: Supplier, prices: readonly KnownPrice[]) {
  const answers = []
  for (const known of prices)
    for (const quantity of QUANTITIES) {
      const answer = await client.requestPrices([known.itemId], quantity, known.memberNumber)
      answers.push({ ...answer, known, quantity })
    }
  return answers
}

/** The amounts of a price item; undefined unless it has a unit price and a total. */
function amountsOf(item: unknown) {
  const [unitPrice, discount, totalPrice] = AMOUNTS.map((name) => fieldOf(item, name))
  if (typeof unitPrice !== 'number' || typeof totalPrice !== 'number') return undefined
  return { unitPrice, discount: typeof discount === 'number' ? discount : 0, totalPrice }
}

/** Whether a price item for a quantity of 1 has the known price. */
function costs(item: unknown, { price }: KnownPrice): boolean {
  const amounts = amountsOf(item)
  return amounts !== undefined && Math.abs(amounts.unitPrice - amounts.discount - price) <= HALF_CENT
}

/** A check that items have their known prices and the matching totals. */
const trueTotals = (knownOf: (supplier: Supplier) => readonly KnownPrice[]): Check =>
  judge(
    (supplier) => askEach(supplier, knownOf(supplier)),
    ({ known, quantity, ...answer }) => {
      const [item] = itemsIn(answer, 1)
      const amounts = amountsOf(item)
      if (quantity === 1 && !costs(item, known))
        return `One ${known.itemId} must cost ${known.price}, unitPrice - discount. It has ${JSON.stringify(amounts) ?? 'no price'}.`
      if (!amounts) return undefined
      const due = amounts.unitPrice * quantity - amounts.discount
      return Math.abs(due - amounts.totalPrice) <= HALF_CENT
        ? undefined
        : `The totalPrice of ${quantity} ${known.itemId} is ${amounts.totalPrice}, not ${due}.`
    },
  )

/** The price request (specification 1, 2.4, 4.1, 7). */
export const PRICE_RULES: Rules = {
  'prices.array': {
    given: [
      '2.4',
      'POST /request-prices returns a JSON array of price items, whose amounts are numbers or null.',
    ],
    needs: 'token.issued',
    check: judge(
      async (supplier) => [...(await askUnknown(supplier)), ...(await askEach(supplier, pricesOf(supplier)))],
      (answer) => {
        expectUnderstood(answer)
        const [item] = itemsIn(answer, 1)
        const wrong = AMOUNTS.find((name) => typeof (fieldOf(item, name) ?? 0) !== 'number')
        return wrong && `${wrong} is a ${typeof fieldOf(item, wrong)}.`
      },
    ),
  },
  'prices.true': {
    given: ['2.4', 'Items have their true price before tax; totalPrice is unitPrice * quantity - discount.'],
    needs: 'prices.array',
    check: trueTotals(pricesOf),
  },
  'prices.member': {
    given: ['1', 'With a member number, items have the builder’s own price, and its total.'],
    needs: 'prices.array',
    skip: (supplier) => (memberPricesOf(supplier).length > 0 ? undefined : 'You gave no memberPrices.'),
    check: trueTotals(memberPricesOf),
  },
  'prices.unknown-item': {
    given: ['7', 'The line of an unknown item has an error code and an error message.'],
    needs: 'prices.array',
    check: judge(askUnknown, (answer, { names }) => {
      const [item] = itemsIn(answer, 1)
      if (amountsOf(item) && fieldOf(item, names.errorCode) === undefined)
        return 'It has a price and no error.'
      const texts = [names.errorCode, names.errorMessage].map((name) => namedField(answer, name, item))
      return texts.every((text) => typeof text === 'string') ? undefined : 'They must be texts.'
    }),
  },
  'prices.others': {
    given: ['4.1', 'An item keeps its price beside an unknown item, as the call doesn’t fail as a whole.'],
    needs: 'prices.true',
    check: judge(
      async (supplier) => {
        const answers = []
        for (const known of pricesOf(supplier))
          answers.push({ ...(await supplier.client.requestPrices([UNKNOWN_ID, known.itemId], 1)), known })
        return answers
      },
      // The specification doesn't define how a price item refers to its line.
      ({ known, ...answer }) =>
        itemsIn(answer, 2).some((item) => costs(item, known))
          ? undefined
          : `No line has the price of ${known.itemId}, ${known.price}.`,
    ),
  },
}
