import { describe, type Exchange } from './exchange.ts'
import { longText, oddTexts, otherNumbers } from './odd-texts.ts'
import { storePath } from './places.ts'
import {
  type Answered,
  type AnsweredLine,
  answered,
  ask,
  baseAnswers,
  baseRequest,
  carriesError,
  isPriced,
  isUnpriced,
  type Line,
  lineOf,
  linesOf,
  NO_ITEMS,
  requestPrices,
  storeOrUnknown,
  unknownItem,
  usualDetails,
} from './prices.ts'
import {
  expectNoLimit,
  NotCheckedError,
  type Rule,
  RuleViolationError,
  remember,
  type Subject,
  UNKNOWN_ID,
  withToken,
} from './rule.ts'
import { findStores, unknownLike } from './stores.ts'

/** The items that have a price, between items that do not exist. No order of codes is the order of these lines. */
export const mixedRequest = remember(async (subject: Subject): Promise<Answered> => {
  const store = await storeOrUnknown(subject)
  const known = linesOf(subject.items, store, 1)
  const unknown = [0, 1, 2, 3].map((index) => lineOf(unknownItem(subject, index), store, index + 2))
  const lines = [...unknown.slice(0, 2), ...known, ...unknown.slice(2)]
  return ask(subject, lines, 'A price request with items that do not exist')
})

/** Whether a line is for an item that does not exist. */
const isUnknown = ({ items }: Subject, { line }: AnsweredLine) => !items.includes(line.itemId)

/** What the answers of the first request, which have prices, say besides them. */
export const usualDetailsOf = async (subject: Subject) => usualDetails((await baseAnswers(subject)).answers)

/** Asks for lines that cannot be priced, after those that can. The call must succeed, and say so for each of these lines. */
async function expectLineErrors(
  subject: Subject,
  lines: readonly Line[],
  description: string,
): Promise<Answered> {
  const store = await storeOrUnknown(subject)
  const known = linesOf(subject.items, store, 1).filter(
    ({ itemId }) => !lines.some((line) => line.itemId === itemId),
  )
  const result = await ask(subject, [...known, ...lines], `A price request where ${description}`)
  const { exchange, answers } = result
  const usual = await usualDetailsOf(subject)
  const wrong = answers.slice(known.length).find((answer) => !isUnpriced(answer, usual))
  if (wrong)
    throw new RuleViolationError(
      `The line for item ${wrong.line.itemId} at store ${wrong.line.storeId} has a price and no error: ${description}.`,
      exchange,
    )
  return result
}

const unknown: Rule = {
  id: 'prices.unknown-item',
  title: 'An item that does not exist is an error of its line, and the call succeeds.',
  given: '§7',
  needs: ['prices.array'],
  async check(subject) {
    const { exchange, answers } = await mixedRequest(subject)
    const usual = await usualDetailsOf(subject)
    const wrong = answers.find((answer) => isUnknown(subject, answer) && !isUnpriced(answer, usual))
    if (wrong)
      throw new RuleViolationError(`Item ${wrong.line.itemId} does not exist, but has a price.`, exchange)
    const store = await storeOrUnknown(subject)
    const lines = [0, 1].map((index) => lineOf(unknownItem(subject, index), store, 1))
    await ask(subject, lines, 'A price request with nothing but items that do not exist')
    return exchange
  },
}

/** How often both requests are repeated: a price that changes may come back, and a line may have no price for a moment. */
const READS = 3

/**
 * The first line for one of the items `codes` that has no price, or not that of the first request, however often both
 * requests are repeated; undefined if there is none, and if the prices change while this program runs (specification 1.7:
 * they are real-time prices).
 */
export async function changedPrice(
  subject: Subject,
  answers: readonly AnsweredLine[],
  codes: readonly string[] = subject.items,
): Promise<AnsweredLine | undefined> {
  const priceIn = (all: readonly AnsweredLine[], code: string) =>
    all.find(({ line }) => line.itemId === code)?.answer.unitPrice
  const base = await baseAnswers(subject)
  const { lines } = await baseRequest(subject)
  const isChanged = ({ line, answer }: AnsweredLine) =>
    codes.includes(line.itemId) && answer.unitPrice !== priceIn(base.answers, line.itemId)
  let changed = answers.find(isChanged)
  for (let read = 0; changed && read < READS; read++) {
    const { itemId } = changed.line
    // Twice: of two prices in turn, one is another.
    for (let time = 0; time < 2; time++) {
      const now = await ask(subject, lines, 'A price request')
      if (priceIn(now.answers, itemId) !== priceIn(base.answers, itemId)) return undefined
    }
    const asked = answers.map(({ line }) => line)
    const again = await ask(subject, asked, 'A price request')
    changed = again.answers.find((answer) => answer.line.itemId === itemId && isChanged(answer))
  }
  return changed
}

const beside: Rule = {
  id: 'prices.beside-errors',
  title: 'Items that have a price keep it beside lines with an error.',
  given: '§4.1',
  needs: ['prices.known', 'prices.unknown-item'],
  async check(subject) {
    const { exchange, answers } = await mixedRequest(subject)
    const changed = await changedPrice(subject, answers)
    if (!changed) return exchange
    throw new RuleViolationError(
      `Item ${changed.line.itemId} has no price or another one beside items that do not exist.`,
      exchange,
    )
  },
}

const error: Rule = {
  id: 'prices.error',
  title: 'A line that cannot be priced carries an error code or message, under any name.',
  given: '§2.4',
  needs: ['prices.unknown-item'],
  async check(subject) {
    const { exchange, answers } = await mixedRequest(subject)
    const base = await baseAnswers(subject)
    const usual = await usualDetailsOf(subject)
    const unpriced = [
      ...answers.filter((answer) => isUnknown(subject, answer)),
      // An item of --item may have no price either.
      ...base.answers.filter(({ answer }) => (answer.unitPrice ?? null) === null),
    ]
    const silent = unpriced.find((answer) => !carriesError(answer, usual))
    if (!silent) return exchange
    throw new RuleViolationError(
      `Item ${silent.line.itemId} has no price, and no error says why.`,
      silent.exchange,
    )
  },
}

const errorNames: Rule = {
  id: 'prices.error-names',
  title: 'The error is a text errorCode and a text errorMessage.',
  given: undefined,
  needs: ['prices.code-and-message'],
  async check(subject) {
    const { exchange, answers } = await mixedRequest(subject)
    for (const { line, answer } of answers.filter((answer) => isUnknown(subject, answer)))
      for (const name of ['errorCode', 'errorMessage'])
        if (typeof answer[name] !== 'string' || answer[name] === '')
          throw new RuleViolationError(`The line for item ${line.itemId} has no ${name}.`, exchange)
    return exchange
  },
}

const AMOUNTS = ['unitPrice', 'discount', 'totalPrice'] as const

const errorAlone: Rule = {
  id: 'prices.error-alone',
  title: 'A line has three prices and no error, or an error and null as each of the three prices.',
  given: undefined,
  needs: ['prices.error-names', 'prices.null'],
  async check(subject) {
    const { exchange, answers } = await mixedRequest(subject)
    for (const { line, answer } of answers) {
      const prices = AMOUNTS.filter((name) => (answer[name] ?? null) !== null).length
      const nulls = AMOUNTS.filter((name) => answer[name] === null).length
      const hasError = (answer.errorCode ?? answer.errorMessage ?? null) !== null
      if (prices === 3 && hasError)
        throw new RuleViolationError(`The line for item ${line.itemId} has prices and an error.`, exchange)
      if (prices !== 3 && nulls !== 3)
        throw new RuleViolationError(
          `The prices of item ${line.itemId} are neither all there nor all null.`,
          exchange,
        )
    }
    return exchange
  },
}

/** For how many items codes are tried that are almost theirs. */
const MAX_ITEMS = 5

const nearItem: Rule = {
  id: 'prices.near-item',
  title: 'A code that only begins or ends like that of an item is an item that does not exist.',
  given: '§7',
  needs: ['prices.known', 'prices.unknown-item'],
  async check(subject) {
    const store = await storeOrUnknown(subject)
    const lines = subject.items
      .slice(0, MAX_ITEMS)
      .flatMap((code) => [`${code}-${UNKNOWN_ID}`, `${UNKNOWN_ID}-${code}`])
      .map((near) => lineOf(near, store, 1))
    return (await expectLineErrors(subject, lines, 'the code has a text added to it')).exchange
  },
}

const oddItem: Rule = {
  id: 'prices.odd-item',
  title: 'A code with a wildcard, a quote or the name of a member of objects is an item that does not exist.',
  given: '§7',
  needs: ['prices.near-item', 'prices.one-line'],
  async check(subject) {
    const store = await storeOrUnknown(subject)
    const [code = ''] = subject.items
    const lines = oddTexts(code)
      .filter((odd) => !subject.items.includes(odd))
      .map((odd) => lineOf(odd, store, 1))
    await expectLong(subject, lineOf(longText(code), store, 1), 'an item code of 300 characters')
    return (await expectLineErrors(subject, lines, 'the code is unusual')).exchange
  },
}

/** Asks for a line with a text that may be too long: the call may be refused as a whole, but may not fail. */
async function expectLong(subject: Subject, line: Line, what: string): Promise<void> {
  const { memberNumber } = await baseRequest(subject)
  const exchange = await requestPrices(subject, [line], memberNumber)
  expectNoLimit(exchange)
  if (exchange.status === 0 || exchange.status >= 500)
    throw new RuleViolationError(
      `A price request with ${what} must not return ${describe(exchange)}: the line carries an error, and the call succeeds.`,
      exchange,
    )
  const usual = await usualDetailsOf(subject)
  if (
    exchange.status === 200 &&
    answered([line], exchange, 'A price request').answers.some((one) => !isUnpriced(one, usual))
  )
    throw new RuleViolationError(`The line with ${what} has a price, and no error.`, exchange)
}

const oddStore: Rule = {
  id: 'prices.odd-store',
  title: 'A store id that only begins like that of a store, or is unusual, is a store that does not exist.',
  given: '§7',
  needs: ['prices.unknown-store', 'prices.one-line'],
  async check(subject) {
    const store = await storeOrUnknown(subject)
    const [code = ''] = subject.items
    const id = String(store)
    const found = (await findStores(subject)).stores.map((one) => String(one.id))
    const shapes = [
      `${id}-${UNKNOWN_ID}`,
      `${id}xyz`,
      ...oddTexts(id),
      ...(await unknownForms(subject, store)),
    ]
    let last: Exchange | undefined
    for (const shape of shapes.filter((one) => !found.includes(one))) {
      const lines = [lineOf(code, shape, 1)]
      last = (await expectLineErrors(subject, lines, `the store is ${JSON.stringify(shape)}`)).exchange
    }
    await expectLong(subject, lineOf(code, longText(id), 1), 'a store id of 300 characters')
    return last as Exchange
  },
}

/** Other ways to write a numeric id that is a text, of which the lookup finds no store. */
async function unknownForms(subject: Subject, store: string | number): Promise<string[]> {
  const forms: string[] = []
  if (typeof store === 'number') return forms
  for (const form of otherNumbers(store)) {
    const { status } = await withToken(subject, storePath(form))
    if (status >= 400 && status < 500) forms.push(form)
  }
  return forms
}

/** How many characters are cut off a code, and how long it remains at least. */
const CUTS = [1, 2]
const MIN_CUT_CODE = 2

/** A code of digits with more zeros in front, and without its own. */
const otherZeros = (code: string) =>
  /^\d+$/.test(code)
    ? [`0${code}`, code.replace(/^0+/, '') || '0', `00${code}`].filter((one) => one !== code)
    : []

const cutItem: Rule = {
  id: 'prices.cut-item',
  title: 'A code that is cut off, or that has other zeros in front, is not taken for the item itself.',
  given: '§7',
  needs: ['prices.near-item'],
  async check(subject) {
    const store = await storeOrUnknown(subject)
    let proof = (await baseAnswers(subject)).exchange
    for (const code of subject.items.slice(0, MAX_ITEMS))
      for (const alike of [CUTS.map((cut) => code.slice(0, -cut)), otherZeros(code)]) {
        // Shorter codes are too close to each other to tell.
        if (alike.length < 2 || alike.some((one) => one.length < MIN_CUT_CODE || subject.items.includes(one)))
          continue
        const lines = [code, ...alike].map((one) => lineOf(one, store, 1))
        const { exchange, answers } = await ask(
          subject,
          lines,
          'A price request with codes that are almost right',
        )
        proof = exchange
        // One of them could be another item, but not all of them at the same price.
        const prices = new Set(answers.map(({ answer }) => (isPriced(answer) ? answer.unitPrice : null)))
        if (prices.size === 1 && !prices.has(null))
          throw new RuleViolationError(
            `${alike.join(' and ')} have the price of item ${code}, as if the rest of the code did not count.`,
            exchange,
          )
      }
    return proof
  },
}

/** Asks for an item at a store that does not exist, after the items that have a price. */
export const unknownStoreRequest = remember(async (subject: Subject): Promise<Answered> => {
  const [code = ''] = subject.items
  const store = unknownLike(await storeOrUnknown(subject))
  return expectLineErrors(subject, [lineOf(code, store, 1)], 'the store does not exist')
})

const unknownStore: Rule = {
  id: 'prices.unknown-store',
  title: 'A store that does not exist is an error of the line, and the call succeeds.',
  given: '§7',
  needs: ['prices.known', 'prices.unknown-item'],
  check: async (subject) => (await unknownStoreRequest(subject)).exchange,
}

/** Asks for the items that a store does not sell, after those that have a price. */
export const notInRangeRequest = remember(async (subject: Subject): Promise<Answered> => {
  const { notInRange: pairs = [] } = subject
  if (pairs.length === 0)
    throw new NotCheckedError('name an item and a store that does not sell it: --not-in-range ITEM@STORE')
  const { stores } = await findStores(subject)
  const lines = pairs.map(({ itemId, storeId }) =>
    lineOf(itemId, stores.find(({ id }) => String(id) === storeId)?.id ?? storeId, 1),
  )
  return expectLineErrors(subject, lines, 'the store does not sell the item')
})

const notInRange: Rule = {
  id: 'prices.not-in-range',
  title: 'An item that the store does not sell is an error of its line, and the call succeeds.',
  given: '§7',
  needs: ['prices.array', 'prices.unknown-item'],
  check: async (subject) => (await notInRangeRequest(subject)).exchange,
}

const besideNotInRange: Rule = {
  id: 'prices.beside-not-in-range',
  title: 'Items that have a price keep it beside an item that the store does not sell.',
  given: '§4.1',
  needs: ['prices.beside-errors', 'prices.not-in-range'],
  async check(subject) {
    const { exchange, answers } = await notInRangeRequest(subject)
    const pairs = subject.notInRange ?? []
    const known = subject.items.filter((code) => !pairs.some(({ itemId }) => itemId === code))
    if (known.length === 0)
      throw new NotCheckedError(
        'the only item is the one that is not in range; name another with --item CODE',
      )
    const changed = await changedPrice(subject, answers, known)
    if (!changed) return exchange
    throw new RuleViolationError(
      `Item ${changed.line.itemId} has no price or another one beside an item that the store does not sell.`,
      exchange,
    )
  },
}

const quantity: Rule = {
  id: 'prices.quantity-error',
  title: 'A quantity of zero or less is an error of the line, and the call succeeds.',
  given: undefined,
  needs: ['prices.known', 'prices.unknown-item'],
  async check(subject) {
    const store = await storeOrUnknown(subject)
    const [code] = subject.items
    if (code === undefined) throw new NotCheckedError(NO_ITEMS)
    let last: Exchange | undefined
    for (const amount of [0, -1]) {
      const lines = [lineOf(code, store, amount)]
      last = (await expectLineErrors(subject, lines, `the quantity is ${amount}`)).exchange
    }
    return last as Exchange
  },
}

/** Lines that cannot be priced (specification 2.4, 7). */
export const LINE_ERROR_RULES: Rule[] = [
  unknown,
  beside,
  error,
  nearItem,
  oddItem,
  cutItem,
  unknownStore,
  oddStore,
  notInRange,
  besideNotInRange,
  quantity,
]
/** Assumed names, after what the specification gives of an error. */
export const ERROR_NAME_RULES: Rule[] = [errorNames, errorAlone]
