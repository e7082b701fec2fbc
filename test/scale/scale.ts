/**
 * `npm run scale [-- PART…]`: how the app behaves with many connections, many callers and over a day. The first two parts
 * need redis-server and redis-cli: `connections` (10,000 and 1,000,000 of them; some 8 minutes and 4 GB of memory), `cluster` (a Redis Cluster
 * that loses a master), `day` (24 hours in minutes).
 */
import { cluster } from './cluster.ts'
import { connections } from './connections.ts'
import { day } from './day.ts'

const parts: Record<string, () => Promise<void>> = { connections, cluster, day }
const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !parts[name])
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}.`)
  process.exit(1)
}
for (const [name, part] of Object.entries(parts))
  if (chosen.length === 0 || chosen.includes(name)) await part()
process.exit(0)
