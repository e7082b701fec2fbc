import type { Feature } from '../../web/kit.ts'
import { ASSUMPTIONS } from './contract.ts'
import { type LivePricingSettings, livePricingSettings } from './settings.ts'

/** The live pricing API, which a supplier hosts (specification 4.1). */
export default {
  title: 'The platform asks a supplier, this app, for stores and prices',
  order: 60,
  needs: ['builder-requests', 'catalogues', 'price-files'],
  settings: livePricingSettings,
  contract: { assumptions: ASSUMPTIONS },
  check: () => import('./check.ts'),
  demo: () => import('./demo.ts'),
  async create({ config, log }, settings) {
    const { production, staging } = settings.clients
    if (production.length + staging.length === 0) return {}
    const { baseUrl, dataDir, tokenEncryptionKeys: keys } = config
    // Loaded only where it is served.
    const { livePricingRoutes } = await import('./routes.ts')
    const { parts, close } = livePricingRoutes({ baseUrl, dataDir, settings, keys, log })
    return { serverRoutes: parts, stop: async () => close() }
  },
} satisfies Feature<LivePricingSettings>
