import type { Feature } from '../feature.ts'
import { setupRoutes } from './routes.ts'
import { type SetupSettings, setupSettings } from './settings.ts'

/** Pages that lead the developers of this app from a clone to production, and the sheet for the registration. */
export const setup: Feature<SetupSettings> = {
  name: 'setup',
  needs: ['doctor'],
  settings: setupSettings,
  create(context, settings) {
    if (context.production) return {}
    return {
      navigation: [{ href: '/setup', label: 'Setup' }],
      routes: setupRoutes(context, settings),
    }
  },
}
