import type { Exchange } from './exchange.ts'
import {
  AMOUNTS,
  type AnsweredLine,
  ask,
  baseAnswers,
  baseRequest,
  brokenAmount,
  isAmount,
  isPriced,
  NO_ITEMS,
} from './prices.ts'
import { type Checks, expectNoLimit, judge, judgeEach, NotCheckedError, type Subject } from './rule.ts'

/** Whether the price request itself is not understood, rather than one of its lines. */
const isMisunderstood = (exchange: Exchange) =>
  exchange.status >= 400 && exchange.status < 500 && ![401, 403, 404, 405].includes(exchange.status)

async function firstRequest(subject: Subject) {
  const { lines, exchange } = await baseRequest(subject)
  expectNoLimit(exchange)
  if (isMisunderstood(exchange) && lines.length === 0)
    throw new NotCheckedError(
      `a price request without items is refused (${exchange.status}), and ${NO_ITEMS}`,
    )
  return { exchange }
}

async function itemAnswers(subject: Subject) {
  const answered = await baseAnswers(subject)
  if (answered.answers.length === 0) throw new NotCheckedError(NO_ITEMS)
  return answered
}

const shown = (value: unknown) =>
  typeof value === 'number' ? 'a number that is too large' : `the ${typeof value} ${JSON.stringify(value)}`

const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z]/g, '')

/**
 * The member that seems to be an amount under another name, such as `unit_price`; or, in a line with a price, any number that
 * the line does not repeat, such as `price` and `total`.
 */
function otherNameOf({ line, answer }: AnsweredLine, amount: (typeof AMOUNTS)[number]): string | undefined {
  const similar = Object.keys(answer).find((name) => name !== amount && plain(name) === plain(amount))
  if (similar !== undefined || amount === 'discount') return similar
  const own = [line.itemId, line.storeId, line.quantity].map(String)
  const others = Object.entries(answer).flatMap(([name, value]) =>
    Number.isFinite(value) && !isAmount(name) && !own.includes(String(value)) ? [name] : [],
  )
  const isOtherwisePriced =
    Number.isFinite(answer.unitPrice) || Number.isFinite(answer.totalPrice) || others.length > 1
  return isOtherwisePriced ? others[amount === 'unitPrice' ? 0 : others.length - 1] : undefined
}

/** A request for the first item only. */
async function firstLine(subject: Subject) {
  const { lines } = await baseRequest(subject)
  if (lines.length === 0) throw new NotCheckedError(NO_ITEMS)
  return ask(subject, lines.slice(0, 1), 'A price request with one line')
}

/** Price requests for items that have a price (specification 2.4, 4.1). */
export const BASE_PRICE_CHECKS: Checks = {
  'prices.request': judge(
    firstRequest,
    ({ exchange }) =>
      isMisunderstood(exchange) && `A price request for items that have a price returned ${exchange.status}.`,
  ),
  'prices.array': async (subject) => (await baseAnswers(subject)).exchange,
  'prices.names': judgeEach(baseAnswers, (found) => {
    const [renamed] = AMOUNTS.flatMap((amount) => {
      const other = amount in found.answer ? undefined : otherNameOf(found, amount)
      return other ? [{ amount, other }] : []
    })
    return (
      renamed &&
      `The line for item ${found.line.itemId} has ${renamed.other}: name it ${renamed.amount}, as in {"unitPrice": 12.5, "discount": 0, "totalPrice": 25}.`
    )
  }),
  'prices.one-line': async (subject) => (await firstLine(subject)).exchange,
  'prices.fields': judgeEach(itemAnswers, ({ line, answer }) => {
    const name = brokenAmount(answer)
    return (
      name &&
      `The ${name} of item ${line.itemId} must be a number or null, not ${shown(answer[name])}: write "${name}": 12.5.`
    )
  }),
  'prices.known': judgeEach(
    baseAnswers,
    ({ line, answer }) =>
      !isPriced(answer) &&
      `Item ${line.itemId} has no price at store ${line.storeId}. If it needs none, name another item or --store ID.`,
  ),
  'prices.negative': judgeEach(baseAnswers, ({ line, answer }) => {
    const name = AMOUNTS.find((amount) => Number(answer[amount]) < 0)
    return name && `The ${name} of item ${line.itemId} is negative.`
  }),
}
