import { type Exchange, isClientError } from './http.ts'
import { expectThat, firstOf, inTurn } from './outcomes.ts'
import {
  askPrices,
  expectUnderstood,
  lineOf,
  NO_PRICES,
  namedPrices,
  priceStore,
  unknownStore,
} from './prices.ts'
import { AMOUNTS, type AnsweredLine, amountsOf, costOf, type Line, textsOf } from './read.ts'
import { type Rules, type Supplier, UNKNOWN_ID } from './rule.ts'

/** The quantities for which a total is checked, and for how many items. An item may have no price for some quantities. */
const [QUANTITIES, MAX_ITEMS] = [[1, 2, 7, 12, 300, 9_999, 2.5], 4]

/** Half a cent, plus the error of floating-point numbers. */
const HALF_CENT = 0.005 + 1e-9

/** Lines for items that do not exist: a made-up code, a code that begins like that of an item, and a wildcard. */
async function unknownLines(supplier: Supplier): Promise<Line[]> {
  const store = await priceStore(supplier)
  const [named] = namedPrices(supplier)
  return [UNKNOWN_ID, `${named?.code}-${UNKNOWN_ID}`, '%'].map((code) => lineOf(code, store))
}

/** A line for each item that has a price without a member number. */
async function knownLines(supplier: Supplier): Promise<Line[]> {
  const store = await priceStore(supplier)
  return supplier.known.prices.map(({ code }) => lineOf(code, store))
}

/** Every line of this check that was answered. */
const allAnswers = ({ client }: Supplier) => client.priceRequests.flatMap(({ answers }) => answers)

/** Finds the texts of an answer that may be its error code and message, because no answer with a price has them. */
function errorTexts(supplier: Supplier): (answered: AnsweredLine) => string[] {
  const priced = allAnswers(supplier).filter(({ answer }) => amountsOf(answer))
  const usual = new Set(priced.flatMap(textsOf))
  return (answered) => textsOf(answered).filter((text) => !usual.has(text))
}

/** Asks for lines that cannot be priced, around lines that can. Throws `WrongError` if one has a price and no error. */
async function expectErrors(supplier: Supplier, lines: readonly Line[]): Promise<Exchange> {
  const asked = [...lines.slice(0, 1), ...(await knownLines(supplier)), ...lines.slice(1)]
  const answers = (await askPrices(supplier, asked)).filter(({ line }) => lines.includes(line))
  const errorsOf = errorTexts(supplier)
  return inTurn(answers, (answered) => {
    const { itemId, storeId } = answered.line
    const message = `Item ${itemId} at store ${storeId} cannot be priced, and has a price and no error.`
    const holds = costOf(answered) === undefined || errorsOf(answered).length > 0
    return expectThat(holds, answered.exchange, message)
  })
}

/** The price request and its errors (specification 2.3, 2.4, 4.1, 7). */
export const PRICE_RULES: Rules = {
  'prices.without-member': {
    given: ['2.3', 'The member number is optional: a price request without one returns 200.'],
    async check(supplier) {
      const lines = [...(await knownLines(supplier)), ...(await unknownLines(supplier))].slice(0, 1)
      const request = await supplier.client.requestPrices(lines)
      const [member] = supplier.known.memberPrices
      // If the request is understood with a member number, it must be understood without one.
      if (isClientError(request.exchange)) await supplier.client.requestPrices(lines, member?.memberNumber)
      return expectUnderstood(supplier, request)
    },
  },
  'prices.array': {
    given: [
      '4.1',
      'A price request returns a JSON array with an element for each line, even if it has one line.',
    ],
    needs: ['prices.without-member'],
    async check(supplier) {
      const lines = [...(await knownLines(supplier)), ...(await unknownLines(supplier))]
      const [one, all] = [await askPrices(supplier, lines.slice(0, 1)), await askPrices(supplier, lines)]
      return inTurn([...one, ...all], ({ exchange }) => exchange)
    },
  },
  'prices.unpriced-item': {
    given: ['7', 'An item that is unknown, or not in range (--not-in-range), has an error in its line.'],
    needs: ['prices.array'],
    async check(supplier) {
      const notInRange = supplier.known.notInRange.map(({ itemId, storeId }) => lineOf(itemId, storeId))
      return expectErrors(supplier, [...(await unknownLines(supplier)), ...notInRange])
    },
  },
  'prices.unknown-store': {
    given: ['7', 'An item at a store that does not exist has an error in its line.'],
    needs: ['prices.unpriced-item'],
    async check(supplier) {
      const { code } = firstOf(namedPrices(supplier), NO_PRICES)
      return expectErrors(supplier, [lineOf(code, await unknownStore(supplier))])
    },
  },
  'prices.amounts': {
    given: ['2.4', 'unitPrice, discount and totalPrice are numbers or null.'],
    needs: ['prices.array'],
    check: async (supplier) =>
      inTurn(allAnswers(supplier), ({ line, answer, exchange }) => {
        const name = AMOUNTS.find((amount) => typeof (answer[amount] ?? 0) !== 'number')
        const message = `${name} of ${line.itemId} is ${JSON.stringify(answer[name ?? ''])}.`
        return expectThat(name === undefined, exchange, message)
      }),
  },
  'prices.code-and-message': {
    given: ['7', 'A line without a price carries an error code and an error message, both texts.'],
    needs: ['prices.unpriced-item', 'prices.amounts'],
    async check(supplier) {
      const errorsOf = errorTexts(supplier)
      const unpriced = allAnswers(supplier).filter(({ answer }) => !amountsOf(answer))
      return inTurn(unpriced, (answered) => {
        const { length } = errorsOf(answered)
        const message = `Item ${answered.line.itemId} has no price, and ${length} texts, not a code and a message.`
        return expectThat(length > 1, answered.exchange, message)
      })
    },
  },
  'prices.total': {
    given: ['2.4', 'totalPrice is unitPrice * quantity - discount, to the cent.'],
    needs: ['prices.amounts'],
    async check(supplier) {
      const store = await priceStore(supplier)
      for (const { code, memberNumber } of namedPrices(supplier).slice(0, MAX_ITEMS))
        for (const quantity of QUANTITIES)
          await supplier.client.requestPrices([lineOf(code, store, quantity)], memberNumber)
      const priced = allAnswers(supplier).filter(({ answer }) => amountsOf(answer))
      return inTurn(priced, expectTotal, NO_PRICES)
    },
  },
}

/** Throws `WrongError` unless the amounts of an answer that has a price add up. */
function expectTotal({ line: { itemId, quantity }, answer, exchange }: AnsweredLine): Exchange {
  const { unitPrice = 0, discount = 0, totalPrice = 0 } = amountsOf(answer) ?? {}
  const due = unitPrice * quantity - discount
  const sum = `${unitPrice} * ${quantity} - ${discount} is ${Number(due.toFixed(6))}`
  const message = `totalPrice of ${itemId} is ${totalPrice}, and ${sum}.`
  return expectThat(Math.abs(due - totalPrice) <= HALF_CENT + due * 1e-12, exchange, message)
}
