import type { Feature } from '../../web/feature-api.ts'
import { setupPage } from './page.ts'

/**
 * Guides the developers of this app from a clone to production. `npm run doctor` and the page `/setup` show missing and wrong
 * settings.
 */
export default {
  title: 'npm run doctor and the page /setup, which test a registration',
  order: 90,
  create(deps) {
    if (deps.config.environment === 'production') return {}
    return {
      navigation: [{ href: '/setup', label: 'Setup', isForDevelopers: true }],
      routes: [{ path: '/setup', router: setupPage(deps), isForDevelopers: true }],
    }
  },
} satisfies Feature
