import { mixedRequest, notInRangeRequest, unknownStoreRequest } from './line-error-rules.ts'
import {
  type AnsweredLine,
  allAnswered,
  answered,
  baseAnswers,
  baseRequest,
  carriesError,
  isPriced,
  NO_ITEMS,
  requestPrices,
  usualDetails,
} from './prices.ts'
import { NotCheckedError, type Rule, RuleViolationError, type Subject } from './rule.ts'

const AMOUNTS = ['unitPrice', 'discount', 'totalPrice'] as const

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
    Number.isFinite(value) && !AMOUNTS.some((known) => known === name) && !own.includes(String(value))
      ? [name]
      : [],
  )
  const isOtherwisePriced =
    Number.isFinite(answer.unitPrice) || Number.isFinite(answer.totalPrice) || others.length > 1
  return isOtherwisePriced ? others[amount === 'unitPrice' ? 0 : others.length - 1] : undefined
}

const names: Rule = {
  id: 'prices.names',
  title: 'The amounts of a line are named unitPrice, discount and totalPrice.',
  given: '§2.4',
  needs: ['prices.array'],
  async check(subject) {
    const { exchange, answers } = await baseAnswers(subject)
    for (const found of answers)
      for (const amount of AMOUNTS) {
        const { line, answer } = found
        if (amount in answer) continue
        const other = otherNameOf(found, amount)
        if (other)
          throw new RuleViolationError(
            `The line for item ${line.itemId} has ${other}: name it ${amount}, as in {"unitPrice": 12.5, "discount": 0, "totalPrice": 25}.`,
            exchange,
          )
      }
    return exchange
  },
}

const oneLine: Rule = {
  id: 'prices.one-line',
  title: 'A price request with one line returns an array with one element.',
  given: '§4.1',
  needs: ['prices.array'],
  async check(subject) {
    const { lines, memberNumber } = await baseRequest(subject)
    if (lines.length === 0) throw new NotCheckedError(NO_ITEMS)
    const first = lines.slice(0, 1)
    const exchange = await requestPrices(subject, first, memberNumber)
    return answered(first, exchange, 'A price request with one line').exchange
  },
}

/** The lines that cannot be priced: of items and stores that do not exist, and of items that are not in range. */
async function unpricedLines(subject: Subject): Promise<AnsweredLine[]> {
  const { items, notInRange: pairs = [] } = subject
  const mixed = await mixedRequest(subject)
  // Other rules say what is wrong with these requests, or that they cannot be sent.
  const others = await Promise.all(
    [unknownStoreRequest, notInRangeRequest].map((request) => request(subject).catch(() => undefined)),
  )
  const [elsewhere = [], notInRange = []] = others.map((request) => request?.answers)
  const isPair = ({ line }: AnsweredLine) =>
    pairs.some(({ itemId, storeId }) => itemId === line.itemId && storeId === String(line.storeId))
  return [
    ...mixed.answers.filter(({ line }) => !items.includes(line.itemId)),
    ...(items.length > 0 ? elsewhere.slice(-1) : []),
    ...notInRange.filter(isPair),
  ]
}

const nulls: Rule = {
  id: 'prices.null',
  title: 'The amounts of a line that cannot be priced are numbers or null.',
  given: '§2.4',
  needs: ['prices.fields', 'prices.unknown-item'],
  async check(subject) {
    const found = await unpricedLines(subject)
    for (const { line, answer, exchange } of found)
      for (const amount of AMOUNTS) {
        const value = answer[amount] ?? null
        if (value !== null && !Number.isFinite(value))
          throw new RuleViolationError(
            `The ${amount} of item ${line.itemId} is ${JSON.stringify(value)}: make it null, as in "${amount}": null.`,
            exchange,
          )
      }
    return (await mixedRequest(subject)).exchange
  },
}

/** A time or a random id: neither is a code or a message. */
const VOLATILE = /^\d{4}-\d\d-\d\d[T ]|^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

/** The texts of an answer that are neither blank nor repeat its line: the names of those may be an error. */
function textsOf({ line, answer }: AnsweredLine): string[] {
  const own = [line.itemId, line.storeId].map(String)
  return Object.entries(answer).flatMap(([name, value]) => {
    const isText =
      typeof value === 'string' && value.trim() !== '' && !own.includes(value) && !VOLATILE.test(value)
    // A text may be an error code that looks like the quantity.
    const isQuantity = value === String(line.quantity) && /quant|qty/i.test(name)
    return isText && !isQuantity ? [`${name}=${value}`] : []
  })
}

const codeAndMessage: Rule = {
  id: 'prices.code-and-message',
  title: 'A line that cannot be priced carries an error code and an error message, both texts.',
  given: '§7',
  needs: ['prices.error'],
  async check(subject) {
    // What lines with a price say as well is no error: a currency, for example.
    const usual = new Set(
      (await baseAnswers(subject)).answers.filter(({ answer }) => isPriced(answer)).flatMap(textsOf),
    )
    for (const answer of await unpricedLines(subject)) {
      const texts = textsOf(answer).filter((text) => !usual.has(text))
      if (texts.length < 2)
        throw new RuleViolationError(
          `The line for item ${answer.line.itemId} at store ${answer.line.storeId} has ${texts.length === 0 ? 'neither a code nor a message that is a text of the line' : 'only one of the two as a text'}: add both, as in "errorCode": "NOT_IN_RANGE", "errorMessage": "The store does not sell this item.".`,
          answer.exchange,
        )
    }
    return (await mixedRequest(subject)).exchange
  },
}

const allAmounts: Rule = {
  id: 'prices.all-amounts',
  title: 'In every answer of this check, the amounts are numbers or null.',
  given: '§2.4',
  needs: ['prices.null'],
  async check(subject) {
    const found = await allAnswered(subject)
    for (const { line, answer, exchange } of found)
      for (const amount of AMOUNTS) {
        const value = answer[amount] ?? null
        if (value !== null && !Number.isFinite(value))
          throw new RuleViolationError(
            `The ${amount} of item ${line.itemId} for a quantity of ${line.quantity} is ${JSON.stringify(value)}: write a number, as in "${amount}": 12.5, or null.`,
            exchange,
          )
      }
    return (await baseAnswers(subject)).exchange
  },
}

const allErrors: Rule = {
  id: 'prices.all-errors',
  title: 'In every answer of this check, a line without a price carries an error.',
  given: '§2.4',
  needs: ['prices.code-and-message', 'prices.all-amounts'],
  async check(subject) {
    const found = await allAnswered(subject)
    const usual = usualDetails(found)
    // The specification does not say what becomes of a quantity that is none.
    const silent = found.find(
      (one) => one.line.quantity > 0 && !isPriced(one.answer) && !carriesError(one, usual),
    )
    if (!silent) return (await baseAnswers(subject)).exchange
    const { itemId, storeId, quantity } = silent.line
    throw new RuleViolationError(
      `The line for item ${itemId} at store ${storeId}, quantity ${quantity}, has no price, and no error says why: add "errorCode" and "errorMessage".`,
      silent.exchange,
    )
  },
}

/** What the specification gives about a line (2.4, 4.1, 7), whatever the assumed names of its other fields are. */
export const GIVEN_NAME_RULES: Rule[] = [names, oneLine]
export const GIVEN_ERROR_RULES: Rule[] = [nulls, codeAndMessage]
/** After all other price requests. */
export const ALL_LINES_RULES: Rule[] = [allAmounts, allErrors]
