import { mixedRequest, notInRangeRequest, unknownStoreRequest } from './line-error-rules.ts'
import {
  AMOUNTS,
  type Answered,
  type AnsweredLine,
  allAnswered,
  ask,
  baseAnswers,
  baseRequest,
  brokenAmount,
  carriesError,
  isAmount,
  isPriced,
  NO_ITEMS,
  usualDetails,
} from './prices.ts'
import { judgeEach, NotCheckedError, type Rule, type Subject } from './rule.ts'

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

/** The names and the number of the elements, whatever the assumed names of their other fields are (specification 2.4, 4.1). */
export const GIVEN_NAME_RULES: Rule[] = [
  {
    id: 'prices.names',
    title: 'The amounts of a line are named unitPrice, discount and totalPrice.',
    given: '§2.4',
    needs: ['prices.array'],
    check: judgeEach(baseAnswers, (found) => {
      const [renamed] = AMOUNTS.flatMap((amount) => {
        const other = amount in found.answer ? undefined : otherNameOf(found, amount)
        return other ? [{ amount, other }] : []
      })
      return (
        renamed &&
        `The line for item ${found.line.itemId} has ${renamed.other}: name it ${renamed.amount}, as in {"unitPrice": 12.5, "discount": 0, "totalPrice": 25}.`
      )
    }),
  },
  {
    id: 'prices.one-line',
    title: 'A price request with one line returns an array with one element.',
    given: '§4.1',
    needs: ['prices.array'],
    check: async (subject) => (await firstLine(subject)).exchange,
  },
]

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

/** What the specification gives about a line that cannot be priced (2.4, 7). */
export const GIVEN_ERROR_RULES: Rule[] = [
  {
    id: 'prices.null',
    title: 'The amounts of a line that cannot be priced are numbers or null.',
    given: '§2.4',
    needs: ['prices.fields', 'prices.unknown-item'],
    check: judgeEach(unpricedLines, ({ line, answer }) => {
      const name = brokenAmount(answer)
      return (
        name &&
        `The ${name} of item ${line.itemId} is ${JSON.stringify(answer[name])}: make it null, as in "${name}": null.`
      )
    }),
  },
  {
    id: 'prices.code-and-message',
    title: 'A line that cannot be priced carries an error code and an error message, both texts.',
    given: '§7',
    needs: ['prices.error'],
    check: judgeEach(
      errorTexts,
      ({ line, texts }) =>
        texts.length < 2 &&
        `The line for item ${line.itemId} at store ${line.storeId} has ${texts.length === 0 ? 'neither a code nor a message that is a text of the line' : 'only one of the two as a text'}: add both, as in "errorCode": "NOT_IN_RANGE", "errorMessage": "The store does not sell this item.".`,
    ),
  },
]

/** Every line of this check, each with whether it is without a price and says no reason. */
async function everyLine(subject: Subject) {
  const found = await allAnswered(subject)
  const usual = usualDetails(found)
  const { exchange } = await baseAnswers(subject)
  const isSilent = (one: AnsweredLine) => !isPriced(one.answer) && !carriesError(one, usual)
  return { exchange, answers: found.map((one) => ({ ...one, isSilent: isSilent(one) })) }
}

/** After all other price requests. */
export const ALL_LINES_RULES: Rule[] = [
  {
    id: 'prices.all-amounts',
    title: 'In every answer of this check, the amounts are numbers or null.',
    given: '§2.4',
    needs: ['prices.null'],
    check: judgeEach(everyLine, ({ line, answer }) => {
      const name = brokenAmount(answer)
      return (
        name &&
        `The ${name} of item ${line.itemId} for a quantity of ${line.quantity} is ${JSON.stringify(answer[name])}: write a number, as in "${name}": 12.5, or null.`
      )
    }),
  },
  {
    id: 'prices.all-errors',
    title: 'In every answer of this check, a line without a price carries an error.',
    given: '§2.4',
    needs: ['prices.code-and-message', 'prices.all-amounts'],
    check: judgeEach(
      everyLine,
      ({ isSilent, line: { itemId, storeId, quantity } }) =>
        // The specification does not say what becomes of a quantity that is none.
        isSilent &&
        quantity > 0 &&
        `The line for item ${itemId} at store ${storeId}, quantity ${quantity}, has no price, and no error says why: add "errorCode" and "errorMessage".`,
    ),
  },
]
