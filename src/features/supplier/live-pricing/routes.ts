import { join } from 'node:path'
import { type RequestHandler, Router } from 'express'
import type { Logger } from 'pino'
import { type Config, readiness, securityHeaders } from '../../../web/kit.ts'
import { EXACT_PATHS, livePricingApi } from './api.ts'
import { openPriceList, PRICE_LIST_FOLDERS } from './csv-price-provider/price-list.ts'
import { livePricingDocs } from './docs.ts'
import { errorResponse, LivePricingError } from './errors.ts'
import type { PriceProvider } from './price-provider.ts'
import type { LivePricingSettings } from './settings.ts'

const PATHS = { production: '/live-pricing', staging: '/live-pricing-staging' } as const

/**
 * The bases of production and staging, if they have clients. Each base has its own clients and prices. It serves the API, its
 * readiness and its documentation, and answers 404 at all other paths. To use your own `PriceProvider`, replace `openPriceList`.
 */
export function livePricingBases(
  {
    baseUrl,
    dataDir,
    tokenEncryptionKeys: keys,
  }: Pick<Config, 'baseUrl' | 'dataDir' | 'tokenEncryptionKeys'>,
  settings: LivePricingSettings,
  log: Logger,
) {
  return (['production', 'staging'] as const).flatMap((environment) => {
    const clients = settings.clients[environment]
    if (clients.length === 0) return []
    const path = PATHS[environment]
    const url = baseUrl + path
    const folder = join(dataDir, PRICE_LIST_FOLDERS[environment])
    const provider: PriceProvider = openPriceList(folder)
    const pricesLoaded = async () => {
      if (provider.loaded?.() === false) throw new Error(`${path} has no price list`)
    }
    const none = `${path} has no price list yet: run npm run feature -- live-pricing load-prices FOLDER`
    void pricesLoaded().catch(() => log.warn({ folder }, none))
    const router = Router().use(
      livePricingApi({ provider, clients, keys, baseUrl: url, rateLimit: settings.rateLimit, log }),
      securityHeaders(baseUrl),
      Router(EXACT_PATHS).get('/health/ready', readiness(pricesLoaded)),
      livePricingDocs(url),
      endpointNotFound,
      errorResponse,
    )
    return { path, router, url, provider, pricesLoaded }
  })
}

/** Throws 404 for every request. */
export const endpointNotFound: RequestHandler = () => {
  throw new LivePricingError('not_found', { detail: 'There is no endpoint at this path.' })
}
