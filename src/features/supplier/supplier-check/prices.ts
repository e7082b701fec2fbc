import type { PriceRequest } from './client.ts'
import { type Exchange, isClientError } from './http.ts'
import { expectStatus, expectThat, firstOf, UnprovenError } from './outcomes.ts'
import { costOf, type Line, type StoreId } from './read.ts'
import { type NamedPrice, remember, type Supplier, UNKNOWN_ID } from './rule.ts'
import { knownStores } from './stores.ts'

/** What is needed where no price is known. */
export const NO_PRICES =
  'no price is known; name an item and what one unit costs, before tax: --item CODE=PRICE'

/** All prices that are known. */
export const namedPrices = ({ known }: Supplier): NamedPrice[] => [...known.prices, ...known.memberPrices]

/** How many stores are tried for one that has the named prices. */
const MAX_STORES = 5

/** The store of price requests: the one of `--store`, or the first that has the named prices, or the first that is found. */
export const priceStore = remember(async (supplier: Supplier): Promise<StoreId> => {
  const { storeId } = supplier.known
  const prices = namedPrices(supplier)
  const stores = (await knownStores(supplier).catch(() => [])).map(({ id }) => id)
  if (storeId !== undefined) return stores.find((id) => String(id) === storeId) ?? storeId
  const isRightAt = async (id: StoreId, named: NamedPrice) => {
    const { answers } = await supplier.client.requestPrices([lineOf(named.code, id)], named.memberNumber)
    return answers.some((answered) => isPrice(costOf(answered), named))
  }
  for (const id of prices.length > 0 ? stores.slice(0, MAX_STORES) : [])
    if (!(await Promise.all(prices.map((named) => isRightAt(id, named)))).includes(false)) return id
  if (prices.length === 0) return stores[0] ?? UNKNOWN_ID
  return firstOf(stores, 'no store was found; name the one of the prices with --store ID')
})

/** The id of a store that does not exist, of the same type as others. */
export async function unknownStore(supplier: Supplier): Promise<StoreId> {
  return typeof (await priceStore(supplier)) === 'number' ? 987_654_321 : UNKNOWN_ID
}

/** A line for one of an item, or for more. */
export const lineOf = (itemId: string, storeId: StoreId, quantity = 1) => ({ itemId, storeId, quantity })

/** Whether one costs what was named. Floating-point numbers may differ by a billionth. */
export const isPrice = (cost: number | undefined, { price, tolerance }: NamedPrice) =>
  cost !== undefined && Math.abs(cost - price) <= tolerance + 1e-9

/** Throws `WrongError` unless a price request returned 200, and `UnprovenError` if none of this check did. */
export function expectUnderstood({ client }: Supplier, { exchange }: PriceRequest): Exchange {
  if (isClientError(exchange) && client.priceRequests.every((one) => one.exchange.status !== 200))
    throw new UnprovenError('every price request is refused; the names of its fields are an assumption')
  return expectStatus(exchange, [200], 'A price request')
}

/** Requests prices. Throws `WrongError` unless the request returns an array with an answer for each line. */
export async function askPrices(supplier: Supplier, lines: readonly Line[], memberNumber?: string) {
  const request = await supplier.client.requestPrices(lines, memberNumber)
  expectUnderstood(supplier, request)
  const { exchange, answers } = request
  const message = `A price request must return a JSON array with an object for each line, ${lines.length}.`
  expectThat(answers.length === lines.length, exchange, message)
  return answers
}
