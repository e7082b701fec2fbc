import express, { type Response, Router } from 'express'
import type { Logger } from 'pino'
import { requireToken } from './access.ts'
import { allowMethods, answerError, faultOf } from './answer-error.ts'
import { type Client, createClients } from './clients.ts'
import { LIMITS, PATHS } from './contract.ts'
import { LivePricingError } from './errors.ts'
import type { PriceProvider } from './price-provider.ts'
import { priceItems, readPriceRequest, within } from './pricing.ts'
import { fromJson } from './request-body.ts'
import { nearStoreJson, placeOf, storeJson } from './stores.ts'
import { tokenEndpoint } from './token-endpoint.ts'
import { createTokens } from './tokens.ts'

export interface LivePricingOptions {
  provider: PriceProvider
  /** Who may call. */
  clients: readonly Client[]
  /** Access tokens are signed with a key derived from the first of these, and verified with all. */
  keys: readonly { id: string; secret: Uint8Array }[]
  /** The `{supplier_base_url}`; tokens of another are refused. */
  baseUrl: string
  /** How many calls a client may make in a window; null: no limit. */
  rateLimit: { limit: number; windowMs: number } | null
  log: Logger
  /** Life of an access token, in seconds. */
  tokenSeconds?: number
  /** How long the price provider may take, in ms. */
  timeoutMs?: number
  /** The clock, in ms since 1970. */
  now?: () => number
}

/**
 * the live pricing API below a base address (specification 4.1): `POST /connect/token`, `GET /stores/nearest`,
 * `GET /stores/{id}`, `POST /request-prices`. Needs nothing of the app around it; errors are answered here.
 */
export function livePricingApi(options: LivePricingOptions): Router {
  const { provider, clients, keys, baseUrl, rateLimit, log } = options
  const { tokenSeconds = 900, timeoutMs = 10_000, now = Date.now } = options
  const callers = createClients(clients)
  const tokens = createTokens({ keys, audience: baseUrl, lifetime: tokenSeconds, now })
  const body = (limit: number) => express.raw({ type: () => true, limit })
  const onFault = (error: unknown) => log.error({ reason: faultOf(error) }, 'the price provider failed')
  const bearer = requireToken(tokens, callers, rateLimit)

  async function ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await within(timeoutMs, work())
    } catch (error) {
      onFault(error)
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
      const place = placeOf(req)
      const near = await ask(() => provider.nearest(place, LIMITS.stores))
      answer(res, `[${near.slice(0, LIMITS.stores).map(nearStoreJson).join(',')}]`)
    })
    .get('/stores/:id', bearer, async (req, res) => {
      const store = await ask(() => provider.store(String(req.params.id)))
      if (!store) throw new LivePricingError(404, 'not_found', 'There is no store of this id.')
      answer(res, storeJson(store))
    })
    .post(PATHS.prices, bearer, body(LIMITS.bodyBytes), async (req, res) => {
      const request = readPriceRequest(fromJson(req))
      answer(res, JSON.stringify(await priceItems(request, { provider, timeoutMs, onFault })))
    })
    .all(PATHS.token, allowMethods('POST'))
    .all(PATHS.prices, allowMethods('POST'))
    .all(PATHS.nearest, allowMethods('GET, HEAD'))
    .all('/stores/:id', allowMethods('GET, HEAD'))
    .use(answerError(log))
}

/** Answers JSON that is written already. Node sends headers and text as one piece, which Express's `send` does not. */
function answer(res: Response, json: string): void {
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  res.end(json)
}
