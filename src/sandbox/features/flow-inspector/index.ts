import type { SandboxFeature } from '../../feature.ts'
import { sendAgainRoutes } from './send-again.ts'

/** Sends recorded token requests again, and links to the scenarios. */
export default {
  create: (core) => ({
    routes: sendAgainRoutes(core),
    // Support staff show the sandbox and the scenarios in one demonstration.
    links: [{ href: `${core.appUrl}/scenarios`, label: 'Scenarios' }],
  }),
} satisfies SandboxFeature
