import type { Feature } from '../../web/feature-api.ts'
import { createCatalogues } from './catalogues.ts'
import { ASSUMPTIONS, CATALOGUES_SCOPE, PATHS, SCOPES } from './contract.ts'
import { cataloguesRoutes } from './routes.ts'
import { texts } from './texts.ts'

export default {
  title: "A supplier's catalogues: list, create, let chosen builders see them",
  order: 20,
  scopes: SCOPES,
  contract: { assumptions: ASSUMPTIONS, paths: PATHS },
  connectionTest: {
    scope: CATALOGUES_SCOPE,
    async run(api, source) {
      const { total } = await createCatalogues(api).list(source, { top: 1 })
      return { summary: texts.tested(total), call: `GET ${PATHS.catalogues}` }
    },
  },
  create: (deps) => ({
    routes: [
      { path: '/connections/:bxcontext/catalogues', needsConnection: true, router: cataloguesRoutes(deps) },
    ],
    connectionLinks: async () => [{ path: '/catalogues', label: texts.title }],
  }),
} satisfies Feature
