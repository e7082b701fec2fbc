import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Feature } from '../feature.ts'
import { openBases, PRICE_LIST_FOLDERS } from './bases.ts'
import { checkClients } from './check.ts'
import { hasPriceList } from './csv-price-provider/price-lists.ts'
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
    if (hasPriceList(folder)) return
    const { loadPriceList } = await import('./csv-price-provider/load.ts')
    await loadPriceList(SAMPLE, folder)
  },
  async create({ baseUrl, trustProxy, dataDir, encryptionKeys: keys, store, log }, settings) {
    const bases = openBases({ baseUrl, dataDir, settings, log })
    if (bases.length === 0) return {}
    // Loaded only where it is served.
    const { livePricingRoutes } = await import('./routes.ts')
    const { rateLimit } = settings
    const { handlers, docs } = livePricingRoutes({ bases, baseUrl, keys, rateLimit, trustProxy, store, log })
    return {
      plainHandlers: handlers,
      serverRoutes: docs,
      async close() {
        for (const { provider } of bases) provider.close?.()
      },
    }
  },
}
