import type { Exchange } from './exchange.ts'
import { baseAnswers, baseRequest, isPriced, NO_ITEMS } from './prices.ts'
import { expectNoLimit, NotCheckedError, type Rule, RuleViolationError } from './rule.ts'

/** Whether the price request itself is not understood, rather than one of its lines. */
const isMisunderstood = (exchange: Exchange) =>
  exchange.status >= 400 && exchange.status < 500 && ![401, 403, 404, 405].includes(exchange.status)

const request: Rule = {
  id: 'prices.request',
  title: 'A price request takes {memberNumber, items: [{itemId, storeId, quantity}]}.',
  given: undefined,
  needs: ['access.bearer'],
  async check(subject) {
    const { lines, exchange } = await baseRequest(subject)
    expectNoLimit(exchange)
    if (!isMisunderstood(exchange)) return exchange
    if (lines.length === 0)
      throw new NotCheckedError(
        `a price request without items is refused (${exchange.status}), and ${NO_ITEMS}`,
      )
    throw new RuleViolationError(
      `A price request for items that have a price returned ${exchange.status}.`,
      exchange,
    )
  },
}

const array: Rule = {
  id: 'prices.array',
  title: 'POST /request-prices returns 200 with a JSON array that has one element for each line.',
  given: '§4.1',
  needs: ['prices.request'],
  check: async (subject) => (await baseAnswers(subject)).exchange,
}

const AMOUNTS = ['unitPrice', 'discount', 'totalPrice'] as const

const fields: Rule = {
  id: 'prices.fields',
  title: 'unitPrice, discount and totalPrice are numbers or null.',
  given: '§2.4',
  needs: ['prices.names'],
  async check(subject) {
    const { exchange, answers } = await baseAnswers(subject)
    if (answers.length === 0) throw new NotCheckedError(NO_ITEMS)
    for (const { line, answer } of answers)
      for (const name of AMOUNTS) {
        const value = answer[name]
        if (value !== undefined && value !== null && !Number.isFinite(value))
          throw new RuleViolationError(
            `The ${name} of item ${line.itemId} must be a number or null, not ${shown(value)}: write "${name}": 12.5.`,
            exchange,
          )
      }
    return exchange
  },
}

const shown = (value: unknown) =>
  typeof value === 'number' ? 'a number that is too large' : `the ${typeof value} ${JSON.stringify(value)}`

const known: Rule = {
  id: 'prices.known',
  title: 'The items named with --item have a price.',
  given: undefined,
  needs: ['prices.fields'],
  async check(subject) {
    const { exchange, answers } = await baseAnswers(subject)
    const without = answers.find(({ answer }) => !isPriced(answer))
    if (!without) return exchange
    throw new RuleViolationError(
      `Item ${without.line.itemId} has no price at store ${without.line.storeId}. If it needs none, name another item or --store ID.`,
      exchange,
    )
  },
}

const negative: Rule = {
  id: 'prices.negative',
  title: 'No price and no discount is negative.',
  given: undefined,
  needs: ['prices.known'],
  async check(subject) {
    const { exchange, answers } = await baseAnswers(subject)
    for (const { line, answer } of answers)
      for (const name of AMOUNTS)
        if (Number(answer[name]) < 0)
          throw new RuleViolationError(`The ${name} of item ${line.itemId} is negative.`, exchange)
    return exchange
  },
}

/** Price requests for items that have a price (specification 2.4, 4.1). */
export const FIRST_PRICE_RULES: Rule[] = [request, array]
export const BASE_PRICE_RULES: Rule[] = [fields, known, negative]
