import type { Feature } from '../feature.ts'
import { createCatalogues } from './catalogues.ts'
import { operations } from './operations.ts'
import { cataloguesRoutes } from './routes.ts'

/** The catalogues of a connected account: list, create, show, and who may see one. */
export const catalogues: Feature = {
  name: 'catalogues',
  operations,
  create: ({ connect, sections }) => ({
    routes: cataloguesRoutes({ catalogues: createCatalogues(connect.api), vault: connect.vault, sections }),
    connectionLinks: async () => [{ path: '/catalogues', label: 'Catalogues' }],
  }),
}
