import type { Feature } from '../feature.ts'
import { setupRoutes } from './routes.ts'
import { type SetupSettings, setupSettings } from './settings.ts'

/**
 * Leads the developers of this app from a clone to production: the steps, the doctor, the sheet for the registration, and the
 * comparison of the platform with the contract.
 */
export default {
  title: 'First contact',
  order: 90,
  settings: setupSettings,
  create(deps, settings) {
    if (deps.config.production) return {}
    return { navigation: [{ href: '/setup', label: 'Setup' }], routes: setupRoutes(deps, settings) }
  },
} satisfies Feature<SetupSettings>
