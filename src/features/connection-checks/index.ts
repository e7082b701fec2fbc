import type { Feature } from '../feature.ts'
import { type ConnectionChecksSettings, connectionChecksSettings } from './settings.ts'
import { createSweep } from './sweep.ts'

/** Checks all connections regularly: keeps idle refresh tokens alive and notices revocations (`CHECK_CONNECTIONS_EVERY`). */
export const connectionChecks: Feature<ConnectionChecksSettings> = {
  name: 'connection-checks',
  settings: connectionChecksSettings,
  create({ connect, store, log }, { everyMs }) {
    if (everyMs === undefined) return {}
    return createSweep({ store, vault: connect.vault, log, everyMs })
  },
}
