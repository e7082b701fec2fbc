import * as z from 'zod'
import type { Journal } from '../../journal.ts'
import { type PriceAnswer, type PriceLine, parsePrice, parseShops, type Shop } from './responses.ts'

/** A supplier's live pricing as registered with the platform (specification 1.3): its base address and credentials. */
export const registrationSchema = z.object({
  url: z.url(),
  clientId: z.string().min(1),
  clientSecret: z.string().min(1),
})
export type Registration = z.infer<typeof registrationSchema>

/** A call of the supplier's live pricing failed; the message is for the builder. */
export class LivePricingCallError extends Error {}

const TIMEOUT_MS = 10_000

/**
 * The platform as a client of a supplier's live pricing (specification 4.1, 5.1), with a token for the calls of one page.
 * All of it throws `LivePricingCallError`.
 */
export async function openLivePricing(registration: Registration | undefined, journal: Journal) {
  if (!registration)
    throw new LivePricingCallError('The supplier has not registered live pricing with the platform.')
  const authorization = `Bearer ${await requestToken(registration, journal)}`

  async function call(what: string, path: string, init: RequestInit = {}): Promise<unknown> {
    const headers = { 'content-type': 'application/json', authorization }
    const { status, json } = await send(what, registration?.url + path, { ...init, headers }, journal)
    if (status === 200) return json
    throw new LivePricingCallError(
      `The supplier’s live pricing answered ${status} to the request for ${what}.`,
    )
  }

  return {
    /** Stores near a place, the nearest first. */
    async nearest(place: { latitude: number; longitude: number; radius: number }): Promise<Shop[]> {
      const { latitude, longitude, radius } = place
      const query = `latitude=${latitude}&longitude=${longitude}&radius=${radius}`
      const shops = parseShops(await call('stores', `/stores/nearest?${query}`))
      if (typeof shops === 'string') throw new LivePricingCallError(shops)
      return shops
    },

    /** An answer for each line, in their order. */
    async prices(items: PriceLine[], memberNumber: string): Promise<PriceAnswer[]> {
      const body = JSON.stringify({ ...(memberNumber && { memberNumber }), items })
      const answers = await call('prices', '/request-prices', { method: 'POST', body })
      if (!Array.isArray(answers) || answers.length !== items.length)
        throw new LivePricingCallError('The supplier’s live pricing did not answer for every item.')
      return items.map((line, index) => parsePrice(answers[index], line))
    },
  }
}

const tokenSchema = z.object({ access_token: z.string().regex(/^[\x21-\x7e]+$/) })

async function requestToken({ url, clientId, clientSecret }: Registration, journal: Journal) {
  const grant = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  const body = new URLSearchParams(grant)
  const { status, json } = await send('token', `${url}/connect/token`, { method: 'POST', body }, journal)
  if (status === 401)
    throw new LivePricingCallError('The supplier’s live pricing does not accept the platform’s credentials.')
  const { data } = tokenSchema.safeParse(json)
  if (status === 200 && data) return data.access_token
  throw new LivePricingCallError(`The supplier’s live pricing gave no access token (${status}).`)
}

/** `what` names the request in the journal. The JSON is undefined when the body is not JSON. */
async function send(what: string, url: string, init: RequestInit, journal: Journal) {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(url, { ...init, redirect: 'manual', signal })
    const { status } = response
    journal.add(`live pricing: ${what}`, status)
    const json: unknown = await response.json().catch((error: unknown) => {
      if (!(error instanceof SyntaxError)) throw error
    })
    return { status, json }
  } catch {
    journal.add(`live pricing: ${what}`, 'no answer')
    throw new LivePricingCallError('The supplier’s live pricing does not answer.')
  }
}
