import { join } from 'node:path'
import { type RequestHandler, Router } from 'express'
import { type Part, readiness, securityHeaders } from '../../web/kit.ts'
import { EXACT_PATHS, type LivePricingOptions, livePricingApi } from './api.ts'
import { openPriceList, PRICE_LIST_FOLDERS } from './csv-price-provider/price-list.ts'
import { livePricingDocs } from './docs.ts'
import { errorResponse } from './error-response.ts'
import { LivePricingError } from './errors.ts'
import type { PriceProvider } from './price-provider.ts'
import type { LivePricingSettings } from './settings.ts'

const PATHS = { production: '/live-pricing', staging: '/live-pricing-staging' } as const

export interface LivePricingRoutesOptions extends Pick<LivePricingOptions, 'keys' | 'log'> {
  /** The app's public origin. */
  baseUrl: string
  dataDir: string
  settings: LivePricingSettings
}

export interface LivePricing {
  /** One for production and one for staging, if they have clients. */
  parts: Part[]
  /** The `{supplier_base_url}` of production and of staging, each with its own clients and prices, if it has clients. */
  bases: { url: string; pricesLoaded(): Promise<void> }[]
  close(): void
}

/**
 * The API of each base, with its readiness and documentation, and 404 for all other paths below it. To use your own
 * `PriceProvider`, replace `openPriceList`.
 */
export function livePricingRoutes(options: LivePricingRoutesOptions): LivePricing {
  const { baseUrl, dataDir, settings, keys, log } = options
  const { rateLimit } = settings
  const bases = (['production', 'staging'] as const).flatMap((environment) => {
    const clients = settings.clients[environment]
    if (clients.length === 0) return []
    const path = PATHS[environment]
    const url = baseUrl + path
    const folder = join(dataDir, PRICE_LIST_FOLDERS[environment])
    const provider: PriceProvider = openPriceList(folder)
    const isLoaded = () => provider.loaded?.() ?? true
    if (!isLoaded())
      log.warn(
        { folder },
        `${path} has no price list yet: run npm run feature -- live-pricing load-prices FOLDER`,
      )
    const pricesLoaded = async () => {
      if (!isLoaded()) throw new Error(`${path} has no price list`)
    }
    const router = Router().use(
      livePricingApi({ provider, clients, keys, baseUrl: url, rateLimit, log }),
      securityHeaders(baseUrl),
      Router(EXACT_PATHS).get('/health/ready', readiness(pricesLoaded)),
      livePricingDocs(url),
      endpointNotFound,
      errorResponse,
    )
    return { path, router, url, provider, pricesLoaded }
  })
  return { parts: bases, bases, close: () => bases.forEach(({ provider }) => void provider.close?.()) }
}

/** Throws 404 for every request. */
export const endpointNotFound: RequestHandler = () => {
  throw new LivePricingError('not_found', { detail: 'There is no endpoint at this path.' })
}
