import { Router } from 'express'
import type { Logger } from 'pino'
import type { EncryptionKey } from '../../connect/index.ts'
import { securityHeaders } from '../../web/security-headers.ts'
import type { LivePricingBase } from './bases.ts'
import { livePricingDocs } from './docs.ts'
import { endpointNotFound } from './error-handler.ts'
import { livePricingApi } from './router.ts'

export interface LivePricingRoutesOptions {
  bases: LivePricingBase[]
  /** The app's public origin. */
  baseUrl: string
  keys: readonly EncryptionKey[]
  rateLimit: { limit: number; windowMs: number } | null
  log: Logger
}

/** Mounts the API of each base with its documentation, and returns 404 for all other paths below it. */
export function livePricingRoutes(options: LivePricingRoutesOptions): Router {
  const { bases, baseUrl, keys, rateLimit, log } = options
  const router = Router()
  for (const base of bases) {
    const { clients, priceLists } = base
    router.use(
      base.path,
      livePricingApi({ provider: priceLists, clients, keys, baseUrl: base.baseUrl, rateLimit, log }),
      ...securityHeaders({ baseUrl, formTargets: [] }),
      livePricingDocs(base.baseUrl),
      endpointNotFound,
    )
  }
  return router
}
