import { Big } from 'big.js'
import type { Exchange } from './exchange.ts'
import {
  type AnsweredLine,
  allAnswered,
  answered,
  ask,
  isPriced,
  linesOf,
  priceStore,
  requestAsUsual,
} from './prices.ts'
import {
  type Checks,
  judgeEach,
  NotCheckedError,
  RuleViolationError,
  remember,
  type Subject,
} from './rule.ts'

/** Quantities of which some are fractions, which not every item allows. */
const QUANTITIES = [1, 2, 3, 7, 10, 2.4, 0.1, 1.337]
const LARGE_QUANTITIES = [12, 25, 1000]
/** Makes totals of which a number of single precision cannot hold the cents. */
const HUGE_QUANTITY = 99_999

/** Quantities that every supplier takes: the specification does not say that others, such as fractions, are accepted. */
const isUsual = (quantity: number) => Number.isInteger(quantity) && quantity <= 10

/** Requests each quantity in a call of its own, so that no item occurs twice in a call. Unusual ones may be refused. */
async function samplesOf(subject: Subject, quantities: readonly number[]): Promise<AnsweredLine[]> {
  const store = await priceStore(subject)
  const samples: AnsweredLine[] = []
  for (const quantity of quantities) {
    const lines = linesOf(subject.items, store, quantity)
    const exchange = await requestAsUsual(subject, lines)
    if (!isUsual(quantity) && (exchange.status === 400 || exchange.status === 422)) continue
    samples.push(...answered(lines, exchange, `A price request for a quantity of ${quantity}`).answers)
  }
  return samples
}

const samples = remember((subject) => samplesOf(subject, QUANTITIES))
const largeSamples = remember((subject) => samplesOf(subject, LARGE_QUANTITIES))
const hugeSamples = remember((subject) => samplesOf(subject, [HUGE_QUANTITY]))

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
      throw new RuleViolationError(wrongTotal(sample, total), sample.exchange)
  }
  // A line for an unusual quantity may carry an error in place of a price.
  const first = priced[0] ?? found.find(({ line }) => !isUsual(line.quantity))
  if (first) return first.exchange
  throw new NotCheckedError('no item has a price for such a quantity; name another with --item CODE')
}

function wrongTotal({ line, answer }: AnsweredLine, total: Big): string {
  const { unitPrice, discount, totalPrice } = answer
  return `For item ${line.itemId}, ${unitPrice} * ${line.quantity} - ${discount ?? 0} is ${total.toFixed()}, not ${totalPrice}.`
}

/** The samples that have a price: one has, as the items have prices for a quantity of one. */
async function pricedSamples(subject: Subject) {
  const priced = (await samples(subject)).filter(({ answer }) => isPriced(answer))
  return { exchange: expectTotals(priced), answers: priced }
}

/** Throws `RuleViolationError` if a line for one of these quantities has no price, or was not answered. */
async function expectPrices(subject: Subject, quantities: readonly number[]): Promise<Exchange> {
  const found = (await allAnswered(subject)).filter(({ line }) => quantities.includes(line.quantity))
  for (const quantity of quantities) {
    if (found.some(({ line }) => line.quantity === quantity)) continue
    const lines = linesOf(subject.items, await priceStore(subject), quantity)
    await ask(subject, lines, `A price request for a quantity of ${quantity}`)
  }
  const without = found.find(({ answer }) => !isPriced(answer))
  if (without)
    throw new RuleViolationError(
      `Item ${without.line.itemId} has no price for a quantity of ${without.line.quantity}.`,
      without.exchange,
    )
  return found[0]?.exchange as Exchange
}

/** The arithmetic of prices (specification 2.4). */
export const TOTAL_CHECKS: Checks = {
  'prices.total': async (subject) => expectTotals(await samples(subject)),
  'prices.exact': judgeEach(pricedSamples, (sample) => {
    const expected = expectedTotal(sample)
    return expected.toNumber() !== sample.answer.totalPrice && wrongTotal(sample, expected)
  }),
  'prices.fraction': (subject) =>
    expectPrices(
      subject,
      QUANTITIES.filter((quantity) => !Number.isInteger(quantity)),
    ),
  'prices.large-quantity': async (subject) =>
    expectTotals([...(await largeSamples(subject)), ...(await hugeSamples(subject))]),
  async 'prices.quantity-limit'(subject) {
    await largeSamples(subject)
    return expectPrices(subject, LARGE_QUANTITIES)
  },
}
