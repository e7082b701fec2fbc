import type { Feature } from '../../web/feature-api.ts'
import { ASSUMPTIONS, CALLS, LEADS_SCOPE, PATHS, SCOPES } from './contract.ts'
import { leadsRoutes } from './routes.ts'
import { texts } from './texts.ts'

export default {
  title: 'The leads of an account: list, show, create',
  order: 10,
  scopes: SCOPES,
  contract: { assumptions: ASSUMPTIONS, paths: PATHS },
  connectionTest: {
    scope: LEADS_SCOPE,
    async run(api, source) {
      const { total } = await api.list(source, CALLS.list, { top: 1 })
      return { summary: texts.tested(total), call: `GET ${PATHS.leads}` }
    },
  },
  create: ({ connect }) => ({
    routes: [{ path: '/connections/:bxcontext/leads', needsConnection: true, router: leadsRoutes(connect) }],
    connectionLinks: async () => [{ path: '/leads', label: texts.title }],
  }),
} satisfies Feature
