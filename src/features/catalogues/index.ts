import type { Feature } from '../feature.ts'
import { createCatalogues } from './catalogues.ts'
import { operations } from './operations.ts'
import { cataloguesRoutes } from './routes.ts'

/** Lists, shows and creates the catalogues of a connected account, and grants builders access to them. */
export const catalogues: Feature = {
  name: 'catalogues',
  operations,
  create: ({ connect, sections }) => ({
    routes: cataloguesRoutes({ catalogues: createCatalogues(connect.api), vault: connect.vault, sections }),
    connectionLinks: async () => [{ path: '/catalogues', label: 'Catalogues' }],
  }),
}
