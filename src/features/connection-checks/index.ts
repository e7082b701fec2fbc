import type { Feature } from '../../web/feature-api.ts'
import { type ConnectionChecksSettings, connectionChecksSettings } from './settings.ts'
import { createSweep } from './sweep.ts'

/** Checks all connections regularly: keeps idle refresh tokens alive and notices revocations (`CHECK_CONNECTIONS_EVERY`). */
export default {
  title: 'Refreshes idle connections, and notices revocations early',
  order: 100,
  settings: connectionChecksSettings,
  userData: () => import('./user-data.ts'),
  create({ connect, store, log }, { everyMs }) {
    return everyMs === undefined ? {} : createSweep({ store, vault: connect.vault, log, everyMs })
  },
} satisfies Feature<ConnectionChecksSettings>
