import type { Feature } from '../feature.ts'
import { openBases } from './bases.ts'
import { type LivePricingSettings, livePricingSettings } from './settings.ts'

/** The live pricing API, which a supplier hosts (specification 4.1). */
export default {
  title: 'Live pricing',
  order: 60,
  needs: ['catalogues'],
  settings: livePricingSettings,
  async create({ config, store, log }, settings) {
    const { baseUrl, trustProxy, dataDir, tokenEncryptionKeys: keys } = config
    const bases = openBases({ baseUrl, dataDir, settings, log })
    if (bases.length === 0) return {}
    // Loaded only where it is served.
    const { livePricingRoutes } = await import('./routes.ts')
    const { rateLimit } = settings
    const { handlers, docs } = livePricingRoutes({ bases, baseUrl, keys, rateLimit, trustProxy, store, log })
    return {
      plainHandlers: handlers,
      serverRoutes: docs,
      async stop() {
        for (const { provider } of bases) provider.close?.()
      },
    }
  },
} satisfies Feature<LivePricingSettings>
