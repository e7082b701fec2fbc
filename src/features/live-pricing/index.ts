import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Feature } from '../feature.ts'
import { checkClients } from './check.ts'
import { openPriceList, PRICE_LIST_FOLDERS } from './csv-price-provider/price-list.ts'
import { type LivePricingSettings, livePricingSettings } from './settings.ts'

const SAMPLE = fileURLToPath(new URL('./sample', import.meta.url))

/** The live pricing API, which a supplier hosts (specification 4.1). */
export const livePricing: Feature<LivePricingSettings> = {
  name: 'live-pricing',
  needs: ['catalogues'],
  settings: livePricingSettings,
  check: checkClients,
  async prepareDemo(dataDir) {
    const folder = join(dataDir, PRICE_LIST_FOLDERS.production)
    const live = openPriceList(folder)
    const isLoaded = live.loaded()
    live.close()
    if (isLoaded) return
    const { loadPriceList } = await import('./csv-price-provider/load.ts')
    await loadPriceList(SAMPLE, folder)
  },
  async create({ baseUrl, dataDir, encryptionKeys: keys, store, log }, settings) {
    const { production, staging } = settings.clients
    if (production.length + staging.length === 0) return {}
    // Loaded only where it is served.
    const { livePricingRoutes } = await import('./routes.ts')
    const { routes, close } = livePricingRoutes({ baseUrl, dataDir, settings, keys, store, log })
    return { serverRoutes: routes, close: async () => close() }
  },
}
