/**
 * Where the core stores connections: the store interface, its two adapters, and helpers. In the starter, the file
 * `test/support/store-contract.ts` contains the tests that every adapter must pass.
 *
 * @example
 * // An adapter of your own, tested with `describeStoreContract('PostgreSQL', open)` of `store-contract.ts`.
 * declare function openPostgres(url: string): KeyValueStore
 */
import { retry } from './retry.ts'
import type { RedisOptions, RedisStore } from './store/redis.ts'
import type { KeyValueStore } from './store/store.ts'

export { acquireLease, type Lease } from './store/lease.ts'
export type { RedisStore } from './store/redis.ts'
export { keyName } from './store/redis-keys.ts'
export { isSentinelUrl } from './store/redis-url.ts'
export { openSqlite } from './store/sqlite.ts'
export {
  allOwners,
  appOwner,
  type Entry,
  type Group,
  type GroupsPage,
  type Key,
  type KeyValueStore,
  keyText,
} from './store/store.ts'
export { update } from './store/update.ts'

/**
 * Waits until the store answers, because Redis connects in the background. Throws `StoreUnavailableError` if that takes longer than
 * two seconds.
 */
export const ready = (store: KeyValueStore): Promise<void> =>
  retry(() => store.ping(), { timeoutMs: 2_000, pauseMs: 100, maxPauseMs: 100 })

/**
 * Opens the store on Redis: a single server, a cluster, or a master behind Sentinels. Only this function loads the Redis client, so
 * an app with SQLite never loads it. See `RedisOptions`.
 */
export async function openRedis(options: RedisOptions): Promise<RedisStore> {
  const redis = await import('./store/redis.ts')
  return redis.openRedis(options)
}
