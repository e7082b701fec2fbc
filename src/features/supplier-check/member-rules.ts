import { isDeepStrictEqual } from 'node:util'
import { describe, type Exchange } from './exchange.ts'
import { mixedRequest, notInRangeRequest, usualDetailsOf } from './line-error-rules.ts'
import {
  type AnsweredLine,
  answered,
  baseAnswers,
  baseRequest,
  carriesError,
  isPriced,
  isUnpriced,
  lineOf,
  requestPrices,
  storeOrUnknown,
  unknownItem,
} from './prices.ts'
import { manyLines } from './request-rules.ts'
import {
  expectNoLimit,
  NotCheckedError,
  type Rule,
  RuleViolationError,
  remember,
  type Subject,
  UNKNOWN_ID,
} from './rule.ts'
import { expectTotals } from './total-rules.ts'

/** The lines of the first request, or a line for an item that does not exist. */
async function anyLines(subject: Subject) {
  const { lines } = await baseRequest(subject)
  return lines.length > 0 ? lines : [lineOf(unknownItem(subject, 0), await storeOrUnknown(subject), 1)]
}

const optional: Rule = {
  id: 'member.optional',
  title: 'A price request may leave out the member number.',
  given: '§2.3',
  needs: ['prices.array'],
  async check(subject) {
    const { lines, without } = await baseRequest(subject)
    return answered(lines, without, 'A price request without a member number').exchange
  },
}

const isNull: Rule = {
  id: 'member.null',
  title: 'A memberNumber of null is the same as none.',
  needs: ['member.optional'],
  async check(subject) {
    const lines = await anyLines(subject)
    const { exchange, answers } = answered(
      lines,
      await requestPrices(subject, lines, null),
      'A price request with memberNumber null',
    )
    const base = (await baseAnswers(subject)).answers
    const isOther = ({ answer }: (typeof base)[number], index: number) =>
      answer.unitPrice !== answers[index]?.answer.unitPrice
    if (!base.some(isOther)) return exchange
    // Prices may have changed since.
    const now = answered(lines, await requestPrices(subject, lines), 'A price request').answers
    const other = now.findIndex(
      (pair, index) =>
        isOther(pair, index) &&
        base.some((one) => isDeepStrictEqual(one.answer.unitPrice, pair.answer.unitPrice)),
    )
    if (other < 0) return exchange
    throw new RuleViolationError(
      `Item ${now[other]?.line.itemId} has another price with memberNumber null than without a member number.`,
      exchange,
    )
  },
}

const unknown: Rule = {
  id: 'member.unknown',
  title: 'A member number that does not exist is not a fault of the server: no 5xx.',
  given: '§7',
  needs: ['prices.array'],
  async check(subject) {
    const exchange = await requestPrices(subject, await anyLines(subject), UNKNOWN_ID)
    expectNoLimit(exchange)
    if (exchange.status > 0 && exchange.status < 500) return exchange
    throw new RuleViolationError(
      `A price request with an unknown member number must not return ${describe(exchange)}.`,
      exchange,
    )
  },
}

const unknownLines: Rule = {
  id: 'member.unknown-lines',
  title: 'A call with a member number that does not exist succeeds: its lines have an error or a price.',
  needs: ['member.unknown', 'prices.unknown-item'],
  async check(subject) {
    const lines = await anyLines(subject)
    const exchange = await requestPrices(subject, lines, UNKNOWN_ID)
    return answered(lines, exchange, 'A price request with an unknown member number').exchange
  },
}

/** What the first item costs, for the member or without a member number. */
export async function readFirstPrice(subject: Subject, isMember: boolean) {
  const lines = (await baseRequest(subject)).lines.slice(0, 1)
  const exchange = await requestPrices(subject, lines, isMember ? subject.memberNumber : undefined)
  const [first] = answered(lines, exchange, 'A price request').answers
  const { unitPrice, discount, totalPrice } = first?.answer ?? {}
  return { exchange, price: JSON.stringify([unitPrice, discount, totalPrice]) }
}

/**
 * What the first item costs without a member number, then for the member, and then twice without again. Requested one after
 * the other, before anything else is requested for the member: prices may change while this program runs.
 */
export const aroundMember = remember(async (subject: Subject) => {
  const before = await readFirstPrice(subject, false)
  const own = await readFirstPrice(subject, true)
  return { before, own, after: [await readFirstPrice(subject, false), await readFirstPrice(subject, false)] }
})

const known: Rule = {
  id: 'member.known',
  title: 'With the member number of --member, the items have a price that adds up.',
  given: '§2.3',
  needs: ['prices.total'],
  async check(subject) {
    const { memberNumber } = subject
    if (memberNumber === undefined) throw new NotCheckedError('name a member with --member NUMBER')
    const { lines, memberNumber: needed } = await baseRequest(subject)
    // If that cannot be read, another rule says so.
    if (needed === undefined) await aroundMember(subject).catch(() => {})
    const wanted = lines.map((line) => ({ ...line, quantity: 7 }))
    const { answers } = answered(
      wanted,
      await requestPrices(subject, wanted, memberNumber),
      'A price request with a member number',
    )
    const [without] = answers
    if (without && !answers.some(({ answer }) => isPriced(answer)))
      throw new NotCheckedError(
        `member ${memberNumber} has no price for item ${without.line.itemId}; name another with --member NUMBER`,
      )
    return expectTotals(answers)
  },
}

/** Discounts of members often begin at ten or at a hundred. */
const LARGE_QUANTITIES = [12, 50, 250]

/** Whether a line is for an item that does not exist, or that the store does not sell. */
const mustFail = ({ items, notInRange = [] }: Subject, { line }: AnsweredLine) =>
  !items.includes(line.itemId) ||
  notInRange.some(({ itemId, storeId }) => itemId === line.itemId && storeId === String(line.storeId))

const lines: Rule = {
  id: 'member.lines',
  title:
    'With the member number of --member, lines that cannot be priced have an error, and many lines an element each.',
  given: '§4.1',
  needs: ['member.known', 'prices.unknown-item', 'prices.many'],
  async check(subject) {
    const { memberNumber } = subject
    const notInRange = await notInRangeRequest(subject).catch(() => undefined)
    const requests = [await mixedRequest(subject), ...(notInRange ? [notInRange] : [])]
    const usual = await usualDetailsOf(subject)
    for (const { answers: before } of requests) {
      const asked = before.map(({ line }) => line)
      const exchange = await requestPrices(subject, asked, memberNumber)
      const { answers } = answered(asked, exchange, 'A price request with a member number')
      const wrong = answers.find(
        (one, index) =>
          mustFail(subject, one) &&
          isUnpriced(before[index] as AnsweredLine, usual) &&
          isPriced(one.answer) &&
          !carriesError(one, usual),
      )
      if (wrong)
        throw new RuleViolationError(
          `The line for item ${wrong.line.itemId} at store ${wrong.line.storeId} has a price for member ${memberNumber}, and an error without a member number.`,
          exchange,
        )
    }
    const many = await manyLines(subject)
    const exchange = await requestPrices(subject, many, memberNumber)
    return answered(many, exchange, 'A price request with a member number').exchange
  },
}

const largeQuantity: Rule = {
  id: 'member.large-quantity',
  title: 'With the member number of --member, totals add up for quantities of 12, 50 and 250 too.',
  given: '§2.4',
  needs: ['member.known', 'prices.large-quantity'],
  async check(subject) {
    const { lines } = await baseRequest(subject)
    let last: Exchange | undefined
    for (const quantity of LARGE_QUANTITIES) {
      const wanted = lines.map((line) => ({ ...line, quantity }))
      const exchange = await requestPrices(subject, wanted, subject.memberNumber)
      last = expectTotals(answered(wanted, exchange, 'A price request with a member number').answers)
    }
    return last as Exchange
  },
}

/** Member numbers (specification 2.3, 7). */
export const MEMBER_RULES: Rule[] = [optional, isNull, unknown, unknownLines, known, lines, largeQuantity]
