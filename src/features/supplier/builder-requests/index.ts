import type { Feature } from '../../../web/feature-api.ts'
import { createGrants } from '../../catalogues/grants.ts'
import { createBuilderRequests } from './builder-requests.ts'
import { ASSUMPTIONS, PATHS, SCOPES } from './contract.ts'
import { createDecisions } from './decisions.ts'
import { createPending } from './pending.ts'
import { builderRequestsRoutes } from './routes.ts'
import { type BuilderRequestsSettings, builderRequestsSettings } from './settings.ts'
import { texts } from './texts.ts'
import { webhookRoutes } from './webhook.ts'
import { createEvents } from './webhook-events.ts'

/** Lists, accepts and rejects builders' connection requests, and receives the webhook that announces them. */
export default {
  title: 'A supplier accepts or rejects builders who ask to connect',
  order: 30,
  needs: ['catalogues'],
  settings: builderRequestsSettings,
  scopes: SCOPES,
  contract: { assumptions: ASSUMPTIONS, paths: PATHS },
  check: () => import('./check.ts'),
  create({ connect, store, log }, settings) {
    const { vault } = connect
    const requests = createBuilderRequests(connect.api)
    const events = createEvents(store)
    const pending = createPending({ store, builderRequests: requests, events, vault })
    const router = builderRequestsRoutes({
      builderRequests: requests,
      pending,
      decisions: createDecisions(store),
      grants: createGrants(store),
      events,
      vault,
      hasWebhook: settings.webhookSecrets.length > 0,
    })
    return {
      serverRoutes: [{ path: '/webhooks/platform', router: webhookRoutes(settings, events, log) }],
      routes: [{ path: '/connections/:bxcontext/builder-requests', needsConnection: true, router }],
      connectionLinks: async (ref) => [
        { path: '/builder-requests', label: texts.title, count: await pending.count(ref) },
      ],
    }
  },
} satisfies Feature<BuilderRequestsSettings>
