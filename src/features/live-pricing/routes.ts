import { type Request, type Response, Router } from 'express'
import type { Logger } from 'pino'
import type { EncryptionKey } from '../../connect/index.ts'
import type { KeyValueStore } from '../../connect/stores.ts'
import { readiness } from '../../web/health.ts'
import type { PlainHandler } from '../../web/plain-handler.ts'
import { securityHeaders } from '../../web/security-headers.ts'
import type { LivePricingBase } from './bases.ts'
import { livePricingDocs } from './docs.ts'
import { sendProblem } from './error-response.ts'
import { livePricingApi } from './router.ts'

export interface LivePricingRoutesOptions {
  bases: LivePricingBase[]
  /** The app's public origin. */
  baseUrl: string
  keys: readonly EncryptionKey[]
  rateLimit: { limit: number; windowMs: number } | null
  /** How many reverse proxies are in front of the app. */
  trustProxy: number
  /** Counts failed attempts of all processes; undefined: each process counts its own. */
  store?: KeyValueStore | undefined
  log: Logger
}

/** The API of each base, and Express routes for its readiness and documentation, which return 404 for all other paths below it. */
export function livePricingRoutes(options: LivePricingRoutesOptions): {
  handlers: PlainHandler[]
  docs: Router
} {
  const { bases, baseUrl, keys, rateLimit, trustProxy, store, log } = options
  const handlers = bases.map(({ path, clients, provider, baseUrl }) =>
    livePricingApi({ path, provider, clients, keys, baseUrl, rateLimit, trustProxy, store, log }),
  )
  const docs = Router()
  for (const base of bases)
    docs.use(
      base.path,
      securityHeaders(baseUrl),
      Router().get(
        '/health/ready',
        readiness(() => pricesLoaded(base)),
      ),
      livePricingDocs(base.baseUrl),
      endpointNotFound,
    )
  return { handlers, docs }
}

/** Readiness check: throws unless a base has a price list. */
export async function pricesLoaded({ path, provider }: LivePricingBase): Promise<void> {
  if (provider.loaded?.() === false) throw new Error(`${path} has no price list`)
}

/** Returns 404 as a problem document. */
export function endpointNotFound({ id }: Request, res: Response): void {
  const message = 'There is no endpoint at this path.'
  sendProblem(res, { status: 404, code: 'not_found', message }, id)
}
