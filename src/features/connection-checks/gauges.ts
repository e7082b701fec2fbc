import { CONNECTION_STATES } from '../../connect/index.ts'
import type { FeatureDeps, Gauge } from '../../web/feature-api.ts'
import { readRound } from './round.ts'

/** The connections that the last complete round found. There are no values before that round, or without the store. */
export default async function connectionGauges({ store }: FeatureDeps): Promise<Gauge[]> {
  // Without the store, the other metrics must still be there, because they say that the store is gone.
  const counts = (await readRound(store).catch(() => null))?.last
  return [
    {
      name: 'connect_connections',
      help: 'Connections by status, as the last check of all connections found them.',
      values: Object.values(CONNECTION_STATES).flatMap((status) =>
        counts ? [{ labels: { status }, value: counts[status] }] : [],
      ),
    },
  ]
}
