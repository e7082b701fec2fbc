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
  requestAsUsual,
  storeOrUnknown,
  unknownItem,
  usualDetails,
} from './prices.ts'
import {
  type Check,
  type Checks,
  expectNoLimit,
  judge,
  judgeEach,
  NotCheckedError,
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
export const isUnknown = ({ items }: Subject, { line }: AnsweredLine) => !items.includes(line.itemId)

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

/** Asks for a line with a text that may be too long: the call may be refused as a whole, but may not fail. */
async function expectLong(subject: Subject, line: Line, what: string): Promise<void> {
  const exchange = await requestAsUsual(subject, [line])
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

/** Lines that cannot be priced, and why: the store does not sell the item, for example. */
type WrongLines = [lines: readonly Line[], description: string]

/** A check that asks for such lines, in requests one after the other. */
const demandLineErrors =
  (listOf: (subject: Subject, store: string | number) => WrongLines[] | Promise<WrongLines[]>): Check =>
  async (subject) => {
    let { exchange } = await baseRequest(subject)
    for (const [lines, description] of await listOf(subject, await storeOrUnknown(subject)))
      exchange = (await expectLineErrors(subject, lines, description)).exchange
    return exchange
  }

/** Asks for an item at a store that does not exist, after the items that have a price. */
export const unknownStoreRequest = remember(async (subject: Subject): Promise<Answered> => {
  const [code = ''] = subject.items
  const store = unknownLike(await storeOrUnknown(subject))
  return expectLineErrors(subject, [lineOf(code, store, 1)], 'the store does not exist')
})

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

/** Throws `RuleViolationError` if codes that are almost that of an item all have its price. */
async function expectNotAlike(subject: Subject, code: string, alike: readonly string[]): Promise<Exchange> {
  const store = await storeOrUnknown(subject)
  const lines = [code, ...alike].map((one) => lineOf(one, store, 1))
  const { exchange, answers } = await ask(subject, lines, 'A price request with codes that are almost right')
  // One of them could be another item, but not all of them at the same price.
  const prices = new Set(answers.map(({ answer }) => (isPriced(answer) ? answer.unitPrice : null)))
  if (prices.size > 1 || prices.has(null)) return exchange
  throw new RuleViolationError(
    `${alike.join(' and ')} have the price of item ${code}, as if the rest of the code did not count.`,
    exchange,
  )
}

/** The lines that must not have a price, each with whether an error says why. */
async function lineErrors(subject: Subject) {
  const { exchange, answers } = await mixedRequest(subject)
  const base = await baseAnswers(subject)
  const usual = usualDetails(base.answers)
  const unpriced = [
    ...answers.filter((answer) => isUnknown(subject, answer)),
    // An item of --item may have no price either.
    ...base.answers.filter(({ answer }) => (answer.unitPrice ?? null) === null),
  ]
  return { exchange, answers: unpriced.map((one) => ({ ...one, isSilent: !carriesError(one, usual) })) }
}

/** The lines for items that do not exist, among others and on their own, each with whether it has a price after all. */
async function unknownLines(subject: Subject) {
  const { exchange, answers } = await mixedRequest(subject)
  const usual = await usualDetailsOf(subject)
  const found = answers
    .filter((answer) => isUnknown(subject, answer))
    .map((one) => ({ ...one, hasPrice: !isUnpriced(one, usual) }))
  if (found.some(({ hasPrice }) => hasPrice)) return { exchange, answers: found }
  const store = await storeOrUnknown(subject)
  const lines = [0, 1].map((index) => lineOf(unknownItem(subject, index), store, 1))
  await ask(subject, lines, 'A price request with nothing but items that do not exist')
  return { exchange, answers: found }
}

/** A line with a price that is not the same beside lines with an error; none if there is no such line. */
async function changedBesideErrors(subject: Subject) {
  const { exchange, answers } = await mixedRequest(subject)
  return { exchange, changed: await changedPrice(subject, answers) }
}

async function changedBesideNotInRange(subject: Subject) {
  const { exchange, answers } = await notInRangeRequest(subject)
  const pairs = subject.notInRange ?? []
  const known = subject.items.filter((code) => !pairs.some(({ itemId }) => itemId === code))
  if (known.length === 0)
    throw new NotCheckedError('the only item is the one that is not in range; name another with --item CODE')
  return { exchange, changed: await changedPrice(subject, answers, known) }
}

/** For how many items codes are tried that are almost theirs. */
const MAX_ITEMS = 5

/** Lines that cannot be priced (specification 2.4, 7). */
export const LINE_ERROR_CHECKS: Checks = {
  'prices.unknown-item': judgeEach(
    unknownLines,
    ({ line, hasPrice }) => hasPrice && `Item ${line.itemId} does not exist, but has a price.`,
  ),
  'prices.beside-errors': judge(
    changedBesideErrors,
    ({ changed }) =>
      changed && `Item ${changed.line.itemId} has no price or another one beside items that do not exist.`,
  ),
  'prices.error': judgeEach(
    lineErrors,
    ({ line, isSilent }) => isSilent && `Item ${line.itemId} has no price, and no error says why.`,
  ),
  'prices.near-item': demandLineErrors(({ items }, store) => {
    const near = items
      .slice(0, MAX_ITEMS)
      .flatMap((code) => [`${code}-${UNKNOWN_ID}`, `${UNKNOWN_ID}-${code}`])
    return [[linesOf(near, store, 1), 'the code has a text added to it']]
  }),
  'prices.odd-item': demandLineErrors(async (subject, store) => {
    const [code = ''] = subject.items
    await expectLong(subject, lineOf(longText(code), store, 1), 'an item code of 300 characters')
    const odd = oddTexts(code).filter((text) => !subject.items.includes(text))
    return [[linesOf(odd, store, 1), 'the code is unusual']]
  }),
  async 'prices.cut-item'(subject) {
    let proof = (await baseAnswers(subject)).exchange
    for (const code of subject.items.slice(0, MAX_ITEMS))
      for (const alike of [CUTS.map((cut) => code.slice(0, -cut)), otherZeros(code)]) {
        const isItem = (one: string) => subject.items.includes(one)
        // Shorter codes are too close to each other to tell.
        if (alike.length < 2 || alike.some((one) => one.length < MIN_CUT_CODE || isItem(one))) continue
        proof = await expectNotAlike(subject, code, alike)
      }
    return proof
  },
  'prices.unknown-store': async (subject) => (await unknownStoreRequest(subject)).exchange,
  'prices.odd-store': demandLineErrors(async (subject, store) => {
    const [code = ''] = subject.items
    const id = String(store)
    const known = (await findStores(subject)).stores.map((one) => String(one.id))
    const forms = await unknownForms(subject, store)
    await expectLong(subject, lineOf(code, longText(id), 1), 'a store id of 300 characters')
    return [`${id}-${UNKNOWN_ID}`, `${id}xyz`, ...oddTexts(id), ...forms]
      .filter((shape) => !known.includes(shape))
      .map((shape) => [[lineOf(code, shape, 1)], `the store is ${JSON.stringify(shape)}`])
  }),
  'prices.not-in-range': async (subject) => (await notInRangeRequest(subject)).exchange,
  'prices.beside-not-in-range': judge(
    changedBesideNotInRange,
    ({ changed }) =>
      changed &&
      `Item ${changed.line.itemId} has no price or another one beside an item that the store does not sell.`,
  ),
  'prices.quantity-error': demandLineErrors(({ items: [code] }, store) => {
    if (code === undefined) throw new NotCheckedError(NO_ITEMS)
    return [0, -1].map((quantity) => [[lineOf(code, store, quantity)], `the quantity is ${quantity}`])
  }),
}
