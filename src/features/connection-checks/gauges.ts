import { CONNECTION_STATES } from '../../connect/index.ts'
import type { FeatureDeps, Gauge } from '../../web/feature-api.ts'
import { readRound } from './round.ts'

/** The connections that the last complete round found. Before the first round, or without the store, there are no values. */
export default async function connectionGauges({ store }: FeatureDeps): Promise<Gauge[]> {
  // The other metrics must still work without the store, because they report that it is unavailable.
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
