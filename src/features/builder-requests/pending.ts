import { setTimeout } from 'node:timers/promises'
import type { ConnectionRef, TokenSource } from '../../connect/index.ts'
import type { Key, KeyValueStore } from '../../connect/stores.ts'
import type { BuilderRequests } from './builder-requests.ts'
import type { BuilderRequest } from './contract.ts'

export interface Pending {
  /** Fetches the pending builder requests of a connection. Throws what `BuilderRequests.list` throws. */
  fetch(ref: ConnectionRef): Promise<BuilderRequest[]>
  /**
   * Fetches in the background after an event, at most every 500 ms per connection. Failures
   * are ignored: the page fetches the list when it is opened.
   */
  fetchSoon(ref: ConnectionRef): void
  /** Like `fetchSoon`, for the most recently fetched connections of this process: for events without a bxcontext. */
  fetchRecentSoon(): void
  /** The ids found by the latest fetch, as text to compare; null before the first fetch. */
  snapshot(ref: ConnectionRef): Promise<string | null>
  /** The number of requests found by the latest fetch. */
  count(ref: ConnectionRef): Promise<number>
}

export interface PendingOptions {
  store: KeyValueStore
  builderRequests: Pick<BuilderRequests, 'list'>
  source(ref: ConnectionRef): TokenSource
}

/** Minimum interval between background fetches for a connection, in ms. */
const MIN_INTERVAL_MS = 500
/** Number of connections to fetch for an event without a bxcontext. */
const MAX_RECENT = 50

const key = ({ userId, bxcontext }: ConnectionRef): Key => ({
  kind: 'builder-requests',
  owner: userId,
  id: bxcontext,
})
const connectionName = ({ userId, bxcontext }: ConnectionRef) => JSON.stringify([userId, bxcontext])

/** Fetches pending builder requests and stores a snapshot of their ids, so that open pages detect changes. */
export function createPending(options: PendingOptions): Pending {
  const { store, builderRequests } = options
  const snapshot: Pending['snapshot'] = (ref) => store.get(key(ref))
  /** Connections with a background fetch; true: another event has arrived since it started. */
  const background = new Map<string, boolean>()
  const recent = new Map<string, ConnectionRef>()

  async function fetchList(ref: ConnectionRef): Promise<BuilderRequest[]> {
    const requests = await builderRequests.list(options.source(ref))
    const ids = JSON.stringify(requests.map((request) => request.integrationConnectionId))
    // The list is what the caller needs.
    if (ids !== (await snapshot(ref).catch(() => null))) await store.set(key(ref), ids).catch(() => {})
    return requests
  }

  async function fetchUntilQuiet(name: string, ref: ConnectionRef): Promise<void> {
    do {
      background.set(name, false)
      await fetchList(ref).catch(() => {})
      await setTimeout(MIN_INTERVAL_MS, undefined, { ref: false })
    } while (background.get(name))
    background.delete(name)
  }

  function fetchSoon(ref: ConnectionRef): void {
    const name = connectionName(ref)
    if (background.has(name)) background.set(name, true)
    else void fetchUntilQuiet(name, ref)
  }

  return {
    snapshot,
    fetchSoon,

    async fetch(ref) {
      const name = connectionName(ref)
      recent.delete(name)
      recent.set(name, ref)
      const [oldest] = recent.keys()
      if (recent.size > MAX_RECENT && oldest !== undefined) recent.delete(oldest)
      return fetchList(ref)
    },

    fetchRecentSoon() {
      for (const ref of recent.values()) fetchSoon(ref)
    },

    async count(ref) {
      const latest = await snapshot(ref)
      try {
        const ids: unknown = JSON.parse(latest ?? '[]')
        return Array.isArray(ids) ? ids.length : 0
      } catch {
        return 0
      }
    },
  }
}
