import type { Feature } from '../../../web/feature-api.ts'
import { ASSUMPTIONS } from './contract.ts'
import { type LivePricingSettings, livePricingSettings } from './settings.ts'

/** The live pricing API, which a supplier hosts (specification 4.1). With the sandbox, it begins with the sample prices. */
export default {
  title: 'The platform asks a supplier, this app, for stores and prices',
  order: 60,
  needs: ['builder-requests', 'catalogues'],
  settings: livePricingSettings,
  contract: { assumptions: ASSUMPTIONS },
  async create({ config, log }, settings) {
    if (settings.clients.length === 0) return {}
    // Loaded only if the API is served.
    const [{ livePricing }, { loadSample }] = await Promise.all([
      import('./routes.ts'),
      import('./sample.ts'),
    ])
    const { path, router, provider, pricesLoaded, warnOfNone } = livePricing(config, settings, log)
    const prepare = config.platform.sandboxUrl ? () => loadSample(config.dataDir) : warnOfNone
    let prepared: Promise<unknown> | undefined
    return {
      serverRoutes: [{ path, router }],
      start() {
        prepared = pricesLoaded().catch(prepare).catch(warnOfNone)
      },
      async stop() {
        await prepared
        provider.close?.()
      },
    }
  },
} satisfies Feature<LivePricingSettings>
