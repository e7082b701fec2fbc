import type * as z from 'zod'
import { ITEM_ERRORS, type ItemError, LIMITS, type PriceItem, priceRequestSchema } from './contract.ts'
import { badInput, LivePricingError } from './errors.ts'
import { moneyOf } from './money.ts'
import type { NoPrice, Price, PriceLine, PriceProvider } from './price-provider.ts'

export type PriceRequest = z.infer<typeof priceRequestSchema>

/** Reads the body of a price request. Throws `LivePricingError`: 413 for too many items, 400 that names every problem. */
export function readPriceRequest(body: unknown): PriceRequest {
  const items = (body as { items?: unknown } | null | undefined)?.items
  if (Array.isArray(items) && items.length > LIMITS.items)
    throw new LivePricingError(
      413,
      'too_large',
      `A price request has at most ${LIMITS.items} items; this one has ${items.length}.`,
    )
  const parsed = priceRequestSchema.safeParse(body)
  if (parsed.success) return parsed.data
  throw badInput(
    parsed.error.issues.map(({ path, message }) => ({ path: placeOf(path), message: inWords(message) })),
  )
}

/** What a schema says about a type, in the words of the other problems. */
const inWords = (message: string) =>
  message
    .replace(/^Invalid input: expected (\w+), received undefined$/, 'is missing: it must be of the type $1')
    .replace(/^Invalid input: expected (\w+), received (\w+)$/, 'must be of the type $1, not $2')

/** A path as one writes it: items[3].storeId; the body itself is "body". */
function placeOf(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  return text.replace(/^\./, '') || 'body'
}

export interface PricingOptions {
  provider: Pick<PriceProvider, 'prices'>
  /** How long the price provider may take, in ms. */
  timeoutMs: number
  /** Told of a price provider that fails; what its callers see does not say why. */
  onFault(error: unknown): void
}

/**
 * The answers to a price request, in its order and one for each of its items (specification 4.1, 7): what cannot be
 * priced is an error of that item, and no failure of the price provider fails the call.
 */
export async function priceItems(request: PriceRequest, options: PricingOptions): Promise<PriceItem[]> {
  const { items, memberNumber } = request
  const bad = items.map(({ quantity }) => quantityError(quantity))
  const lines = items.filter((_, at) => !bad[at]) as PriceLine[]
  const found = await pricesOf(lines, memberNumber || null, options)
  let next = 0
  return items.map(({ itemId, storeId, quantity }, at) => {
    const error = bad[at]
    if (error) return failed(itemId, storeId, quantity, { error })
    if (!found) return failed(itemId, storeId, quantity, { error: 'price_unavailable' })
    try {
      const answer = checked(found[next++])
      if ('error' in answer) return failed(itemId, storeId, quantity, answer)
      const { unitPrice, discount, totalPrice } = moneyOf(
        answer.unitPrice,
        quantity as number,
        answer.discount,
      )
      return { itemId, storeId, quantity: quantity as number, unitPrice, discount, totalPrice }
    } catch (error) {
      options.onFault(error)
      return failed(itemId, storeId, quantity, { error: 'price_unavailable' })
    }
  })
}

/** An answer of the price provider, which may have been written in a hurry. Throws when it is none. */
function checked(answer: Price | NoPrice | undefined): Price | NoPrice {
  if (typeof answer !== 'object' || answer === null)
    throw new TypeError('the price provider answered no object')
  const { error, message } = answer as Partial<NoPrice>
  if (error === undefined)
    return { unitPrice: (answer as Price).unitPrice, discount: (answer as Price).discount ?? '0' }
  if (!Object.hasOwn(ITEM_ERRORS, error)) throw new TypeError('the price provider answered an unknown error')
  return { error, ...(typeof message === 'string' && message !== '' && { message }) }
}

/** The price provider's answers; undefined when it fails, takes too long, or answers another number of lines. */
async function pricesOf(
  lines: PriceLine[],
  memberNumber: string | null,
  { provider, timeoutMs, onFault }: PricingOptions,
): Promise<(Price | NoPrice)[] | undefined> {
  if (lines.length === 0) return []
  try {
    const answers = await within(timeoutMs, provider.prices(lines, memberNumber))
    if (!Array.isArray(answers) || answers.length !== lines.length)
      throw new Error(`the price provider answered ${answers?.length} of ${lines.length} lines`)
    return answers
  } catch (error) {
    onFault(error)
    return undefined
  }
}

function quantityError(quantity: unknown): ItemError | undefined {
  if (typeof quantity !== 'number' || !(quantity > 0)) return 'quantity_invalid'
  return quantity > LIMITS.quantity ? 'quantity_too_large' : undefined
}

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

const NOT_YET = Symbol('not yet')
const notYet = Promise.resolve(NOT_YET)

/** What `work` comes to. Throws when it takes longer than `ms`. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  // A price provider in this process has answered already: of two that have, the first wins, and no timer is needed.
  const already = await Promise.race([work, notYet])
  if (already !== NOT_YET) return already as T
  let late: NodeJS.Timeout | undefined
  const over = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(new Error(`the price provider took longer than ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(late)
  }
}
