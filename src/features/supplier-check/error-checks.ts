import { isUnknown, mixedRequest, notInRangeRequest, unknownStoreRequest } from './line-error-checks.ts'
import {
  AMOUNTS,
  type Answered,
  type AnsweredLine,
  allAnswered,
  baseAnswers,
  brokenAmount,
  carriesError,
  isPriced,
  usualDetails,
} from './prices.ts'
import { type Checks, judgeEach, remember, type Subject } from './rule.ts'

/** The lines that cannot be priced: of items and stores that do not exist, and of items that are not in range. */
async function unpricedLines(subject: Subject): Promise<Answered> {
  const { items, notInRange: pairs = [] } = subject
  const mixed = await mixedRequest(subject)
  // Other rules say what is wrong with these requests, or that they cannot be sent.
  const others = await Promise.all(
    [unknownStoreRequest, notInRangeRequest].map((request) => request(subject).catch(() => undefined)),
  )
  const [elsewhere = [], notInRange = []] = others.map((request) => request?.answers)
  const isPair = ({ line }: AnsweredLine) =>
    pairs.some(({ itemId, storeId }) => itemId === line.itemId && storeId === String(line.storeId))
  const answers = [
    ...mixed.answers.filter(({ line }) => !items.includes(line.itemId)),
    ...(items.length > 0 ? elsewhere.slice(-1) : []),
    ...notInRange.filter(isPair),
  ]
  return { exchange: mixed.exchange, answers }
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

/** The same lines, each with those of its texts that a line with a price does not have: a currency is no error. */
async function errorTexts(subject: Subject) {
  const { exchange, answers } = await unpricedLines(subject)
  const base = await baseAnswers(subject)
  const usual = new Set(base.answers.filter(({ answer }) => isPriced(answer)).flatMap(textsOf))
  const found = answers.map((one) => ({ ...one, texts: textsOf(one).filter((text) => !usual.has(text)) }))
  return { exchange, answers: found }
}

/** Every line of this check, each with whether it is without a price and says no reason. */
const everyLine = remember(async (subject: Subject) => {
  const found = await allAnswered(subject)
  const usual = usualDetails(found)
  const { exchange } = await baseAnswers(subject)
  const isSilent = (one: AnsweredLine) => !isPriced(one.answer) && !carriesError(one, usual)
  return { exchange, answers: found.map((one) => ({ ...one, isSilent: isSilent(one) })) }
})

/** What a line says that cannot be priced (specification 2.4, 7). */
export const ERROR_CHECKS: Checks = {
  'prices.null': judgeEach(unpricedLines, ({ line, answer }) => {
    const name = brokenAmount(answer)
    return (
      name &&
      `The ${name} of item ${line.itemId} is ${JSON.stringify(answer[name])}: make it null, as in "${name}": null.`
    )
  }),
  'prices.code-and-message': judgeEach(
    errorTexts,
    ({ line, texts }) =>
      texts.length < 2 &&
      `The line for item ${line.itemId} at store ${line.storeId} has ${texts.length === 0 ? 'neither a code nor a message that is a text of the line' : 'only one of the two as a text'}: add both, as in "errorCode": "NOT_IN_RANGE", "errorMessage": "The store does not sell this item.".`,
  ),
  'prices.error-names': judgeEach(mixedRequest, (one, subject) => {
    const isText = (name: string) => typeof one.answer[name] === 'string' && one.answer[name] !== ''
    const absent = ['errorCode', 'errorMessage'].find((name) => !isText(name))
    return isUnknown(subject, one) && absent && `The line for item ${one.line.itemId} has no ${absent}.`
  }),
  'prices.error-alone': judgeEach(mixedRequest, ({ line, answer }) => {
    const prices = AMOUNTS.filter((name) => (answer[name] ?? null) !== null).length
    const nulls = AMOUNTS.filter((name) => answer[name] === null).length
    const hasError = (answer.errorCode ?? answer.errorMessage ?? null) !== null
    if (prices === 3) return hasError && `The line for item ${line.itemId} has prices and an error.`
    return nulls !== 3 && `The prices of item ${line.itemId} are neither all there nor all null.`
  }),
  'prices.all-amounts': judgeEach(everyLine, ({ line, answer }) => {
    const name = brokenAmount(answer)
    return (
      name &&
      `The ${name} of item ${line.itemId} for a quantity of ${line.quantity} is ${JSON.stringify(answer[name])}: write a number, as in "${name}": 12.5, or null.`
    )
  }),
  'prices.all-errors': judgeEach(
    everyLine,
    ({ isSilent, line: { itemId, storeId, quantity } }) =>
      // The specification does not say what becomes of a quantity that is none.
      isSilent &&
      quantity > 0 &&
      `The line for item ${itemId} at store ${storeId}, quantity ${quantity}, has no price, and no error says why: add "errorCode" and "errorMessage".`,
  ),
}
