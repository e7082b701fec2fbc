import type { Feature } from '../feature.ts'
import { LEADS_SCOPE, PATHS, SCOPES } from './contract.ts'
import { createLeads } from './leads.ts'
import { probeLeads } from './probe.ts'
import { leadsRoutes } from './routes.ts'
import { texts } from './texts.ts'

/** Lists, shows and creates the leads of a connected account. */
export const leads: Feature = {
  name: 'leads',
  scopes: SCOPES,
  probe: probeLeads,
  create({ connect }) {
    const leadsApi = createLeads(connect.api)
    return {
      routes: leadsRoutes({ leads: leadsApi, vault: connect.vault }),
      connectionLinks: async () => [{ path: '/leads', label: texts.title }],
      connectionTest: {
        scope: LEADS_SCOPE,
        async run(source) {
          const { total } = await leadsApi.list(source, { top: 1 })
          return { summary: texts.tested(total), call: `GET ${PATHS.leads}` }
        },
      },
    }
  },
}
