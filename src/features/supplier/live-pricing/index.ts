import type { Feature } from '../../../web/kit.ts'
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
    const { production, staging } = settings.clients
    if (production.length + staging.length === 0) return {}
    // Loaded only where it is served.
    const { livePricingBases } = await import('./routes.ts')
    const bases = livePricingBases(config, settings, log)
    return { serverRoutes: bases, stop: async () => bases.forEach(({ provider }) => void provider.close?.()) }
  },
} satisfies Feature<LivePricingSettings>
