import type { Feature } from '../../../../../web/kit.ts'
import { CALLS, PATHS, SCOPE, SCOPES } from './contract.ts'
import { entriesRoutes } from './routes.ts'
import { texts } from './texts.ts'

/** The spare parts of a connected account. */
export default {
  title: texts.title,
  order: 200,
  scopes: SCOPES,
  connectionTest: {
    scope: SCOPE,
    async run(api, source) {
      const { total } = await api.list(source, CALLS.list, { top: 1 })
      return { summary: texts.tested(total), call: `GET ${PATHS.list}` }
    },
  },
  create: ({ connect }) => ({
    routes: entriesRoutes(connect),
    connectionLinks: async () => [{ path: '/spare-parts', label: texts.title }],
  }),
} satisfies Feature
