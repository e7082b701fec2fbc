import type { Feature } from '../feature.ts'
import { createCatalogues } from './catalogues.ts'
import { CATALOGUES_SCOPE, PATHS, SCOPES } from './contract.ts'
import { createGrants } from './grants.ts'
import { probeCatalogues } from './probe.ts'
import { cataloguesRoutes } from './routes.ts'
import { texts } from './texts.ts'

/** Lists, shows and creates the catalogues of a connected account, and grants builders access to them. */
export const catalogues: Feature = {
  name: 'catalogues',
  scopes: SCOPES,
  probe: probeCatalogues,
  create({ connect, store, sections }) {
    const cataloguesApi = createCatalogues(connect.api)
    return {
      routes: cataloguesRoutes({
        catalogues: cataloguesApi,
        vault: connect.vault,
        sections,
        grants: createGrants(store),
      }),
      connectionLinks: async () => [{ path: '/catalogues', label: texts.title }],
      connectionTest: {
        scope: CATALOGUES_SCOPE,
        async run(source) {
          const { total } = await cataloguesApi.list(source, { top: 1 })
          return { summary: texts.tested(total), call: `GET ${PATHS.catalogues}` }
        },
      },
    }
  },
}
