import type { Feature } from '../../../features/feature.ts'
import { PATHS, SCOPES, WIDGETS_SCOPE } from './contract.ts'
import { probeWidgets } from './probe.ts'
import { widgetsRoutes } from './routes.ts'
import { texts } from './texts.ts'
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
      connectionLinks: async () => [{ path: '/widgets', label: texts.title }],
      connectionTest: {
        scope: WIDGETS_SCOPE,
        async run(source) {
          const { total } = await widgetsApi.list(source, { top: 1 })
          return { summary: texts.tested(total), call: `GET ${PATHS.widgets}` }
        },
      },
    }
  },
}
