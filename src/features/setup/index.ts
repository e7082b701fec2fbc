import type { Feature } from '../../web/feature-api.ts'

/**
 * Guides the developers of this app from a clone to production. `npm run doctor` and the page `/setup` show missing and wrong
 * settings.
 */
export default {
  title: 'npm run doctor and the page /setup, which test a registration',
  order: 90,
  async create(deps) {
    if (deps.config.environment === 'production') return {}
    const { setupPage } = await import('./page.ts')
    return {
      navigation: [{ href: '/setup', label: 'Setup', isForDevelopers: true }],
      routes: [{ path: '/setup', needsConnection: false, router: setupPage(deps), isForDevelopers: true }],
    }
  },
} satisfies Feature
