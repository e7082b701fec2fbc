import type { Feature } from '../feature.ts'
import { createLeads } from './leads.ts'
import { operations } from './operations.ts'
import { leadsRoutes } from './routes.ts'

/** Lists, shows and creates the leads of a connected account. */
export const leads: Feature = {
  name: 'leads',
  operations,
  create: ({ connect }) => ({
    routes: leadsRoutes({ leads: createLeads(connect.api), vault: connect.vault }),
    connectionLinks: async () => [{ path: '/leads', label: 'Leads' }],
  }),
}
