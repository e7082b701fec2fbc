import { setTimeout } from 'node:timers/promises'
import type { ConnectionRef, KeyValueStore } from '../../connect/index.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'
import type { Key } from '../../connect/store/store.ts'
import type { BuilderRequests } from './builder-requests.ts'
import type { BuilderRequest } from './contract.ts'

export interface Pending {
  /** The pending builder requests of a connection, from the platform. Throws what the call throws. */
  fetch(ref: ConnectionRef): Promise<BuilderRequest[]>
  /**
   * Fetches in the background, because an event arrived: at most once in half a second for a connection, however many
   * events arrive, and within the rate limit. Failures are left to the page, which fetches itself when it is opened.
   */
  fetchSoon(ref: ConnectionRef): void
  /** The same for the connections whose requests this process fetched last: an event does not say whose it is. */
  fetchRecentSoon(): void
  /** The ids that the latest fetch found, as a text to compare; null before the first. */
  noted(ref: ConnectionRef): Promise<string | null>
  /** How many the latest fetch found. */
  count(ref: ConnectionRef): Promise<number>
}

export interface PendingOptions {
  store: KeyValueStore
  builderRequests: Pick<BuilderRequests, 'list'>
  source(ref: ConnectionRef): TokenSource
  /** The same, which waits for the rate limit. */
  pacedSource(ref: ConnectionRef): TokenSource
}

/** The shortest time between two fetches in the background for one connection, in ms. */
const MIN_INTERVAL_MS = 500
/** How many connections are fetched for an event that does not say whose it is. */
const MAX_RECENT = 50

const key = ({ userId, bxcontext }: ConnectionRef): Key => ({
  kind: 'builder-requests',
  owner: userId,
  id: bxcontext,
})
const nameOf = ({ userId, bxcontext }: ConnectionRef) => JSON.stringify([userId, bxcontext])

/** The pending builder requests of connections, and a note of their ids, so that open pages see new ones. */
export function createPending(options: PendingOptions): Pending {
  const { store, builderRequests } = options
  const noted: Pending['noted'] = (ref) => store.get(key(ref))
  /** Connections with a fetch in the background; true: events arrived since it started. */
  const background = new Map<string, boolean>()
  const recent = new Map<string, ConnectionRef>()

  async function fetchBy(source: TokenSource, ref: ConnectionRef): Promise<BuilderRequest[]> {
    const requests = await builderRequests.list(source)
    const note = JSON.stringify(requests.map((request) => request.integrationConnectionId))
    if (note !== (await noted(ref))) await store.set(key(ref), note)
    return requests
  }

  async function fetchUntilQuiet(name: string, ref: ConnectionRef): Promise<void> {
    do {
      background.set(name, false)
      await fetchBy(options.pacedSource(ref), ref).catch(() => {})
      await setTimeout(MIN_INTERVAL_MS, undefined, { ref: false })
    } while (background.get(name))
    background.delete(name)
  }

  function fetchSoon(ref: ConnectionRef): void {
    const name = nameOf(ref)
    if (background.has(name)) background.set(name, true)
    else void fetchUntilQuiet(name, ref)
  }

  return {
    noted,
    fetchSoon,

    async fetch(ref) {
      const name = nameOf(ref)
      recent.delete(name)
      recent.set(name, ref)
      const [oldest] = recent.keys()
      if (recent.size > MAX_RECENT && oldest !== undefined) recent.delete(oldest)
      return fetchBy(options.source(ref), ref)
    },

    fetchRecentSoon() {
      for (const ref of recent.values()) fetchSoon(ref)
    },

    async count(ref) {
      const note = await noted(ref)
      try {
        const ids: unknown = JSON.parse(note ?? '[]')
        return Array.isArray(ids) ? ids.length : 0
      } catch {
        return 0
      }
    },
  }
}
