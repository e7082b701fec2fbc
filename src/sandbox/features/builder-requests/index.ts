import { type RequestHandler, Router } from 'express'
import * as z from 'zod'
import { SAMPLE_SUPPLIER } from '../../accounts.ts'
import { notFound } from '../../api.ts'
import { BUSINESS_SETUP } from '../../business-setup.ts'
import type { SandboxCore, SandboxFeature } from '../../feature.ts'
import { bxcontextOf } from '../../guard.ts'
import { section } from '../../sections.ts'
import { createRegistrations } from '../catalogues/registrations.ts'
import { SAMPLE_MEMBERS } from '../catalogues/samples.ts'
import { UNCONNECTED_SUPPLIER } from '../catalogues/suppliers.ts'
import { createBuilderRequests, describeRequest } from './requests.ts'
import { builderRequestsRoutes } from './routes.ts'
import { createWebhooks, SIGNATURE_HEADER, webhookSchema } from './webhooks.ts'

const optionsSchema = z.object({
  /** Registered webhooks, by the business's bxcontext. */
  webhooks: z.record(z.string(), webhookSchema).default({}),
})

/** Builders ask a supplier to connect; the supplier learns of it by webhook and decides by API. */
export default {
  create(core, options) {
    const webhooks = createWebhooks(createRegistrations(core.sql, 'webhook', webhookSchema))
    const registered = Object.entries(optionsSchema.parse(options).webhooks)
    const reset = () => {
      for (const [bxcontext, webhook] of registered) webhooks.save(bxcontext, webhook)
    }
    reset()
    return {
      reset,
      api: builderRequestsApi(core),
      routes: builderRequestsRoutes(createBuilderRequests(core.sql), webhooks),
      sections: [
        section(UNCONNECTED_SUPPLIER, 'builder-requests/ask', ({ builder, supplier, connection }) => ({
          path: `/suppliers/${builder.bxcontext}/${supplier}/ask`,
          fieldId: `ref-${builder.bxcontext}-${supplier}`,
          suggestions: supplier === SAMPLE_SUPPLIER ? SAMPLE_MEMBERS : [],
          connection,
        })),
        section(BUSINESS_SETUP, 'builder-requests/webhook', ({ bxcontext }) => ({
          bxcontext,
          header: SIGNATURE_HEADER,
          webhook: webhooks.find(bxcontext),
          deliveries: webhooks.deliveries(bxcontext),
        })),
      ],
    }
  },
  demoEnv: { PLATFORM_WEBHOOK_SECRET: 'sandbox-webhook-secret' },
  demoOptions({ PLATFORM_WEBHOOK_SECRET = '' }, appUrl) {
    // The app also accepts older secrets, after the first one.
    const [secret] = PLATFORM_WEBHOOK_SECRET.split(',').map((secret) => secret.trim())
    return { webhooks: { [SAMPLE_SUPPLIER]: { url: `${appUrl}/webhooks/platform`, secret } } }
  },
} satisfies SandboxFeature

/** Pending requests, and the supplier's decisions (specification 3). */
function builderRequestsApi({ sql, guard }: SandboxCore): Router {
  const requests = createBuilderRequests(sql)
  const path = '/catalogues/incomingIntegrationConnections'
  const decide =
    (status: 'accepted' | 'rejected'): RequestHandler =>
    (req, res) => {
      const integrationConnectionId = String(req.query.integrationConnectionId ?? '')
      if (!requests.decide(bxcontextOf(res), integrationConnectionId, status)) return notFound(res)
      res.json({ integrationConnectionId, status })
    }
  return Router()
    .use(path, ...guard('catalogues'))
    .get(path, (_req, res) => void res.json(requests.pending(bxcontextOf(res)).map(describeRequest)))
    .post(`${path}/accept`, decide('accepted'))
    .post(`${path}/reject`, decide('rejected'))
}
