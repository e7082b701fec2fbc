import type { Feature } from '../../../web/feature-api.ts'
import { ASSUMPTIONS } from './contract.ts'
import { type LivePricingSettings, livePricingSettings } from './settings.ts'

/**
 * The live pricing API, which a supplier hosts (specification 4.1). With the sandbox and the demo's sign-in, it begins with the sample
 * prices.
 */
export default {
  title: 'The platform asks a supplier, this app, for stores and prices',
  order: 60,
  needs: ['builder-requests', 'catalogues'],
  settings: livePricingSettings,
  contract: { assumptions: ASSUMPTIONS },
  async create({ config, log, signIn }, settings) {
    if (settings.clients.length === 0) return {}
    // Loaded only if the API is served.
    const { livePricing } = await import('./routes.ts')
    const { path, router, provider, pricesLoaded, warnOfNone } = livePricing(config, settings, log)
    const loadSample = async () => (await import('./sample.ts')).loadSample(config.dataDir)
    const prepare = signIn.isDemo && config.platform.sandboxUrl ? loadSample : warnOfNone
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
