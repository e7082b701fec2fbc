import { ITEM_ERRORS, LIMITS, looseRequestSchema, type PriceItem } from '../../supplier-api/contract.ts'
import { badInput, LivePricingError } from './errors.ts'
import { amountText, computeTotals } from './money.ts'
import type { NoPrice, Price, PriceLine } from './price-provider.ts'
import { describeInvalid } from './provider-error.ts'

export interface PriceRequest {
  /** Null or empty: none. */
  memberNumber?: string | null | undefined
  /** Lines of any type. */
  items: readonly unknown[]
}

/**
 * Validates the body of a price request, but not its lines. Throws `LivePricingError`: 413 for too many items, or 400
 * listing all problems.
 */
export function readPriceRequest(body: unknown): PriceRequest {
  const items = (body as { items?: unknown } | null | undefined)?.items
  if (Array.isArray(items) && items.length > LIMITS.items)
    throw new LivePricingError(
      413,
      'payload_too_large',
      `A price request is limited to ${LIMITS.items} items; this one has ${items.length}.`,
    )
  const parsed = looseRequestSchema.safeParse(body)
  if (parsed.success) return parsed.data
  throw badInput(
    parsed.error.issues.map(({ path, message }) => ({
      path: path.join('.') || 'body',
      message: rephrase(message),
    })),
  )
}

/** Rephrases Zod's messages about types in the style of our own messages. */
const rephrase = (message: string) =>
  message
    .replace(/^Invalid input: expected (\w+), received undefined$/, 'is missing: it must be of type $1')
    .replace(/^Invalid input: expected (\w+), received (\w+)$/, 'must be of type $1, not $2')

export interface PricingOptions {
  /** Asks the price provider for prices. */
  prices(lines: readonly PriceLine[], memberNumber: string | null): Promise<(Price | NoPrice)[]>
  /** Called if the price provider fails; callers don't see the error. */
  onError(error: unknown): void
  /** Called with the lines whose results are invalid, and why. */
  onInvalidResults(results: readonly InvalidResult[]): void
}

export interface InvalidResult {
  itemId: string
  storeId: string
  reason: string
}

/**
 * Prices each item of a request, in order (specification 4.1, 7). Items that cannot be priced have an error; a failing
 * price provider does not fail the call.
 */
export async function priceItems(request: PriceRequest, options: PricingOptions): Promise<PriceItem[]> {
  const { items, memberNumber } = request
  const lines: PriceLine[] = []
  const errors = items.map((item) => {
    const { itemId, storeId, quantity } = Object(item)
    const error = lineError(itemId, storeId, quantity)
    if (!error) lines.push({ itemId, storeId, quantity })
    return error
  })
  const results = await requestPrices(lines, memberNumber || null, options)
  let next = 0
  const invalid: InvalidResult[] = []
  const priceItems = items.map((item, index) => {
    const error = errors[index]
    if (error) return failed(item, error)
    const position = next++
    const line = lines[position] as PriceLine
    if (!results) return failed(line, { error: 'price_unavailable' })
    try {
      return priced(line, results[position])
    } catch (error) {
      invalid.push({ itemId: line.itemId, storeId: line.storeId, reason: describeInvalid(error) })
      return failed(line, { error: 'price_unavailable' })
    }
  })
  if (invalid.length > 0) options.onInvalidResults(invalid)
  return priceItems
}

/** Why a line cannot be priced, whatever its item costs. Integers above 2^53 arrive as raw JSON. */
function lineError(itemId: unknown, storeId: unknown, quantity: unknown): NoPrice | undefined {
  if (typeof itemId !== 'string') return idError('itemId', itemId)
  if (typeof storeId !== 'string') return idError('storeId', storeId)
  if (JSON.isRawJSON(quantity))
    return { error: String(quantity.rawJSON).startsWith('-') ? 'quantity_invalid' : 'quantity_too_large' }
  if (typeof quantity !== 'number' || !(quantity > 0)) return { error: 'quantity_invalid' }
  return quantity > LIMITS.quantity ? { error: 'quantity_too_large' } : undefined
}

const idError = (name: string, id: unknown): NoPrice => ({
  error: 'line_invalid',
  message: id === undefined ? `${name} is missing.` : `${name} must be text.`,
})

/** Calls the price provider. Resolves to undefined if it fails, times out or returns the wrong number of results. */
async function requestPrices(
  lines: PriceLine[],
  memberNumber: string | null,
  { prices, onError }: PricingOptions,
): Promise<(Price | NoPrice)[] | undefined> {
  if (lines.length === 0) return []
  try {
    const results = await prices(lines, memberNumber)
    if (!Array.isArray(results) || results.length !== lines.length)
      throw new Error(`the price provider returned ${results?.length} results for ${lines.length} lines`)
    return results
  } catch (error) {
    onError(error)
    return undefined
  }
}

/** A result of the price provider, which may not be type-checked. Throws a `TypeError` or `RangeError` if it is invalid. */
function priced(line: PriceLine, result: Price | NoPrice | undefined): PriceItem {
  if (typeof result !== 'object' || result === null) throw new TypeError('the result is not an object')
  if (isPrice(result)) {
    const { itemId, storeId, quantity } = line
    const unit = amountText(result.unitPrice, 'unitPrice')
    const reduction = amountText(result.discount ?? 0, 'discount')
    const { unitPrice, discount, totalPrice } = computeTotals(unit, quantity, reduction)
    return { itemId, storeId, quantity, unitPrice, discount, totalPrice }
  }
  const { error, message } = result
  if (typeof error !== 'string' || !Object.hasOwn(ITEM_ERRORS, error))
    throw new TypeError(`the error code ${JSON.stringify(String(error).slice(0, 40))} is unknown`)
  return failed(line, { error, ...(typeof message === 'string' && message !== '' && { message }) })
}

const isPrice = (result: Price | NoPrice): result is Price => (result as NoPrice).error === undefined

/** An item without a price. */
function failed(item: unknown, { error, message }: NoPrice): PriceItem {
  const { itemId, storeId, quantity } = Object(item)
  return {
    itemId: typeof itemId === 'string' ? itemId : null,
    storeId: typeof storeId === 'string' ? storeId : null,
    // As it was sent: integers above 2^53 keep their digits.
    quantity: typeof quantity === 'number' || JSON.isRawJSON(quantity) ? (quantity as number) : null,
    unitPrice: null,
    discount: null,
    totalPrice: null,
    errorCode: error,
    errorMessage: message ?? ITEM_ERRORS[error],
  }
}
