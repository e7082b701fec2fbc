import { connectionKind } from '../../connect/index.ts'
import type { Feature, Gauge } from '../feature.ts'
import { type ConnectionChecksSettings, connectionChecksSettings } from './settings.ts'
import { createSweep } from './sweep.ts'
import { type Counts, lastCounts } from './sweep-state.ts'

/** Checks all connections regularly: keeps idle refresh tokens alive and notices revocations (`CHECK_CONNECTIONS_EVERY`). */
export const connectionChecks: Feature<ConnectionChecksSettings> = {
  name: 'connection-checks',
  settings: connectionChecksSettings,
  create({ connect, store, log }, { everyMs }) {
    if (everyMs === undefined) return {}
    const recordKind = connectionKind(connect.platform.name)
    const sweep = createSweep({ store, recordKind, vault: connect.vault, log, everyMs })
    // Without the store, the other metrics still have to be there: they say that it is gone.
    return {
      ...sweep,
      gauges: async () => connectionGauges(await lastCounts({ store, recordKind }).catch(() => null)),
    }
  },
}

/** Connections as the last complete round found them; none before that. */
const connectionGauges = (counts: Counts | null): Gauge[] => [
  {
    name: 'connect_connections',
    help: 'Connections by status, as the last check of all connections found them.',
    values: (['active', 'revoked', 'unreadable'] as const).flatMap((status) =>
      counts ? [{ labels: { status }, value: counts[status] }] : [],
    ),
  },
]
