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
 * Fetches the pending builder requests, and stores their ids together with those of the events received before, so that each
 * process can detect changes.
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
    /** Fetches the pending builder requests of a connection. Throws the errors of `BuilderRequests.list`. */
    async fetch(ref: ConnectionRef): Promise<BuilderRequest[]> {
      const at = Date.now()
      // The events are read first, so that an event that arrives in the meantime counts as later than the list.
      const received = await events.recent(ref.bxcontext).catch(() => [])
      const found = await builderRequests.list(vault.tokenSource(ref))
      const requests = found.map(({ integrationConnectionId }) => integrationConnectionId)
      // Returns the list even if it cannot be stored.
      await save(ref, { at, requests, events: received.map(({ id }) => id) }).catch(() => {})
      return found
    },

    /** Fetches, unless a fetch began in the last `ms`. Failed fetches count too, so that an outage doesn't cause constant calls. */
    async fetchIfOlder(ref: ConnectionRef, ms: number): Promise<void> {
      const { received: _, ...latest } = await load(ref)
      if (Date.now() - latest.at <= ms) return
      await save(ref, { ...latest, at: Date.now() })
      await pending.fetch(ref)
    },

    /**
     * Returns the stored ids of a connection's requests and events, without asking the platform. Open pages reload when these
     * ids change.
     */
    async snapshot(ref: ConnectionRef): Promise<string[][]> {
      const { requests, received } = await load(ref)
      return [requests, received.map(({ id }) => id)]
    },

    /** Counts the requests of the latest fetch and those announced by events since then, without asking the platform. */
    async count(ref: ConnectionRef): Promise<number> {
      const { requests, events: before, received } = await load(ref)
      // An event without a bxcontext may be about another business.
      const announced = received.filter(({ known, bxcontext }) => known && bxcontext !== null)
      return requests.length + announced.filter(({ id }) => !before.includes(id)).length
    },
  }
  return pending
}
