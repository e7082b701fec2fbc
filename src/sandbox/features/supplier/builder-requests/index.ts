import { type RequestHandler, Router } from 'express'
import * as z from 'zod'
import { notFound } from '../../../api.ts'
import type { SandboxCore, SandboxFeature } from '../../../feature.ts'
import { bxcontextOf } from '../../../guard.ts'
import { SCOPES } from '../../../platform.ts'
import { section } from '../../../sections.ts'
import { BUSINESS_SETUP } from '../business-setup/index.ts'
import { SAMPLE_SUPPLIER } from '../businesses.ts'
import { connectionSchema, createConnections, describeRequest, SCHEMA } from './connections.ts'
import { suppliersRoutes } from './suppliers.ts'
import { createWebhooks, SIGNATURE_HEADER, webhookSchema } from './webhooks.ts'

const optionsSchema = z.object({
  /** The webhooks that suppliers have registered, by their bxcontext. */
  webhooks: z.record(z.string(), webhookSchema).default({}),
  /** Builders that are connected from the start. */
  connected: z.array(connectionSchema.pick({ builder: true, supplier: true, externalRef: true })).default([]),
})

/** Builders ask to connect to a supplier, and then see its catalogues. A webhook tells the supplier, who answers by the API. */
export default {
  schema: SCHEMA,
  create(core, given) {
    const options = optionsSchema.parse(given)
    const connections = createConnections(core.sql)
    const webhooks = createWebhooks(options.webhooks)
    return {
      reset() {
        for (const { builder, supplier, externalRef } of options.connected)
          connections.ask(builder, supplier, externalRef, true)
      },
      api: builderRequestsApi(core),
      routes: Router()
        .use(suppliersRoutes(core, webhooks))
        .post('/business-setup/:bxcontext/deliveries/:id/repeat', webhooks.repeat),
      links: [{ href: '/suppliers', label: 'Suppliers' }],
      sections: [
        section(BUSINESS_SETUP, 'supplier/builder-requests/webhook', ({ bxcontext }) => {
          const webhook = options.webhooks[bxcontext]
          const deliveries = webhooks.of(bxcontext)
          return webhook && { bxcontext, header: SIGNATURE_HEADER, url: webhook.url, deliveries }
        }),
      ],
    }
  },
  demoEnv: { PLATFORM_WEBHOOK_SECRET: 'sandbox-webhook-secret' },
  appOptions({ PLATFORM_WEBHOOK_SECRET = '' }, appUrl) {
    // The app also accepts older secrets, which follow the first secret.
    const [secret] = PLATFORM_WEBHOOK_SECRET.split(',').map((secret) => secret.trim())
    return { webhooks: secret ? { [SAMPLE_SUPPLIER]: { url: `${appUrl}/webhooks/platform`, secret } } : {} }
  },
  demoOptions: () => ({
    connected: [{ builder: 'ridgeline-build', supplier: SAMPLE_SUPPLIER, externalRef: 'CUST1002' }],
  }),
} satisfies SandboxFeature

/** Pending requests, and the supplier's decisions (specification 3). */
function builderRequestsApi({ sql, guard }: SandboxCore): Router {
  const requests = createConnections(sql)
  const path = '/catalogues/incomingIntegrationConnections'
  const decide =
    (status: 'accepted' | 'rejected'): RequestHandler =>
    (req, res) => {
      const integrationConnectionId = String(req.query.integrationConnectionId ?? '')
      if (!requests.decide(bxcontextOf(res), integrationConnectionId, status)) return notFound(res)
      res.json({ integrationConnectionId, status })
    }
  return Router()
    .use(path, ...guard(SCOPES.catalogues, 'catalogues'))
    .get(path, (_req, res) => void res.json(requests.pending(bxcontextOf(res)).map(describeRequest)))
    .post(`${path}/accept`, decide('accepted'))
    .post(`${path}/reject`, decide('rejected'))
}
