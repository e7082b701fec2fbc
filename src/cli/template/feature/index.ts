import type { Feature } from '../../../features/feature.ts'
import { PATHS, SCOPE, SCOPES } from './contract.ts'
import { createEntries } from './entries.ts'
import { entriesRoutes } from './routes.ts'
import { texts } from './texts.ts'

/** Shows the spare parts of a connected account. */
export default {
  title: texts.title,
  order: 200,
  scopes: SCOPES,
  connectionTest: {
    scope: SCOPE,
    async run(api, source) {
      const { total } = await createEntries(api).list(source, { top: 1 })
      return { summary: texts.tested(total), call: `GET ${PATHS.list}` }
    },
  },
  create: ({ connect }) => ({
    routes: entriesRoutes(createEntries(connect.api), connect.vault),
    connectionLinks: async () => [{ path: '/spare-parts', label: texts.title }],
  }),
} satisfies Feature
