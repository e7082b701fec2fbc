import * as z from 'zod'
import type { Journal } from '../../../journal.ts'

/** A supplier's registration of live pricing (specification 1.3): its base address and credentials. */
export const registrationSchema = z.object({
  url: z
    .string()
    .transform((url) => url.trim().replace(/\/+$/, ''))
    .pipe(z.url({ protocol: /^https?$/ }).refine((url) => !/[@?#]/.test(url))),
  clientId: z.string().trim().min(1),
  clientSecret: z.string().trim().min(1),
})
export type Registration = z.infer<typeof registrationSchema>

/** A call of the supplier's live pricing failed; the message is for the builder. */
export class LivePricingCallError extends Error {}

const TIMEOUT_MS = 10_000

const tokenSchema = z.object({ access_token: z.string().regex(/^[\x21-\x7e]+$/) })
/** A store with an id. An invalid value of another field counts as missing. `distance`: kilometres. */
const storeSchema = z.object({
  id: z.string().min(1),
  name: z.string().catch(''),
  address: z.object({ suburb: z.string() }).catch({ suburb: '' }),
  distance: z.number().optional().catch(undefined),
})
/** The discount, or 0 if it is missing. */
const priceSchema = z.object({
  itemId: z.unknown(),
  storeId: z.unknown(),
  unitPrice: z.number(),
  discount: z.number().nullish().transform(Number),
  totalPrice: z.number(),
})
const refusalSchema = z.object({
  errorMessage: z.string(),
  errorCode: z.string().optional().catch(undefined),
})

/** The supplier's answer for an item: a price, or the reason why it is missing. */
export type PriceAnswer = z.infer<typeof priceSchema> | z.infer<typeof refusalSchema>
type Line = { itemId: string; storeId: string; quantity: number }

/**
 * The platform as a client of a supplier's live pricing (specification 4.1, 5.1), with a token for the calls of one page.
 * This function and the methods of its result throw `LivePricingCallError`.
 */
export async function openLivePricing(registration: Registration | undefined, journal: Journal) {
  if (!registration)
    throw new LivePricingCallError('The supplier has not registered live pricing with the platform.')
  const { url, clientId, clientSecret } = registration

  /** `what` names the request in the journal. */
  async function send<T>(what: string, path: string, schema: z.ZodType<T>, init: RequestInit): Promise<T> {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(url + path, { ...init, redirect: 'manual', signal }).catch(() => undefined)
    const json: unknown = await response?.json().catch(() => undefined)
    journal.add(`live pricing: ${what}`, response?.status ?? 'no answer')
    if (!response) throw new LivePricingCallError('The supplier’s live pricing does not answer.')
    const { data } = schema.safeParse(json)
    if (response.status === 200 && data !== undefined) return data
    const answer = response.status === 200 ? 'something unexpected' : `the status ${response.status}`
    throw new LivePricingCallError(`The supplier’s live pricing answered with ${answer} (request: ${what}).`)
  }

  const grant = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  const init = { method: 'POST', body: new URLSearchParams(grant) }
  const { access_token } = await send('token', '/connect/token', tokenSchema, init)
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${access_token}` }
  return {
    /** Stores near a place, the nearest first. */
    nearest: (place: { latitude: string; longitude: string; radius: string }) =>
      send('stores', `/stores/nearest?${new URLSearchParams(place)}`, z.array(storeSchema), { headers }),

    /** Resolves to an answer for each line, in the order of the lines. */
    async prices(items: Line[], memberNumber: string): Promise<PriceAnswer[]> {
      const body = JSON.stringify({ ...(memberNumber && { memberNumber }), items })
      const schema = z.array(z.unknown()).length(items.length)
      const answers = await send('prices', '/request-prices', schema, { method: 'POST', headers, body })
      return items.map((line, index) => readPrice(answers[index], line))
    },
  }
}

/** The price of a line, or the problem with the answer. */
function readPrice(answer: unknown, { itemId, storeId, quantity }: Line): PriceAnswer {
  const { data: price } = priceSchema.safeParse(answer)
  const noPrice = (errorMessage: string) => ({ errorMessage, errorCode: undefined })
  if (!price)
    return refusalSchema.safeParse(answer).data ?? noPrice('The supplier gives no price, and no reason why.')
  if (price.itemId !== itemId || price.storeId !== storeId)
    return noPrice('The supplier answers for another item or store.')
  // Ignores differences below a tenth of a cent, which come from rounding.
  const isRight = Math.abs(price.unitPrice * quantity - price.discount - price.totalPrice) < 0.001
  return isRight ? price : noPrice('The supplier’s price does not add up.')
}
