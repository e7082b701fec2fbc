import type { Feature } from '../../../features/feature.ts'
import { PATHS, SCOPES, WIDGETS_SCOPE } from './contract.ts'
import { widgetsRoutes } from './routes.ts'
import { texts } from './texts.ts'
import { createWidgets } from './widgets.ts'

/** Shows the widgets of a connected account. */
export default {
  title: texts.title,
  order: 200,
  scopes: SCOPES,
  connectionTest: {
    scope: WIDGETS_SCOPE,
    async run(api, source) {
      const { total } = await createWidgets(api).list(source, { top: 1 })
      return { summary: texts.tested(total), call: `GET ${PATHS.widgets}` }
    },
  },
  create: ({ connect }) => ({
    routes: widgetsRoutes({ widgets: createWidgets(connect.api), vault: connect.vault }),
    connectionLinks: async () => [{ path: '/widgets', label: texts.title }],
  }),
} satisfies Feature
