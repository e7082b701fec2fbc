import type { Exchange } from './exchange.ts'
import { AMOUNTS, baseAnswers, baseRequest, brokenAmount, isPriced, NO_ITEMS } from './prices.ts'
import { expectNoLimit, judge, judgeEach, NotCheckedError, type Rule, type Subject } from './rule.ts'

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

/** The first price request (specification 4.1). */
export const FIRST_PRICE_RULES: Rule[] = [
  {
    id: 'prices.request',
    title: 'A price request takes {memberNumber, items: [{itemId, storeId, quantity}]}.',
    needs: ['access.bearer'],
    check: judge(
      firstRequest,
      ({ exchange }) =>
        isMisunderstood(exchange) &&
        `A price request for items that have a price returned ${exchange.status}.`,
    ),
  },
  {
    id: 'prices.array',
    title: 'POST /request-prices returns 200 with a JSON array that has one element for each line.',
    given: '§4.1',
    needs: ['prices.request'],
    check: async (subject) => (await baseAnswers(subject)).exchange,
  },
]

/** Items that have a price (specification 2.4). */
export const BASE_PRICE_RULES: Rule[] = [
  {
    id: 'prices.fields',
    title: 'unitPrice, discount and totalPrice are numbers or null.',
    given: '§2.4',
    needs: ['prices.names'],
    check: judgeEach(itemAnswers, ({ line, answer }) => {
      const name = brokenAmount(answer)
      return (
        name &&
        `The ${name} of item ${line.itemId} must be a number or null, not ${shown(answer[name])}: write "${name}": 12.5.`
      )
    }),
  },
  {
    id: 'prices.known',
    title: 'The items named with --item have a price.',
    needs: ['prices.fields'],
    check: judgeEach(
      baseAnswers,
      ({ line, answer }) =>
        !isPriced(answer) &&
        `Item ${line.itemId} has no price at store ${line.storeId}. If it needs none, name another item or --store ID.`,
    ),
  },
  {
    id: 'prices.negative',
    title: 'No price and no discount is negative.',
    needs: ['prices.known'],
    check: judgeEach(baseAnswers, ({ line, answer }) => {
      const name = AMOUNTS.find((amount) => Number(answer[amount]) < 0)
      return name && `The ${name} of item ${line.itemId} is negative.`
    }),
  },
]
