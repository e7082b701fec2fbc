import type { Feature } from '../../../web/feature-api.ts'
import { ASSUMPTIONS, PATHS } from './contract.ts'
import { type FirstPartySettings, firstPartySettings } from './settings.ts'

/** Access to the platform's API by API key, for unattended jobs (specification 5.2). */
export default {
  title: 'Jobs without a user, which log in by API key',
  order: 50,
  settings: firstPartySettings,
  contract: { assumptions: ASSUMPTIONS, paths: PATHS },
  check: () => import('./check.ts'),
} satisfies Feature<FirstPartySettings>
