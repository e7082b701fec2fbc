import type { Feature } from '../../../features/feature.ts'
import { listResult } from '../../../web/connection-actions.ts'
import { PATHS, SCOPES, WIDGETS_SCOPE } from './contract.ts'
import { probeWidgets } from './probe.ts'
import { widgetsRoutes } from './routes.ts'
import { createWidgets } from './widgets.ts'

/** Shows the widgets of a connected account. */
export const widgets: Feature = {
  name: 'widgets',
  scopes: SCOPES,
  probe: probeWidgets,
  create({ connect }) {
    const widgetsApi = createWidgets(connect.api)
    return {
      routes: widgetsRoutes({ widgets: widgetsApi, vault: connect.vault }),
      connectionLinks: async () => [{ path: '/widgets', label: 'Widgets' }],
      connectionTest: {
        scope: WIDGETS_SCOPE,
        async run(source) {
          const { total } = await widgetsApi.list(source, { top: 1 })
          return listResult(`GET ${PATHS.widgets}`, total, 'widget')
        },
      },
    }
  },
}
