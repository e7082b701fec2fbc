import type { Exchange } from './http.ts'
import { expectThat, firstOf, inTurn, UnprovenError } from './outcomes.ts'
import { askPrices, isPrice, lineOf, NO_PRICES, namedPrices, priceStore, unknownStore } from './prices.ts'
import { type AnsweredLine, amountsOf, costOf, type Line } from './read.ts'
import { type NamedPrice, type Rules, remember, type Supplier, UNKNOWN_ID } from './rule.ts'
import { knownStores } from './stores.ts'

/** A tax of 10 % (Australia), 15 % (New Zealand) or 20 % on top of a price, as factors, and how far they may be off. */
const [TAX_FACTORS, FACTOR_SLACK] = [[1.1, 1.15, 1.2], 0.005]

const MAX_OTHER_STORES = 2

const NO_MEMBER = 'no price of a member is known; name one: --member NUMBER:CODE=PRICE'

/** What is wrong with the answer to a line whose price is known. `where`: where the line stands. */
function faultOf({ line, answer }: AnsweredLine, named: NamedPrice, where: string): string {
  const { unitPrice, discount } = amountsOf(answer) ?? {}
  const member = named.memberNumber === undefined ? 'no member' : `member ${named.memberNumber}`
  const amounts = unitPrice === undefined ? 'no price' : `unitPrice ${unitPrice} and discount ${discount}`
  return `One ${line.itemId} has ${amounts} for ${member} at store ${line.storeId}, ${where}: it costs ${named.price}.`
}

/** A line and, if its price is known, what one of its item costs. */
type PricedLine = [line: Line, named: NamedPrice | undefined]

/** Requests prices, and once more if a line whose price is known has none, because that may last only for a moment. */
async function askTwice(supplier: Supplier, priced: PricedLine[], memberNumber?: string) {
  const prices = new Map(priced)
  const lines = priced.map(([line]) => line)
  const ask = async () => {
    const answers = await askPrices(supplier, lines, memberNumber)
    return answers.map((answered) => ({ answered, named: prices.get(answered.line) }))
  }
  const first = await ask()
  return first.some(({ answered, named }) => named && costOf(answered) === undefined) ? ask() : first
}

/** Asks for one of an item and nothing else. Resolves to the answer, whether the price is right, and whether it includes a tax. */
async function askAlone(supplier: Supplier, named: NamedPrice) {
  const line = lineOf(named.code, await priceStore(supplier))
  const answers = await askTwice(supplier, [[line, named]], named.memberNumber)
  const { answered } = firstOf(answers, 'there is no answer')
  const cost = costOf(answered)
  const isTax = (factor: number) => Math.abs((cost ?? 0) / named.price - factor) < FACTOR_SLACK
  const isRight = isPrice(cost, named)
  return { answered, exchange: answered.exchange, isRight, isTaxed: !isRight && TAX_FACTORS.some(isTax) }
}

async function expectBeforeTax(supplier: Supplier, named: NamedPrice): Promise<Exchange> {
  const { answered, exchange, isRight, isTaxed } = await askAlone(supplier, named)
  expectThat(!isTaxed, exchange, `${faultOf(answered, named, 'alone')} The rest is a tax.`)
  if (!isRight) throw new UnprovenError(`the price of ${named.code} is another one`)
  return exchange
}

async function expectRight(supplier: Supplier, named: NamedPrice): Promise<Exchange> {
  const { answered, exchange, isRight, isTaxed } = await askAlone(supplier, named)
  if (isTaxed) throw new UnprovenError(`the price of ${named.code} includes a tax: see price.before-tax`)
  return expectThat(isRight, exchange, faultOf(answered, named, 'alone'))
}

/** The named prices that are right if an item is asked for alone, by member number. The others have been found wrong before. */
const rightGroups = remember(async (supplier: Supplier): Promise<NamedPrice[][]> => {
  const right: NamedPrice[] = []
  for (const named of namedPrices(supplier)) if ((await askAlone(supplier, named)).isRight) right.push(named)
  firstOf(right, 'no price is known that is right where it is asked for alone: --item CODE=PRICE')
  return [...Map.groupBy(right, ({ memberNumber }) => memberNumber).values()]
})

/** Ten of these, which repeat if there are fewer. */
function tenOf<T>(all: readonly T[]): T[] {
  const many = Array.from({ length: 10 }, () => all)
  return many.flat().slice(0, 10)
}

/** Requests prices of a member, or of none. Throws `WrongError` unless each line whose price is known costs that. */
async function expectPrices(supplier: Supplier, priced: PricedLine[], where: string, memberNumber?: string) {
  return inTurn(await askTwice(supplier, priced, memberNumber), ({ answered, named }) => {
    if (!named) return answered.exchange
    return expectThat(isPrice(costOf(answered), named), answered.exchange, faultOf(answered, named, where))
  })
}

/** Requests the right prices of each group among other lines, in this order and in reverse. */
async function expectSame(supplier: Supplier, where: string, around = (own: PricedLine[]) => own) {
  const store = await priceStore(supplier)
  return inTurn(await rightGroups(supplier), async (prices) => {
    const lines = around(prices.map((named): PricedLine => [lineOf(named.code, store), named]))
    await expectPrices(supplier, lines, where, prices[0]?.memberNumber)
    return expectPrices(supplier, lines.toReversed(), where, prices[0]?.memberNumber)
  })
}

/** Prices that are true, as the person who runs the check knows (specification 1, 2.3, 2.4, 4.1). */
export const TRUE_PRICE_RULES: Rules = {
  'price.before-tax': {
    given: ['2.4', 'The price is before tax: one unit does not cost the named PRICE plus a tax.'],
    needs: ['prices.amounts'],
    check: (supplier) =>
      inTurn(namedPrices(supplier), (named) => expectBeforeTax(supplier, named), NO_PRICES),
  },
  'price.right': {
    given: ['2.4', 'The price is right: one unit of an item costs the PRICE of --item.'],
    needs: ['prices.amounts'],
    check: async (supplier) =>
      inTurn(supplier.known.prices, (named) => expectRight(supplier, named), NO_PRICES),
  },
  'member.price': {
    given: [
      '1',
      'The price is the builder’s own: with the member number, one unit costs the PRICE of --member.',
    ],
    needs: ['prices.amounts'],
    async check(supplier) {
      const { memberPrices } = supplier.known
      const proof = await inTurn(memberPrices, (named) => expectRight(supplier, named), NO_MEMBER)
      for (const named of memberPrices)
        if (!(await askAlone(supplier, { ...named, memberNumber: undefined })).isRight) return proof
      throw new UnprovenError('the items cost the same without the member number; name one that does not')
    },
  },
  'member.next-line': {
    given: ['2.4', 'A member’s line does not change the next line: each costs its own PRICE.'],
    needs: ['member.price'],
    async check(supplier) {
      const codes = new Set(namedPrices(supplier).map(({ code }) => code))
      const ofEach = Map.groupBy(supplier.known.memberPrices, ({ memberNumber }) => memberNumber)
      if (codes.size > 1 && [...ofEach.values()].every((prices) => prices.length < 2))
        throw new UnprovenError('name what the member pays for another item, too: a second --member')
      return expectSame(supplier, 'behind other lines', (own) => [...own, ...own])
    },
  },
  'member.other-request': {
    given: ['1', 'Each request gets the prices of its own member, whatever was requested before.'],
    needs: ['price.right', 'member.price'],
    async check(supplier) {
      const where = 'after requests with another member number, or with none'
      await expectSame(supplier, where)
      return expectSame(supplier, where)
    },
  },
  'price.beside-others': {
    given: ['4.1', 'An item costs the same beside other items, and beside lines with an error.'],
    needs: ['prices.amounts'],
    async check(supplier) {
      const unknown: PricedLine = [lineOf(UNKNOWN_ID, await priceStore(supplier)), undefined]
      return expectSame(supplier, 'beside others', (own) => [unknown, ...own, unknown])
    },
  },
  'price.ten-at-once': {
    given: [
      '4.1',
      'Ten price requests at once, and ten lines in one request, get the same prices as one line alone.',
    ],
    needs: ['prices.amounts'],
    async check(supplier) {
      const store = await priceStore(supplier)
      const right = (await rightGroups(supplier)).flat()
      const requests = tenOf(right).map((named) =>
        expectPrices(supplier, [[lineOf(named.code, store), named]], 'ten at once', named.memberNumber),
      )
      await Promise.all(requests)
      return expectSame(supplier, 'in ten lines', tenOf)
    },
  },
  'price.other-store': {
    given: [
      '2.3',
      'Each line is for its own store: lines for other stores, in this or an earlier request, do not change its price.',
    ],
    needs: ['prices.amounts'],
    async check(supplier) {
      const store = await priceStore(supplier)
      const stores = (await knownStores(supplier).catch(() => [])).map(({ id }) => id)
      const others = stores.filter((id) => String(id) !== String(store)).slice(0, MAX_OTHER_STORES)
      const where = 'beside and after lines for another store'
      return inTurn([...others, await unknownStore(supplier)], async (storeId) => {
        const elsewhere = ([line]: PricedLine): PricedLine => [{ ...line, storeId }, undefined]
        await expectSame(supplier, where, (own) => own.map(elsewhere))
        await expectSame(supplier, where)
        return expectSame(supplier, where, (own) => [...own.map(elsewhere), ...own])
      })
    },
  },
}
