import type * as z from 'zod'
import { parseJson } from '../../../connect/index.ts'
import { ITEM_ERRORS, LIMITS, looseRequestSchema, type PriceItem } from '../api/contract.ts'
import { badInput, LivePricingError } from './errors.ts'
import { computeTotals, type ExactNumber, type Money } from './money.ts'
import { type NoPrice, type Price, type PriceLine, PriceProviderError } from './price-provider.ts'
import { reasonOf } from './provider-call.ts'

export type PriceRequest = z.infer<typeof looseRequestSchema>

/**
 * Parses the body of a price request, but not its lines. `text` is null if the body is not UTF-8. Throws `LivePricingError`: 413
 * for too many items, or 400 listing all problems.
 */
export function readPriceRequest(text: string | null): PriceRequest {
  const body = text === null ? undefined : parseJson(text)
  if (body === undefined) throw badInput([{ path: 'body', message: 'must be JSON in UTF-8' }])
  const { items }: { items?: unknown } = Object(body)
  if (Array.isArray(items) && items.length > LIMITS.items)
    throw new LivePricingError('payload_too_large', {
      detail: `A price request is limited to ${LIMITS.items} items; this one has ${items.length}.`,
    })
  const parsed = looseRequestSchema.safeParse(body)
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  throw badInput(issues.map(({ path, message }) => ({ path: path.join('.') || 'body', message })))
}

/** A `PriceItem` whose amounts keep all of their digits in JSON. */
export type PricedItem = Omit<PriceItem, keyof Money> & Record<keyof Money, ExactNumber | null>

type Results = readonly (Price | NoPrice)[] | undefined

/**
 * Prices each item of a request, in order (specification 4.1, 7). Items that cannot be priced have an error. `findPrices`
 * asks for the prices of the valid lines; it resolves to undefined if they are unavailable. Resolves to the items, and to the
 * results that are neither a price nor an error.
 */
export async function priceItems(
  { items, memberNumber }: PriceRequest,
  findPrices: (lines: readonly PriceLine[], memberNumber: string | null) => Promise<Results>,
) {
  const lines = items.map(readLine)
  const valid = lines.flatMap((line) => ('error' in line ? [] : [line]))
  const results = valid.length > 0 ? await findPrices(valid, memberNumber || null) : []
  const invalid: { itemId: string; storeId: string; reason: string }[] = []
  let next = 0
  const priced = lines.map((line, index) => {
    if ('error' in line) return failed(items[index], line)
    const result = results?.[next++]
    if (!results) return failed(line, { error: 'price_unavailable' })
    try {
      return pricedLine(line, result)
    } catch (error) {
      invalid.push({ itemId: line.itemId, storeId: line.storeId, reason: reasonOf(error) })
      return failed(line, { error: 'price_unavailable' })
    }
  })
  return { priced, invalid }
}

/** Returns a line of a request, or the reason why no provider can price it. */
function readLine(item: unknown): PriceLine | NoPrice {
  const { itemId, storeId, quantity }: Record<keyof PriceLine, unknown> = Object(item)
  if (typeof itemId !== 'string') return idError('itemId', itemId)
  if (typeof storeId !== 'string') return idError('storeId', storeId)
  if (typeof quantity !== 'number' || !(quantity > 0)) return { error: 'quantity_invalid' }
  if (quantity > LIMITS.quantity) return { error: 'quantity_too_large' }
  return { itemId, storeId, quantity }
}

const idError = (name: string, id: unknown): NoPrice => ({
  error: 'line_invalid',
  message: id === undefined ? `${name} is missing.` : `${name} must be text.`,
})

/** A result of the price provider, which may not be type-checked. Throws `PriceProviderError` if it is invalid. */
function pricedLine(line: PriceLine, result: Price | NoPrice | undefined): PricedItem {
  if (typeof result !== 'object' || result === null)
    throw new PriceProviderError('the result is not an object')
  const { unitPrice, discount, error, message }: Partial<Price & NoPrice> = result
  if (error === undefined) return { ...line, ...computeTotals(unitPrice, line.quantity, discount ?? 0) }
  if (typeof error !== 'string' || !Object.hasOwn(ITEM_ERRORS, error))
    throw new PriceProviderError(`the error code ${JSON.stringify(String(error).slice(0, 40))} is unknown`)
  return failed(line, { error, ...(typeof message === 'string' && message !== '' && { message }) })
}

/** An item without a price. */
function failed(item: unknown, { error, message }: NoPrice): PricedItem {
  const { itemId, storeId, quantity }: Record<keyof PriceLine, unknown> = Object(item)
  return {
    itemId: typeof itemId === 'string' ? itemId : null,
    storeId: typeof storeId === 'string' ? storeId : null,
    quantity: typeof quantity === 'number' ? quantity : null,
    unitPrice: null,
    discount: null,
    totalPrice: null,
    errorCode: error,
    errorMessage: message ?? ITEM_ERRORS[error],
  }
}
