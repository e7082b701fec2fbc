import { type Request, type RequestHandler, type Response, Router } from 'express'
import type { Logger } from 'pino'
import { LIMITS, PATHS } from '../../supplier-api/contract.ts'
import type { field } from '../../web/kit.ts'
import { requireToken } from './access.ts'
import { type Client, createClients } from './clients.ts'
import { LivePricingError } from './errors.ts'
import type { PriceProvider } from './price-provider.ts'
import { priceItems, readPriceRequest } from './pricing.ts'
import { type Asking, askProvider } from './provider-call.ts'
import { bodyOf, readBody, textOf } from './request-body.ts'
import { parseSearch, publicNearStore, publicStore } from './stores.ts'
import { tokenEndpoint } from './token-endpoint.ts'
import { createTokens } from './tokens.ts'

export interface LivePricingOptions {
  provider: PriceProvider
  /** Clients that may call the API. */
  clients: readonly Client[]
  /** Keys from which the signing keys of access tokens are derived: the first signs, all of them verify. */
  keys: readonly { id: string; secret: Uint8Array }[]
  /** The `{supplier_base_url}`; tokens issued for another are rejected. */
  baseUrl: string
  /** Calls allowed per client; null: no limit. */
  rateLimit: field.RateLimit | null
  log: Logger
  /** Lifetime of an access token, in seconds; 900 by default. */
  tokenSeconds?: number
  /** Timeout of the price provider, in ms; 10,000 by default. */
  timeoutMs?: number
  /** The clock, in ms since 1970. */
  now?: () => number
}

/** As the API does, it tells `/stores` from `/Stores` and `/stores/`. */
export const EXACT_PATHS = { caseSensitive: true, strict: true }

/**
 * The live pricing API (specification 4.1), to be mounted at its base URL: `POST /connect/token`, `GET /stores/nearest`,
 * `GET /stores/{id}` and `POST /request-prices`. Errors are for `errorResponse`.
 */
export function livePricingApi(options: LivePricingOptions): Router {
  const { provider, keys, baseUrl: audience, rateLimit, log } = options
  const { tokenSeconds: lifetime = 900, timeoutMs = 10_000, now = Date.now } = options
  const clients = createClients(options.clients)
  const tokens = createTokens({ keys, audience, lifetime, now })
  const authenticate = requireToken(tokens, clients, rateLimit)
  const asking = (res: Response): Asking => ({ res, timeoutMs, log })

  const router = Router(EXACT_PATHS).use(headers)
  router
    .route(PATHS.token)
    .post(readBody(LIMITS.tokenBodyBytes), tokenEndpoint(tokens, clients))
    .all(allowOnly('POST'))
  router
    .route(PATHS.nearest)
    .get(authenticate, async (req, res) => sendNearest(provider, asking(res), req))
    .all(allowOnly('GET, HEAD'))
  router
    .route(PATHS.store.replace('{id}', ':id'))
    .get(authenticate, async (req, res) => sendStore(provider, asking(res), String(req.params.id)))
    .all(allowOnly('GET, HEAD'))
  router
    .route(PATHS.prices)
    .post(authenticate, readBody(LIMITS.bodyBytes), async (req, res) =>
      sendPrices(provider, asking(res), bodyOf(req)),
    )
    .all(allowOnly('POST'))
  return router
}

const headers: RequestHandler = (_req, res, next) => {
  res.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
  next()
}

/** Rejects the methods for which there is no handler. */
const allowOnly =
  (methods: string): RequestHandler =>
  (_req, res) => {
    res.set('Allow', methods)
    throw new LivePricingError('method_not_allowed', { detail: `This endpoint supports only ${methods}.` })
  }

async function sendNearest(provider: PriceProvider, asking: Asking, req: Request): Promise<void> {
  const place = parseSearch(new URL(req.url, 'http://localhost').searchParams)
  await sendStores(asking, async (signal) => {
    const near = await provider.nearest(place, LIMITS.stores, signal)
    return near.slice(0, LIMITS.stores).map(publicNearStore)
  })
}

async function sendStore(provider: PriceProvider, asking: Asking, id: string): Promise<void> {
  await sendStores(asking, async (signal) => {
    const store = await provider.store(id, signal)
    return store ? publicStore(store) : undefined
  })
}

/** Sends what the price provider finds as JSON. What cannot be written is a failure of it, too; undefined is not found. */
async function sendStores(asking: Asking, find: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const json = await askProvider(asking, async (signal) => JSON.stringify(await find(signal))).catch(() => {
    throw new LivePricingError('stores_unavailable', { retryAfterMs: 30_000 })
  })
  if (json === undefined) throw new LivePricingError('not_found')
  asking.res.type('json').send(json)
}

/** Of how many lines with an invalid price a log line has the items. */
const MAX_LOGGED = 20

async function sendPrices(provider: PriceProvider, asking: Asking, body: Buffer): Promise<void> {
  // A failure of the provider is logged by `askProvider`; its lines say that they have no price.
  const { priced, invalid } = await priceItems(readPriceRequest(textOf(body)), (lines, memberNumber) =>
    askProvider(asking, async (signal) => {
      const results = await provider.prices(lines, memberNumber, signal)
      if (!Array.isArray(results) || results.length !== lines.length)
        throw new Error(`it returned ${results?.length} results for ${lines.length} lines`)
      return results
    }).catch(() => undefined),
  )
  if (invalid.length > 0)
    asking.log.error(
      { items: invalid.slice(0, MAX_LOGGED), count: invalid.length },
      'the price provider returned invalid prices',
    )
  asking.res.json(priced)
}
