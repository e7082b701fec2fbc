import type { Feature } from '../../../web/feature-api.ts'
import { ASSUMPTIONS } from './contract.ts'
import { type LivePricingSettings, livePricingSettings } from './settings.ts'

/** The live pricing API, which a supplier hosts (specification 4.1). */
export default {
  title: 'The platform asks a supplier, this app, for stores and prices',
  order: 60,
  needs: ['builder-requests', 'catalogues'],
  settings: livePricingSettings,
  contract: { assumptions: ASSUMPTIONS },
  demo: () => import('./demo.ts'),
  async create({ config, log }, settings) {
    if (settings.clients.length === 0) return {}
    // Loaded only if the API is served.
    const { livePricing } = await import('./routes.ts')
    const { path, router, provider } = livePricing(config, settings, log)
    return { serverRoutes: [{ path, router }], stop: async () => provider.close?.() }
  },
} satisfies Feature<LivePricingSettings>
