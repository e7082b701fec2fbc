import express, { type Response, Router } from 'express'
import type { Logger } from 'pino'
import { requireToken } from './access.ts'
import { type Client, createClients } from './clients.ts'
import { LIMITS, PATHS } from './contract.ts'
import { allowMethods, describeUnexpected, livePricingErrorHandler } from './error-handler.ts'
import { LivePricingError } from './errors.ts'
import type { PriceProvider } from './price-provider.ts'
import { priceItems, readPriceRequest, withTimeout } from './pricing.ts'
import { parseJsonBody } from './request-body.ts'
import { nearStoreJson, parseSearch, storeJson } from './stores.ts'
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
  /** Calls allowed per client and window; null: no limit. */
  rateLimit: { limit: number; windowMs: number } | null
  log: Logger
  /** Lifetime of an access token, in seconds; 900 by default. */
  tokenSeconds?: number
  /** Timeout of the price provider, in ms; 10,000 by default. */
  timeoutMs?: number
  /** The clock, in ms since 1970. */
  now?: () => number
}

/**
 * The live pricing API (specification 4.1): `POST /connect/token`, `GET /stores/nearest`, `GET /stores/{id}` and
 * `POST /request-prices`. The router is self-contained and handles its own errors.
 */
export function livePricingApi(options: LivePricingOptions): Router {
  const { provider, clients, keys, baseUrl, rateLimit, log } = options
  const { tokenSeconds = 900, timeoutMs = 10_000, now = Date.now } = options
  const callers = createClients(clients)
  const tokens = createTokens({ keys, audience: baseUrl, lifetime: tokenSeconds, now })
  const body = (limit: number) => express.raw({ type: () => true, limit })
  const onError = (error: unknown) =>
    log.error({ reason: describeUnexpected(error) }, 'the price provider failed')
  const bearer = requireToken(tokens, callers, rateLimit)

  async function callProvider<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await withTimeout(timeoutMs, work())
    } catch (error) {
      onError(error)
      throw new LivePricingError(503, 'stores_unavailable', 'Store data is temporarily unavailable.', {
        retryAfterMs: 30_000,
      })
    }
  }

  return Router({ caseSensitive: true, strict: true })
    .use((_req, res, next) => {
      res.setHeader('Cache-Control', 'no-store')
      res.setHeader('X-Content-Type-Options', 'nosniff')
      next()
    })
    .post(PATHS.token, body(LIMITS.tokenBodyBytes), tokenEndpoint(tokens, callers, log))
    .get(PATHS.nearest, bearer, async (req, res) => {
      const place = parseSearch(req)
      const near = await callProvider(() => provider.nearest(place, LIMITS.stores))
      sendJson(res, `[${near.slice(0, LIMITS.stores).map(nearStoreJson).join(',')}]`)
    })
    .get('/stores/:id', bearer, async (req, res) => {
      const store = await callProvider(() => provider.store(String(req.params.id)))
      if (!store) throw new LivePricingError(404, 'not_found', 'This store does not exist.')
      sendJson(res, storeJson(store))
    })
    .post(PATHS.prices, bearer, body(LIMITS.bodyBytes), async (req, res) => {
      const request = readPriceRequest(parseJsonBody(req))
      sendJson(res, JSON.stringify(await priceItems(request, { provider, timeoutMs, onError })))
    })
    .all(PATHS.token, allowMethods('POST'))
    .all(PATHS.prices, allowMethods('POST'))
    .all(PATHS.nearest, allowMethods('GET, HEAD'))
    .all('/stores/:id', allowMethods('GET, HEAD'))
    .use(livePricingErrorHandler(log))
}

/** Sends serialized JSON. Unlike Express's `send`, Node's `end` writes headers and body in one packet. */
function sendJson(res: Response, json: string): void {
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  res.end(json)
}
