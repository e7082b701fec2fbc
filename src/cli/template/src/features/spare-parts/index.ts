import type { Feature } from '../../../../../web/kit.ts'
import { ASSUMPTIONS, CALLS, PATHS, SCOPE, SCOPES } from './contract.ts'
import { entriesRoutes } from './routes.ts'
import { texts } from './texts.ts'

/** The spare parts of a connected account. */
export default {
  title: texts.title,
  order: 200,
  scopes: SCOPES,
  contract: { assumptions: ASSUMPTIONS, paths: PATHS },
  connectionTest: {
    scope: SCOPE,
    async run(api, source) {
      const { total } = await api.list(source, CALLS.list, { top: 1 })
      return { summary: texts.tested(total), call: `GET ${PATHS.list}` }
    },
  },
  create: ({ connect }) => ({
    routes: [{ path: '/connections/:bxcontext/spare-parts', router: entriesRoutes(connect) }],
    connectionLinks: async () => [{ path: '/spare-parts', label: texts.title }],
  }),
} satisfies Feature
