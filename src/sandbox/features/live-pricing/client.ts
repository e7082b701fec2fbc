import type { Journal } from '../../journal.ts'
import type { Registration, Registrations } from './registrations.ts'
import { type PriceAnswer, type PriceLine, parsePrice, parseShop, type Shop } from './responses.ts'

/** A call of the supplier's live pricing failed; the message is for the builder. */
export class LivePricingCallError extends Error {}

const TIMEOUT_MS = 10_000
/** A token is replaced when it expires within this time, in ms. */
const EXPIRY_MARGIN_MS = 5_000
const MAX_STORES = 50
/** In characters. */
const MAX_RESPONSE_LENGTH = 4_000_000

export type LivePricingClient = ReturnType<typeof createLivePricingClient>

/** The platform as a client of suppliers' live pricing (specification 4.1, 5.1): gets tokens, reuses them, asks for prices. */
export function createLivePricingClient(find: Registrations['find'], journal: Journal) {
  const tokens = new Map<string, { token: string; expiresAt: number }>()

  async function tokenFor(supplier: string, registration: Registration): Promise<string> {
    const cached = tokens.get(supplier)
    if (cached && cached.expiresAt - EXPIRY_MARGIN_MS > Date.now()) return cached.token
    const { token, seconds } = await requestToken(registration, journal)
    tokens.set(supplier, { token, expiresAt: Date.now() + seconds * 1000 })
    return token
  }

  /** Calls with a token; a rejected token is replaced once. */
  async function call(
    supplier: string,
    what: string,
    path: string,
    init: RequestInit = {},
  ): Promise<unknown> {
    const registration = find(supplier)
    if (!registration)
      throw new LivePricingCallError('The supplier has not registered live pricing with the platform.')
    for (let attempt = 1; ; attempt++) {
      const authorization = `Bearer ${await tokenFor(supplier, registration)}`
      const headers = { ...init.headers, authorization }
      const { status, json } = await send(what, registration.url + path, { ...init, headers }, journal)
      if (status === 200) return json
      if (status !== 401 || attempt === 2)
        throw new LivePricingCallError(
          `The supplier’s live pricing answered ${status} to the request for ${what}.`,
        )
      tokens.delete(supplier)
    }
  }

  return {
    /** After a change of the registration. */
    forgetToken: (supplier: string) => void tokens.delete(supplier),

    /** Stores near a place, the nearest first. */
    async nearest(
      supplier: string,
      place: { latitude: number; longitude: number; radius: number },
    ): Promise<Shop[]> {
      const { latitude, longitude, radius } = place
      const query = `latitude=${latitude}&longitude=${longitude}&radius=${radius}`
      return shopsOf(await call(supplier, 'stores', `/stores/nearest?${query}`))
    },

    /** An answer for each line, in their order. */
    async prices(supplier: string, items: PriceLine[], memberNumber: string): Promise<PriceAnswer[]> {
      const body = JSON.stringify({ ...(memberNumber && { memberNumber }), items })
      const headers = { 'content-type': 'application/json' }
      const answers = await call(supplier, 'prices', '/request-prices', { method: 'POST', body, headers })
      if (!Array.isArray(answers) || answers.length !== items.length)
        throw new LivePricingCallError('The supplier’s live pricing did not answer for every item.')
      return answers.map((answer, index) => parsePrice(answer, items[index]))
    },
  }
}

function shopsOf(stores: unknown): Shop[] {
  if (!Array.isArray(stores))
    throw new LivePricingCallError('The supplier’s live pricing did not answer with a list of stores.')
  return stores.slice(0, MAX_STORES).map((store) => {
    const shop = parseShop(store)
    if (shop) return shop
    throw new LivePricingCallError('The supplier’s live pricing answered with a store without an id.')
  })
}

async function requestToken({ url, clientId, clientSecret }: Registration, journal: Journal) {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  })
  const { status, json } = await send('token', `${url}/connect/token`, { method: 'POST', body }, journal)
  const { access_token: token, expires_in: seconds } = (json ?? {}) as Record<string, unknown>
  if (status === 401)
    throw new LivePricingCallError('The supplier’s live pricing does not accept the platform’s credentials.')
  const isToken = typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)
  if (status !== 200 || !isToken || typeof seconds !== 'number')
    throw new LivePricingCallError(`The supplier’s live pricing gave no access token (${status}).`)
  return { token, seconds }
}

/** `what` names the request in the journal. The JSON is undefined when the body is not JSON. */
async function send(what: string, url: string, init: RequestInit, journal: Journal) {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(url, { ...init, redirect: 'manual', signal })
    journal.add(`live pricing: ${what}`, response.status)
    return { status: response.status, json: parseJson(await readText(response)) }
  } catch {
    journal.add(`live pricing: ${what}`, 'no answer')
    throw new LivePricingCallError('The supplier’s live pricing does not answer.')
  }
}

/** The body as text; throws when it is too long. */
async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_RESPONSE_LENGTH) throw new Error('the response is too long')
  }
  return text
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
