import { Big } from 'big.js'
import type { Exchange } from './exchange.ts'
import {
  type AnsweredLine,
  answered,
  ask,
  baseRequest,
  isPriced,
  linesOf,
  priceStore,
  requestPrices,
} from './prices.ts'
import { NotCheckedError, type Rule, RuleViolationError, remember, type Subject } from './rule.ts'

/** Quantities of which some are fractions, which not every item allows. */
const QUANTITIES = [1, 2, 3, 7, 10, 2.4, 0.1, 1.337]
const LARGE_QUANTITIES = [12, 25, 1000]
/** Makes totals of which a number of single precision cannot hold the cents. */
const HUGE_QUANTITY = 99_999

/** Requests each quantity in a call of its own, so that no item occurs twice in a call. */
async function samplesOf(subject: Subject, quantities: readonly number[]): Promise<AnsweredLine[]> {
  const store = await priceStore(subject)
  const samples: AnsweredLine[] = []
  for (const quantity of quantities) {
    const { answers } = await ask(
      subject,
      linesOf(subject.items, store, quantity),
      `A price request for a quantity of ${quantity}`,
    )
    samples.push(...answers)
  }
  return samples
}

const samples = remember((subject) => samplesOf(subject, QUANTITIES))
const largeSamples = remember((subject) => samplesOf(subject, LARGE_QUANTITIES))
/** None if the supplier refuses requests for such a quantity. */
const hugeSamples = remember(async (subject: Subject): Promise<AnsweredLine[]> => {
  const lines = linesOf(subject.items, await priceStore(subject), HUGE_QUANTITY)
  const { memberNumber } = await baseRequest(subject)
  const exchange = await requestPrices(subject, lines, memberNumber)
  if (exchange.status >= 400 && exchange.status < 500) return []
  return answered(lines, exchange, `A price request for a quantity of ${HUGE_QUANTITY}`).answers
})

/** The total that the unit price, the requested quantity and the discount make, in decimals. */
function expectedTotal({ line, answer }: AnsweredLine): Big {
  const discount = Number.isFinite(answer.discount) ? (answer.discount as number) : 0
  return new Big(answer.unitPrice as number).times(line.quantity).minus(discount)
}

/** Half a cent: a supplier may round totals to cents, as the specification does not speak of rounding. */
const HALF_CENT = new Big('0.005').plus('1e-9')

/** Throws `RuleViolationError` if a total does not add up, rounded to cents or not. */
export function expectTotals(found: readonly AnsweredLine[]): Exchange {
  const priced = found.filter(({ answer }) => isPriced(answer))
  for (const sample of priced) {
    const total = expectedTotal(sample)
    if (new Big(sample.answer.totalPrice as number).minus(total).abs().gt(HALF_CENT))
      throw wrongTotal(sample, total)
  }
  const [first] = priced
  if (first) return first.exchange
  throw new NotCheckedError('no item has a price for such a quantity; name another with --item CODE')
}

function wrongTotal({ line, answer, exchange }: AnsweredLine, total: Big): RuleViolationError {
  const { unitPrice, discount, totalPrice } = answer
  return new RuleViolationError(
    `For item ${line.itemId}, ${unitPrice} * ${line.quantity} - ${discount ?? 0} is ${total.toFixed()}, not ${totalPrice}.`,
    exchange,
  )
}

const total: Rule = {
  id: 'prices.total',
  title: 'totalPrice is unitPrice * quantity - discount, to the cent.',
  given: '§2.4',
  needs: ['prices.known'],
  check: async (subject) => expectTotals(await samples(subject)),
}

const exact: Rule = {
  id: 'prices.exact',
  title: 'totalPrice is not rounded, and is computed in decimals.',
  given: undefined,
  needs: ['prices.total'],
  async check(subject) {
    const priced = (await samples(subject)).filter(({ answer }) => isPriced(answer))
    for (const sample of priced) {
      const expected = expectedTotal(sample)
      if (expected.toNumber() !== sample.answer.totalPrice) throw wrongTotal(sample, expected)
    }
    return priced[0]?.exchange as Exchange
  },
}

const large: Rule = {
  id: 'prices.large-quantity',
  title: 'The total adds up for quantities above 10 too.',
  given: '§2.4',
  needs: ['prices.total'],
  check: async (subject) => expectTotals([...(await largeSamples(subject)), ...(await hugeSamples(subject))]),
}

/** Throws `RuleViolationError` if a line has no price. */
function expectPrices(found: readonly AnsweredLine[]): Exchange {
  const without = found.find(({ answer }) => !isPriced(answer))
  if (without)
    throw new RuleViolationError(
      `Item ${without.line.itemId} has no price for a quantity of ${without.line.quantity}.`,
      without.exchange,
    )
  return found[0]?.exchange as Exchange
}

const quantityLimit: Rule = {
  id: 'prices.quantity-limit',
  title: 'Quantities of 12, 25 and 1,000 have a price.',
  given: undefined,
  needs: ['prices.total'],
  async check(subject) {
    return expectPrices(await largeSamples(subject))
  },
}

const fraction: Rule = {
  id: 'prices.fraction',
  title: 'A quantity may be a fraction, such as 2.4.',
  given: undefined,
  needs: ['prices.total'],
  async check(subject) {
    return expectPrices((await samples(subject)).filter(({ line }) => !Number.isInteger(line.quantity)))
  },
}

/** The arithmetic of prices (specification 2.4). */
export const TOTAL_RULES: Rule[] = [total, exact, fraction, large, quantityLimit]
