import type * as z from 'zod'
import { ITEM_ERRORS, type ItemError, LIMITS, type PriceItem, priceRequestSchema } from './contract.ts'
import { badInput, LivePricingError } from './errors.ts'
import { computeTotals } from './money.ts'
import type { NoPrice, Price, PriceLine, PriceProvider } from './price-provider.ts'

export type PriceRequest = z.infer<typeof priceRequestSchema>

/**
 * Validates the body of a price request. Throws `LivePricingError`: 413 for too many items, or 400 listing all
 * problems.
 */
export function readPriceRequest(body: unknown): PriceRequest {
  const items = (body as { items?: unknown } | null | undefined)?.items
  if (Array.isArray(items) && items.length > LIMITS.items)
    throw new LivePricingError(
      413,
      'payload_too_large',
      `A price request is limited to ${LIMITS.items} items; this one has ${items.length}.`,
    )
  const parsed = priceRequestSchema.safeParse(body)
  if (parsed.success) return parsed.data
  throw badInput(
    parsed.error.issues.map(({ path, message }) => ({ path: formatPath(path), message: rephrase(message) })),
  )
}

/** Rephrases Zod's messages about types in the style of our own messages. */
const rephrase = (message: string) =>
  message
    .replace(/^Invalid input: expected (\w+), received undefined$/, 'is missing: it must be of type $1')
    .replace(/^Invalid input: expected (\w+), received (\w+)$/, 'must be of type $1, not $2')

/** Formats a path such as `items[3].storeId`; the empty path is `body`. */
function formatPath(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  return text.replace(/^\./, '') || 'body'
}

export interface PricingOptions {
  provider: Pick<PriceProvider, 'prices'>
  /** Timeout of the price provider, in ms. */
  timeoutMs: number
  /** Called with each error of the price provider, which callers don't see. */
  onError(error: unknown): void
}

/**
 * Prices each item of a request, in order (specification 4.1, 7). Items that cannot be priced have an error; a failing
 * price provider does not fail the call.
 */
export async function priceItems(request: PriceRequest, options: PricingOptions): Promise<PriceItem[]> {
  const { items, memberNumber } = request
  const errors = items.map(({ quantity }) => quantityError(quantity))
  const lines = items.filter((_, index) => !errors[index]) as PriceLine[]
  const prices = await requestPrices(lines, memberNumber || null, options)
  let next = 0
  return items.map(({ itemId, storeId, quantity }, index) => {
    const error = errors[index]
    if (error) return failed(itemId, storeId, quantity, { error })
    if (!prices) return failed(itemId, storeId, quantity, { error: 'price_unavailable' })
    try {
      const price = validate(prices[next++])
      if ('error' in price) return failed(itemId, storeId, quantity, price)
      const { unitPrice, discount, totalPrice } = computeTotals(
        price.unitPrice,
        quantity as number,
        price.discount,
      )
      return { itemId, storeId, quantity: quantity as number, unitPrice, discount, totalPrice }
    } catch (error) {
      options.onError(error)
      return failed(itemId, storeId, quantity, { error: 'price_unavailable' })
    }
  })
}

/** Validates a result of the price provider, which may not be type-checked. Throws a `TypeError` if it is invalid. */
function validate(result: Price | NoPrice | undefined): Price | NoPrice {
  if (typeof result !== 'object' || result === null)
    throw new TypeError('the price provider returned a value that is not an object')
  const { error, message } = result as Partial<NoPrice>
  if (error === undefined)
    return { unitPrice: (result as Price).unitPrice, discount: (result as Price).discount ?? '0' }
  if (!Object.hasOwn(ITEM_ERRORS, error))
    throw new TypeError('the price provider returned an unknown error code')
  return { error, ...(typeof message === 'string' && message !== '' && { message }) }
}

/** Calls the price provider. Resolves to undefined if it fails, times out or returns the wrong number of results. */
async function requestPrices(
  lines: PriceLine[],
  memberNumber: string | null,
  { provider, timeoutMs, onError }: PricingOptions,
): Promise<(Price | NoPrice)[] | undefined> {
  if (lines.length === 0) return []
  try {
    const results = await withTimeout(timeoutMs, provider.prices(lines, memberNumber))
    if (!Array.isArray(results) || results.length !== lines.length)
      throw new Error(`the price provider returned ${results?.length} results for ${lines.length} lines`)
    return results
  } catch (error) {
    onError(error)
    return undefined
  }
}

function quantityError(quantity: unknown): ItemError | undefined {
  if (typeof quantity !== 'number' || !(quantity > 0)) return 'quantity_invalid'
  return quantity > LIMITS.quantity ? 'quantity_too_large' : undefined
}

/** An item without a price. */
function failed(itemId: string, storeId: string, quantity: unknown, { error, message }: NoPrice): PriceItem {
  return {
    itemId,
    storeId,
    quantity: Number.isFinite(quantity) ? (quantity as number) : null,
    unitPrice: null,
    discount: null,
    totalPrice: null,
    errorCode: error,
    errorMessage: message ?? ITEM_ERRORS[error],
  }
}

const PENDING = Symbol('pending')
const pending = Promise.resolve(PENDING)

/** Resolves to the result of `work`. Throws if it takes longer than `ms`. */
export async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  // Avoid a timer if the promise is already resolved, as it is for price lists in this process: the first one wins.
  const result = await Promise.race([work, pending])
  if (result !== PENDING) return result as T
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the price provider took longer than ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}
