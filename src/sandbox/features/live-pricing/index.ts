import { Router } from 'express'
import * as z from 'zod'
import { SAMPLE_SUPPLIER, SUPPLIERS } from '../../accounts.ts'
import { BUSINESS_SETUP } from '../../business-setup.ts'
import type { SandboxFeature } from '../../feature.ts'
import { section } from '../../sections.ts'
import { createCatalogues } from '../catalogues/catalogues.ts'
import { createRegistrations } from '../catalogues/registrations.ts'
import { addSamples, samplesSchema } from '../catalogues/samples.ts'
import { PICKED_ITEMS } from '../catalogues/suppliers.ts'
import { registrationSchema } from './client.ts'
import { livePricesRoutes, registrationRoutes } from './routes.ts'
import { sampleItems } from './sample.ts'

/** A catalogue with prices needs the options of catalogues as well. */
const optionsSchema = samplesSchema.extend({
  /** Registered live pricing, by the supplier's bxcontext. */
  registered: z.record(z.string(), registrationSchema).default({}),
})

/** Builders see live prices, which the platform requests from the supplier. */
export default {
  create(core, options) {
    const { sql } = core
    const { registered, ...samples } = optionsSchema.parse(options)
    const registrations = createRegistrations(sql, 'live pricing', registrationSchema)
    const reset = () => {
      addSamples(sql, samples)
      for (const [bxcontext, registration] of Object.entries(registered))
        registrations.save(bxcontext, registration)
    }
    reset()
    const { isPublished } = createCatalogues(sql)
    return {
      reset,
      routes: Router().use(livePricesRoutes(core, registrations)).use(registrationRoutes(registrations)),
      sections: [
        section(PICKED_ITEMS, 'live-pricing/price-button', ({ supplier, catalogue, path }) =>
          registrations.find(supplier) && isPublished(catalogue.id) ? { path } : undefined,
        ),
        section(BUSINESS_SETUP, 'live-pricing/registration', ({ bxcontext }) =>
          SUPPLIERS.includes(bxcontext)
            ? { bxcontext, registration: registrations.find(bxcontext) }
            : undefined,
        ),
      ],
    }
  },
  demoEnv: { LIVE_PRICING_CLIENTS: 'sandbox-platform:sandbox-platform-secret' },
  demoOptions({ LIVE_PRICING_CLIENTS = '' }, appUrl) {
    const [, clientId, clientSecret] = /^\s*([^:,]+):([^,]+)/.exec(LIVE_PRICING_CLIENTS) ?? []
    const url = `${appUrl}/live-pricing`
    const registration = { url, clientId: clientId?.trim(), clientSecret: clientSecret?.trim() }
    const sample = { id: 'summit-trade-range', name: 'Summit trade range', items: sampleItems() }
    return {
      registered: clientId ? { [SAMPLE_SUPPLIER]: registration } : {},
      samples: { [SAMPLE_SUPPLIER]: sample },
      connected: [{ builder: 'ridgeline-build', supplier: SAMPLE_SUPPLIER, externalRef: 'CUST1002' }],
    }
  },
} satisfies SandboxFeature
