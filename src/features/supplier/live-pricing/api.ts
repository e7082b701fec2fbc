import { type Request, type RequestHandler, Router } from 'express'
import type { Logger } from 'pino'
import type { field } from '../../../web/feature-api.ts'
import { LIMITS, PATHS } from '../api/contract.ts'
import { type Client, requireToken, tokenEndpoint } from './access.ts'
import { LivePricingError } from './errors.ts'
import { type PriceProvider, PriceProviderError } from './price-provider.ts'
import { priceItems, readPriceRequest } from './pricing.ts'
import { providerCalls } from './provider-call.ts'
import { bodyOf, readBody } from './request-body.ts'
import { parseSearch, publicNearStore, publicStore } from './stores.ts'
import { createTokens, type TokenOptions } from './tokens.ts'

export interface LivePricingOptions extends TokenOptions {
  provider: PriceProvider
  /** Clients that may call the API. */
  clients: readonly Client[]
  /** How many calls each client may make; null if there is no limit. */
  rateLimit: field.RateLimit | null
  log: Logger
  /** Timeout of the price provider, in ms; 10,000 by default. */
  timeoutMs?: number
}

/** Router options for the API, in which `/stores`, `/Stores` and `/stores/` are different paths. */
export const EXACT_PATHS = { caseSensitive: true, strict: true }

/**
 * The live pricing API (specification 4.1), to be mounted at its base URL: `POST /connect/token`, `GET /stores/nearest`,
 * `GET /stores/{id}` and `POST /request-prices`. Add `errorResponse` for its errors.
 */
export function livePricingApi(options: LivePricingOptions): Router {
  const { provider, clients, log } = options
  const tokens = createTokens(options)
  const authenticate = requireToken(tokens, clients, options.rateLimit)
  const ask = providerCalls(log, options.timeoutMs)

  /** Sends the provider's result as JSON, or 404 for undefined. */
  const stores =
    (find: (req: Request) => (signal: AbortSignal) => Promise<unknown>): RequestHandler =>
    async (req, res) => {
      const call = find(req)
      const found = await ask(res, call).catch(() => {
        throw new LivePricingError('stores_unavailable', { retryAfterMs: 30_000 })
      })
      if (found === undefined) throw new LivePricingError('not_found')
      res.json(found)
    }

  const nearest = stores((req) => {
    const place = parseSearch(new URL(req.url, 'http://localhost').searchParams)
    return async (signal) => {
      const near = await provider.nearest(place, LIMITS.stores, signal)
      return near.slice(0, LIMITS.stores).map(publicNearStore)
    }
  })

  const store = stores(({ params }) => async (signal) => {
    const found = await provider.store(String(params.id), signal)
    return found ? publicStore(found) : undefined
  })

  const prices: RequestHandler = async (req, res) => {
    // A failure of the provider is already logged, and each line reports that it has no price.
    const { priced, invalid } = await priceItems(readPriceRequest(bodyOf(req)), (lines, memberNumber) =>
      ask(res, async (signal) => {
        const results = await provider.prices(lines, memberNumber, signal)
        if (!Array.isArray(results) || results.length !== lines.length)
          throw new PriceProviderError(`it returned ${results?.length} results for ${lines.length} lines`)
        return results
      }).catch(() => undefined),
    )
    const [first] = invalid
    if (first) log.error({ ...first, count: invalid.length }, 'the price provider returned invalid prices')
    res.json(priced)
  }

  const router = Router(EXACT_PATHS).use(headers)
  router
    .route(PATHS.token)
    .post(readBody(LIMITS.tokenBodyBytes), tokenEndpoint(tokens, clients))
    .all(allowOnly('POST'))
  router.route(PATHS.nearest).get(authenticate, nearest).all(allowOnly('GET, HEAD'))
  router.route(PATHS.store.replace('{id}', ':id')).get(authenticate, store).all(allowOnly('GET, HEAD'))
  router.route(PATHS.prices).post(authenticate, readBody(LIMITS.bodyBytes), prices).all(allowOnly('POST'))
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
