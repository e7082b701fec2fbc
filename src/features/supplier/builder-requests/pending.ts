import * as z from 'zod'
import { type ConnectionRef, parseJson, type Vault } from '../../../connect/index.ts'
import type { Key, KeyValueStore } from '../../../connect/stores.ts'
import type { BuilderRequests } from './builder-requests.ts'
import type { BuilderRequest } from './contract.ts'
import type { Events } from './webhook-events.ts'

export type Pending = ReturnType<typeof createPending>

interface PendingOptions {
  store: KeyValueStore
  builderRequests: BuilderRequests
  events: Events
  vault: Vault
}

/** The latest fetch: when it began, in ms since 1970, the ids of the requests, and the ids of the events received before it. */
const latestSchema = z
  .object({ at: z.number(), requests: z.array(z.string()), events: z.array(z.string()) })
  .catch({ at: 0, requests: [], events: [] })

const key = ({ userId, bxcontext }: ConnectionRef): Key => ({
  kind: 'builder-requests',
  owner: userId,
  id: bxcontext,
})

/**
 * Fetches the pending builder requests, and stores what it found together with the events that had arrived before. So each
 * process can tell whether there is news.
 */
export function createPending({ store, builderRequests, events, vault }: PendingOptions) {
  /** The latest fetch, and the events received so far. */
  async function load(ref: ConnectionRef) {
    const [text, received] = await Promise.all([store.get(key(ref)), events.recent(ref.bxcontext)])
    return { ...latestSchema.parse(parseJson(text ?? '')), received }
  }

  const save = (ref: ConnectionRef, latest: z.infer<typeof latestSchema>) =>
    store.set(key(ref), JSON.stringify(latest))

  const pending = {
    /** Fetches the pending builder requests of a connection. Throws what `BuilderRequests.list` throws. */
    async fetch(ref: ConnectionRef): Promise<BuilderRequest[]> {
      const at = Date.now()
      // The events are read first, so that an event that arrives in the meantime counts as later than the list.
      const received = await events.recent(ref.bxcontext).catch(() => [])
      const found = await builderRequests.list(vault.tokenSource(ref))
      const requests = found.map(({ integrationConnectionId }) => integrationConnectionId)
      // The caller needs the list, even if it cannot be stored.
      await save(ref, { at, requests, events: received.map(({ id }) => id) }).catch(() => {})
      return found
    },

    /** Fetches, unless a fetch began in the last `ms`. A failed fetch counts too: in an outage, the app must not ask every second. */
    async fetchIfOlder(ref: ConnectionRef, ms: number): Promise<void> {
      const { received: _, ...latest } = await load(ref)
      if (Date.now() - latest.at <= ms) return
      await save(ref, { ...latest, at: Date.now() })
      await pending.fetch(ref)
    },

    /**
     * Returns what is known of a connection's requests without asking the platform. An open page is fetched again if this has
     * changed.
     */
    async snapshot(ref: ConnectionRef): Promise<string[][]> {
      const { requests, received } = await load(ref)
      return [requests, received.map(({ id }) => id)]
    },

    /** Counts the requests that the latest fetch found, and those that events have announced since. Does not ask the platform. */
    async count(ref: ConnectionRef): Promise<number> {
      const { requests, events: before, received } = await load(ref)
      // An event that names no business may be about another one.
      const announced = received.filter(({ known, bxcontext }) => known && bxcontext !== null)
      return requests.length + announced.filter(({ id }) => !before.includes(id)).length
    },
  }
  return pending
}
