import type { BuilderRequest } from '../../connect/platform/contract.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'
import type { Key, Store } from '../../connect/store/store.ts'
import type { BuilderRequests } from './builder-requests.ts'

export interface Pending {
  /** The pending builder requests of a connection, from the platform. Throws what the call throws. */
  fetch(userId: string, context: string): Promise<BuilderRequest[]>
  /**
   * Fetches in the background, because an event arrived: at most once in half a second for a connection, however many
   * events arrive, and within the rate limit. Failures are left to the page, which fetches itself when it is opened.
   */
  fetchSoon(userId: string, context: string): void
  /** The same for the connections whose requests this process fetched last: an event does not say whose it is. */
  fetchRecentSoon(): void
  /** What the latest fetch found, as a text that changes when the requests do; null before the first. */
  known(userId: string, context: string): Promise<string | null>
  /** How many the latest fetch found. */
  count(userId: string, context: string): Promise<number>
}

export interface PendingOptions {
  store: Store
  builderRequests: Pick<BuilderRequests, 'list'>
  source(userId: string, context: string): TokenSource
  /** The same, which waits for the rate limit. */
  pacedSource(userId: string, context: string): TokenSource
}

/** The shortest time between two fetches in the background for one connection, in ms. */
const APART_MS = 500
/** Connections that an event may be about which does not say whose it is. */
const MAX_RECENT = 50

const key = (userId: string, context: string): Key => ({
  kind: 'builder-requests',
  owner: userId,
  id: context,
})

/** The builder requests that wait for a connection, and a note of their ids, by which pages see that some arrived. */
export function createPending(options: PendingOptions): Pending {
  const { store, builderRequests, source, pacedSource } = options
  const known: Pending['known'] = (userId, context) => store.get(key(userId, context))
  /** Connections with a fetch in the background; true: events arrived since it started. */
  const background = new Map<string, boolean>()
  const recent = new Map<string, [userId: string, context: string]>()

  async function fetchBy(from: TokenSource, userId: string, context: string): Promise<BuilderRequest[]> {
    const requests = await builderRequests.list(from)
    const note = JSON.stringify(requests.map((request) => String(request.integrationConnectionId)))
    if (note !== (await known(userId, context))) await store.set(key(userId, context), note)
    return requests
  }

  async function fetchUntilQuiet(name: string, userId: string, context: string): Promise<void> {
    do {
      background.set(name, false)
      await fetchBy(pacedSource(userId, context), userId, context).catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, APART_MS).unref())
    } while (background.get(name))
    background.delete(name)
  }

  function fetchSoon(userId: string, context: string): void {
    const name = JSON.stringify([userId, context])
    if (background.has(name)) background.set(name, true)
    else void fetchUntilQuiet(name, userId, context)
  }

  return {
    known,
    fetchSoon,

    async fetch(userId, context) {
      const name = JSON.stringify([userId, context])
      recent.delete(name)
      recent.set(name, [userId, context])
      const [oldest] = recent.keys()
      if (recent.size > MAX_RECENT && oldest !== undefined) recent.delete(oldest)
      return fetchBy(source(userId, context), userId, context)
    },

    fetchRecentSoon() {
      for (const [userId, context] of recent.values()) fetchSoon(userId, context)
    },

    async count(userId, context) {
      const note = await known(userId, context)
      try {
        const ids: unknown = JSON.parse(note ?? '[]')
        return Array.isArray(ids) ? ids.length : 0
      } catch {
        return 0
      }
    },
  }
}
