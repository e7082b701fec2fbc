import { type RequestHandler, Router } from 'express'
import type { Logger } from 'pino'
import { type Config, readiness } from '../../../web/feature-api.ts'
import { EXACT_PATHS, livePricingApi } from './api.ts'
import { openPriceList, priceListFolder } from './csv-price-provider/price-list.ts'
import { errorResponse, LivePricingError } from './errors.ts'
import { openApi } from './openapi.ts'
import type { PriceProvider } from './price-provider.ts'
import type { LivePricingSettings } from './settings.ts'

/** The path of the API in the app. */
const PATH = '/live-pricing'

/**
 * The API with its readiness check and OpenAPI document, for the clients in the settings. Answers 404 at all other paths. To use
 * your own `PriceProvider`, replace `openPriceList`.
 */
export function livePricing(
  config: Pick<Config, 'baseUrl' | 'dataDir' | 'tokenEncryptionKeys'>,
  { clients, rateLimit }: LivePricingSettings,
  log: Logger,
) {
  const { tokenEncryptionKeys: keys } = config
  const baseUrl = config.baseUrl + PATH
  const folder = priceListFolder(config.dataDir)
  const provider: PriceProvider = openPriceList(folder)
  const pricesLoaded = async () => {
    if (provider.loaded?.() === false) throw new Error('there is no price list')
  }
  const none = 'there is no price list yet: run npm run feature -- live-pricing load-prices FOLDER'
  const warnOfNone = () => log.warn({ folder }, none)
  const document = openApi(baseUrl)
  const router = Router().use(
    livePricingApi({ provider, clients, keys, baseUrl, rateLimit, log }),
    Router(EXACT_PATHS)
      .get('/health/ready', readiness(pricesLoaded))
      .get('/openapi.json', (_req, res) => void res.json(document)),
    endpointNotFound,
    errorResponse,
  )
  return { path: PATH, router, url: baseUrl, provider, pricesLoaded, warnOfNone }
}

/** Throws 404 for every request. */
export const endpointNotFound: RequestHandler = () => {
  throw new LivePricingError('not_found', { detail: 'There is no endpoint at this path.' })
}
