/** Rules that depend on earlier calls, on how many there are at once, on the token, and on who asks. */
import { LIMITS, PATHS } from '../../supplier-api/contract.ts'
import { type Exchange, isRecord, isRefused, isSuccess, type Token } from './exchange.ts'
import { usualDetailsOf } from './line-error-checks.ts'
import { aroundMember, askAs, readFirstPrice } from './member-checks.ts'
import { REMOTE_PLACE, searchPath, storePath } from './places.ts'
import {
  type AnsweredLine,
  answered,
  ask,
  baseAnswers,
  baseRequest,
  carriesError,
  isPriced,
  type Line,
  lineOf,
  linesOf,
  NO_ITEMS,
  priceStore,
  requestAsUsual,
  usualDetails,
} from './prices.ts'
import { manyLines, sameItem } from './request-checks.ts'
import {
  arrayOf,
  type Checks,
  expectAnswer,
  expectStatus,
  firstOf,
  judge,
  NotCheckedError,
  RuleViolationError,
  remember,
  type Subject,
  withToken,
} from './rule.ts'
import { findStores, knownStore } from './stores.ts'
import { certainMs } from './token-keeper.ts'
import { expectTotals } from './total-checks.ts'

/** How many tokens are issued one after the other. */
const TOKENS = 7

const laterTokens = remember(async ({ probe }: Subject): Promise<Token[]> => {
  const tokens: Token[] = []
  for (let issued = 0; issued < TOKENS; issued++) {
    const token = await probe.newToken()
    if (token) tokens.push(token)
  }
  if (tokens.length < 2) throw new NotCheckedError('no more tokens were issued')
  return tokens
})

/** Uses tokens one after the other. Throws `RuleViolationError` if one is refused that has not expired. */
async function expectAccepted(
  { probe }: Subject,
  tokens: readonly Token[],
  which: (index: number) => string,
): Promise<Exchange> {
  let exchange = firstOf(tokens, 'no more tokens were issued').exchange
  for (const [index, token] of tokens.entries()) {
    exchange = await probe.callAs(token.value, searchPath(REMOTE_PLACE))
    if (probe.clock.now() - token.exchange.sentAt >= certainMs(token)) continue
    if (isRefused(exchange))
      throw new RuleViolationError(`${which(index)} is refused, although it has not expired.`, exchange)
    expectAnswer(exchange)
  }
  return exchange
}

/** Throws `RuleViolationError` if one of the token responses so far has not three fields. */
function expectThreeFields({ probe }: Subject): void {
  const issued = probe.exchanges.filter(({ request }) => request.startsWith(`POST ${PATHS.token}`))
  for (const exchange of issued.filter(isSuccess)) {
    const count = isRecord(exchange.json) ? Object.keys(exchange.json).length : 3
    if (count !== 3)
      throw new RuleViolationError(`A later token response has ${count} fields, not three.`, exchange)
  }
}

/** How many token requests overlap. */
const OVERLAPPING_TOKENS = 3

/** Lines for the first item, a line for each quantity. */
async function linesFor(subject: Subject, quantities: readonly number[]): Promise<Line[]> {
  const [code] = subject.items
  if (code === undefined) throw new NotCheckedError(NO_ITEMS)
  const store = await priceStore(subject)
  return quantities.map((quantity) => lineOf(code, store, quantity))
}

/** More lines than a batch of a hundred, whose quantities differ. */
const MANY = 120

/** The answers to as many lines as a request may have at the most; none if it is refused. */
async function mostLines(subject: Subject): Promise<AnsweredLine[]> {
  const lines = await linesFor(subject, differentQuantities(LIMITS.items))
  const exchange = await requestAsUsual(subject, lines)
  if (exchange.status >= 400 && exchange.status < 500) return []
  return answered(lines, exchange, 'A price request').answers
}

const differentQuantities = (count: number) =>
  Array.from({ length: count }, (_, index) => (index < count / 2 ? 1 : 2) + (index % 5))

/** How often requests that overlap are tried: a line may have no price for a moment. */
const OVERLAPS = 3
const OVERLAPPING_QUANTITIES = [2, 3, 5, 7]

/** Price requests that overlap, until all have a price or an error: with the last one that has neither. */
async function overlappingPrices(subject: Subject) {
  const usual = await usualDetailsOf(subject)
  // The token is there before the calls overlap.
  let exchange = await withToken(subject, searchPath(REMOTE_PLACE))
  let unpriced = true
  for (let tried = 0; unpriced && tried < OVERLAPS; tried++) {
    unpriced = false
    const requests = OVERLAPPING_QUANTITIES.map(async (quantity) =>
      ask(subject, await linesFor(subject, [quantity]), 'A price request beside others'),
    )
    for (const { exchange: asked, answers } of await Promise.all(requests)) {
      const priced = answers.filter(({ answer }) => isPriced(answer))
      if (!unpriced) exchange = asked
      if (priced.length > 0) expectTotals(priced)
      // An error of the line, such as a quantity that is not sold, is an answer too.
      else unpriced ||= !answers.every((one) => carriesError(one, usual))
    }
  }
  return { exchange, unpriced }
}

/**
 * Quantities that no other rule requests, so that nothing can have been remembered for them, and whether the member number is
 * requested first: in an order without a period, which no scale of quantities has by chance.
 */
const NEW_QUANTITIES: readonly [quantity: number, memberFirst: boolean][] = [
  [31, true],
  [32, false],
  [33, false],
  [34, true],
  [35, false],
  [36, true],
  [37, true],
  [38, false],
]

/**
 * Requests new quantities, each with and without the member number. Resolves to an item that has one price for a piece where
 * the member number came first and another where it came last, with and without it alike; null if there is none.
 */
async function findRememberedItem(subject: Subject): Promise<{ itemId: string; exchange: Exchange } | null> {
  const store = await priceStore(subject)
  const codes = [...new Set(subject.items)]
  const perPiece = codes.map(() => ({ memberFirst: [] as number[], memberLast: [] as number[] }))
  let { exchange } = await baseRequest(subject)
  for (const [quantity, memberFirst] of NEW_QUANTITIES) {
    const lines = linesOf(codes, store, quantity)
    const totals: number[][] = []
    for (const isMember of [memberFirst, !memberFirst]) {
      const asked = await askAs(
        subject,
        lines,
        isMember ? subject.memberNumber : undefined,
        'A price request',
      )
      exchange = asked.exchange
      totals.push(
        asked.answers.map(({ answer }) => (isPriced(answer) ? Number(answer.totalPrice) : Number.NaN)),
      )
    }
    for (const [item, prices] of perPiece.entries()) {
      const [first = Number.NaN, second] = totals.map((ofAsker) => ofAsker[item])
      prices[memberFirst ? 'memberFirst' : 'memberLast'].push(
        first === second ? first / quantity : Number.NaN,
      )
    }
  }
  // Totals may be rounded to cents.
  const isSame = (one: number, other: number) => Math.abs(one - other) <= 0.001
  const found = perPiece.findIndex(({ memberFirst: [one = 0, ...ones], memberLast: [two = 0, ...twos] }) => {
    const areTwoPrices =
      ones.every((price) => isSame(price, one)) && twos.every((price) => isSame(price, two))
    return areTwoPrices && !Number.isNaN(one - two) && !isSame(one, two)
  })
  const itemId = codes[found]
  return itemId === undefined ? null : { itemId, exchange }
}

/** How many requests overlap, every second one of the member. */
const OVERLAPPING_ASKERS = 6

/**
 * A request that got the other's price while requests with and without the member number overlapped, and each time again;
 * null if there is none. Prices may change meanwhile (specification 1.7), so both are read before and after.
 */
async function findMixedUp(subject: Subject): Promise<Exchange | null> {
  let mixedUp: Exchange | null = null
  for (let tried = 0; tried < OVERLAPS; tried++) {
    const { price: general } = await readFirstPrice(subject, false)
    const { price: own } = await readFirstPrice(subject, true)
    const reads = await Promise.all(
      Array.from({ length: OVERLAPPING_ASKERS }, (_, index) => readFirstPrice(subject, index % 2 === 0)),
    )
    const wrong = reads.find(({ price }, index) => price === (index % 2 === 0 ? general : own))
    // In the other order: prices that change with each request do not repeat in it.
    const ownAfter = await readFirstPrice(subject, true)
    const generalAfter = await readFirstPrice(subject, false)
    const areSure = own !== general && ownAfter.price === own && generalAfter.price === general
    if (!wrong || !areSure) return null
    mixedUp = wrong.exchange
  }
  return mixedUp
}

/** What must not depend on earlier calls, on the token, or on who asks. */
export const STATE_CHECKS: Checks = {
  async 'token.later'(subject) {
    const tokens = await laterTokens(subject)
    expectThreeFields(subject)
    return expectAccepted(subject, tokens, (index) => `Of ${tokens.length} tokens, number ${index + 1}`)
  },
  async 'token.overlap'(subject) {
    const requests = Array.from({ length: OVERLAPPING_TOKENS }, () => subject.probe.newToken())
    const tokens = (await Promise.all(requests)).filter((token) => token !== undefined)
    if (tokens.length < OVERLAPPING_TOKENS)
      throw new NotCheckedError('tokens were not issued to requests that overlap')
    return expectAccepted(subject, tokens, () => 'Of tokens whose requests overlapped, one')
  },
  async 'prices.later-token'(subject) {
    const { memberNumber } = await baseRequest(subject)
    const lines = await linesFor(subject, [3])
    const body = { ...(memberNumber !== undefined && { memberNumber }), items: lines }
    // A new one as well: the others may have expired.
    const newest = await subject.probe.newToken()
    const accepted: Exchange[] = []
    for (const token of [...(await laterTokens(subject)).slice(-3), ...(newest ? [newest] : [])]) {
      const exchange = await subject.probe.callAs(token.value, PATHS.prices, body)
      if (isRefused(exchange)) continue
      accepted.unshift(expectTotals(answered(lines, exchange, 'A price request').answers))
    }
    return firstOf(accepted, 'the later tokens have expired')
  },
  'prices.duplicate-totals': async (subject) => expectTotals((await sameItem(subject)).answers),
  async 'prices.many-totals'(subject) {
    const count = Math.min(MANY, (await manyLines(subject)).length)
    const lines = await linesFor(subject, differentQuantities(count))
    const { exchange, answers } = await ask(subject, lines, 'A price request')
    const usual = usualDetails(answers)
    // A line may say that it has no price for a moment, or for want of stock.
    const without = answers.find((one) => !isPriced(one.answer) && !carriesError(one, usual))
    if (without)
      throw new RuleViolationError(
        `One of ${answers.length} lines for item ${without.line.itemId} has no price, and no error says why.`,
        exchange,
      )
    return expectTotals([...answers, ...(await mostLines(subject))])
  },
  'prices.overlap': judge(
    overlappingPrices,
    ({ unpriced }) => unpriced && 'A price request beside others has no price.',
  ),
  async 'member.own'(subject) {
    const { memberNumber: needed } = await baseRequest(subject)
    if (needed !== undefined) throw new NotCheckedError('a price request needs a member number')
    const { before, own, after } = await aroundMember(subject)
    if (own.price !== before.price && after.every(({ price }) => price === own.price))
      throw new RuleViolationError(
        `After a request of member ${subject.memberNumber}, a request without a member number gets that member's price of item ${subject.items[0]}.`,
        own.exchange,
      )
    const mixedUp = own.price === before.price ? null : await findMixedUp(subject)
    if (mixedUp)
      throw new RuleViolationError(
        `While requests with and without member number ${subject.memberNumber} overlap, one gets the price of the other for item ${subject.items[0]}.`,
        mixedUp,
      )
    const remembered = await findRememberedItem(subject)
    if (!remembered) return own.exchange
    throw new RuleViolationError(
      `The price of item ${remembered.itemId} is the same with member number ${subject.memberNumber} as without, and depends on which of the two is requested first.`,
      remembered.exchange,
    )
  },
  async 'access.lasting'(subject) {
    const found = (await findStores(subject)).tries.find(({ stores }) => stores.length > 0)
    const search = await withToken(subject, searchPath(found?.place ?? REMOTE_PLACE))
    if (arrayOf(search, 'A search after many others').length === 0 && found)
      throw new RuleViolationError('A search after many others finds no store, where it found some.', search)
    // Other rules say what is wrong with a price request that failed before.
    const { answers } = await baseAnswers(subject).catch(() => ({ answers: [] }))
    const lines = answers.map(({ line }) => line)
    if (lines.length > 0) await ask(subject, lines, 'A price request after many others')
    const id = await knownStore(subject)
    const exchange = await withToken(subject, storePath(id))
    expectStatus(exchange, 200, `The lookup of store ${id} after many others`)
    return exchange
  },
}
