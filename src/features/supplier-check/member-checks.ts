import { isDeepStrictEqual } from 'node:util'
import { describe } from './exchange.ts'
import { mixedRequest, notInRangeRequest, usualDetailsOf } from './line-error-checks.ts'
import {
  type AnsweredLine,
  answered,
  baseAnswers,
  baseRequest,
  carriesError,
  isPriced,
  isUnpriced,
  type Line,
  lineOf,
  requestPrices,
  storeOrUnknown,
  unknownItem,
} from './prices.ts'
import { manyLines } from './request-checks.ts'
import {
  type Checks,
  expectNoLimit,
  judge,
  judgeEach,
  NotCheckedError,
  remember,
  type Subject,
  UNKNOWN_ID,
} from './rule.ts'
import { expectTotals } from './total-checks.ts'

/** The lines of the first request, or a line for an item that does not exist. */
async function anyLines(subject: Subject) {
  const { lines } = await baseRequest(subject)
  return lines.length > 0 ? lines : [lineOf(unknownItem(subject, 0), await storeOrUnknown(subject), 1)]
}

/** Requests prices with a member number, or with null. Throws `RuleViolationError` if the lines are not answered. */
export const askAs = async (
  subject: Subject,
  lines: readonly Line[],
  memberNumber: string | null | undefined,
  when = 'A price request with a member number',
) => answered(lines, await requestPrices(subject, lines, memberNumber), when)

/** The first answer with a memberNumber of null whose price differs from that without the field; none if there is none. */
async function changedByNull(subject: Subject) {
  const lines = await anyLines(subject)
  const { exchange, answers } = await askAs(subject, lines, null, 'A price request with memberNumber null')
  const base = (await baseAnswers(subject)).answers
  const isOther = ({ answer }: AnsweredLine, index: number) =>
    answer.unitPrice !== answers[index]?.answer.unitPrice
  if (!base.some(isOther)) return { exchange, changed: undefined }
  // Prices may have changed since.
  const now = await askAs(subject, lines, undefined, 'A price request')
  const isKnown = (price: unknown) => base.some(({ answer }) => isDeepStrictEqual(answer.unitPrice, price))
  const changed = now.answers.find((one, index) => isOther(one, index) && isKnown(one.answer.unitPrice))
  return { exchange, changed }
}

/** What the first item costs, for the member or without a member number. */
export async function readFirstPrice(subject: Subject, isMember: boolean) {
  const lines = (await baseRequest(subject)).lines.slice(0, 1)
  const asker = isMember ? subject.memberNumber : undefined
  const { exchange, answers } = await askAs(subject, lines, asker, 'A price request')
  const [first] = answers
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

/** The items for the member, in a quantity of seven. */
async function memberPrices(subject: Subject): Promise<AnsweredLine[]> {
  const { memberNumber } = subject
  if (memberNumber === undefined) throw new NotCheckedError('name a member with --member NUMBER')
  const { lines, memberNumber: needed } = await baseRequest(subject)
  // If that cannot be read, another rule says so.
  if (needed === undefined) await aroundMember(subject).catch(() => {})
  const wanted = lines.map((line) => ({ ...line, quantity: 7 }))
  const { answers } = await askAs(subject, wanted, memberNumber)
  const [without] = answers
  if (without && !answers.some(({ answer }) => isPriced(answer)))
    throw new NotCheckedError(
      `member ${memberNumber} has no price for item ${without.line.itemId}; name another with --member NUMBER`,
    )
  return answers
}

/** Discounts of members often begin at ten or at a hundred. */
const LARGE_QUANTITIES = [12, 50, 250]

/** Whether a line is for an item that does not exist, or that the store does not sell. */
const mustFail = ({ items, notInRange = [] }: Subject, { line }: AnsweredLine) =>
  !items.includes(line.itemId) ||
  notInRange.some(({ itemId, storeId }) => itemId === line.itemId && storeId === String(line.storeId))

/** The lines that have an error without a member number, as they are for the member: each with whether it has a price. */
async function memberErrors(subject: Subject) {
  const { memberNumber } = subject
  const notInRange = await notInRangeRequest(subject).catch(() => undefined)
  const usual = await usualDetailsOf(subject)
  const found: (AnsweredLine & { hasPrice: boolean })[] = []
  for (const { answers: before } of [await mixedRequest(subject), ...(notInRange ? [notInRange] : [])]) {
    const wrong = before.filter((one) => mustFail(subject, one) && isUnpriced(one, usual))
    const asked = before.map(({ line }) => line)
    const { answers } = await askAs(subject, asked, memberNumber)
    for (const one of answers.filter(({ line }) => wrong.some((other) => other.line === line)))
      found.push({ ...one, hasPrice: isPriced(one.answer) && !carriesError(one, usual) })
  }
  const { exchange } = await askAs(subject, await manyLines(subject), memberNumber)
  return { exchange, answers: found }
}

/** Member numbers (specification 2.3, 7). */
export const MEMBER_CHECKS: Checks = {
  async 'member.optional'(subject) {
    const { lines, without } = await baseRequest(subject)
    return answered(lines, without, 'A price request without a member number').exchange
  },
  'member.null': judge(
    changedByNull,
    ({ changed }) =>
      changed &&
      `Item ${changed.line.itemId} has another price with memberNumber null than without a member number.`,
  ),
  'member.unknown': judge(
    async (subject) => ({ exchange: await requestPrices(subject, await anyLines(subject), UNKNOWN_ID) }),
    ({ exchange }) => {
      expectNoLimit(exchange)
      const isFault = exchange.status === 0 || exchange.status >= 500
      return isFault && `A price request with an unknown member number must not return ${describe(exchange)}.`
    },
  ),
  async 'member.unknown-lines'(subject) {
    const when = 'A price request with an unknown member number'
    return (await askAs(subject, await anyLines(subject), UNKNOWN_ID, when)).exchange
  },
  'member.known': async (subject) => expectTotals(await memberPrices(subject)),
  'member.lines': judgeEach(
    memberErrors,
    ({ hasPrice, line }, { memberNumber }) =>
      hasPrice &&
      `The line for item ${line.itemId} at store ${line.storeId} has a price for member ${memberNumber}, and an error without a member number.`,
  ),
  async 'member.large-quantity'(subject) {
    let { lines, exchange } = await baseRequest(subject)
    for (const quantity of LARGE_QUANTITIES) {
      lines = lines.map((line) => ({ ...line, quantity }))
      exchange = expectTotals((await askAs(subject, lines, subject.memberNumber)).answers)
    }
    return exchange
  },
}
