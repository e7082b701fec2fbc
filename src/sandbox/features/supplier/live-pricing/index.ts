import * as z from 'zod'
import type { SandboxFeature } from '../../../feature.ts'
import { section } from '../../../sections.ts'
import { createCatalogues } from '../../catalogues/catalogues.ts'
import { addSamples, samplesSchema } from '../../catalogues/samples.ts'
import { PICKED_ITEMS } from '../builder-requests/suppliers.ts'
import { BUSINESS_SETUP } from '../business-setup/index.ts'
import { SAMPLE_SUPPLIER } from '../businesses.ts'
import { registrationSchema } from './client.ts'
import { livePricesRoutes } from './routes.ts'
import { sampleItems } from './samples.ts'

/** Live prices need a published catalogue, so these options include those of the sample catalogues. */
const optionsSchema = samplesSchema.extend({
  /** The live pricing that suppliers have registered, by their bxcontext. */
  registered: z.record(z.string(), registrationSchema).default({}),
})

/** Builders see live prices, which the platform requests from the supplier. */
export default {
  create(core, given) {
    const options = optionsSchema.parse(given)
    const { registered } = options
    const { isPublished } = createCatalogues(core.sql)
    return {
      reset: () => addSamples(core.sql, options),
      routes: livePricesRoutes(core, registered),
      sections: [
        section(PICKED_ITEMS, 'supplier/live-pricing/price-button', ({ supplier, catalogue, path }) =>
          registered[supplier] && isPublished(catalogue.id) ? { path } : undefined,
        ),
        section(BUSINESS_SETUP, 'supplier/live-pricing/registration', ({ bxcontext }) => {
          const { url, clientId } = registered[bxcontext] ?? {}
          return url ? { url, clientId } : undefined
        }),
      ],
    }
  },
  demoEnv: { LIVE_PRICING_CLIENTS: 'sandbox-platform:sandbox-platform-secret' },
  appOptions({ LIVE_PRICING_CLIENTS = '' }, appUrl) {
    const [, id, secret] = /^\s*([^:,]+):([^,]+)/.exec(LIVE_PRICING_CLIENTS) ?? []
    const credentials = { clientId: id?.trim(), clientSecret: secret?.trim() }
    return { registered: id ? { [SAMPLE_SUPPLIER]: { url: `${appUrl}/live-pricing`, ...credentials } } : {} }
  },
  demoOptions: () => ({
    samples: {
      [SAMPLE_SUPPLIER]: { id: 'summit-trade-range', name: 'Summit trade range', items: sampleItems() },
    },
  }),
} satisfies SandboxFeature
