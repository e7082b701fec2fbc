import { createHash, randomUUID } from 'node:crypto'
import * as z from 'zod'
import { parseJson } from '../../../connect/index.ts'
import { appOwner, type Key, type KeyValueStore, update } from '../../../connect/stores.ts'
import { BUILDER_REQUESTED, type WebhookEvent } from './contract.ts'

const receivedSchema = z.object({
  id: z.string(),
  type: z.string(),
  /** The business that the event is about, if given. */
  bxcontext: z.string().nullable(),
  /** Whether this app supports the event type. */
  known: z.boolean(),
  /** ISO 8601. */
  receivedAt: z.string(),
})
/** The stored list. An invalid list counts as empty, because it is only displayed. */
const listSchema = z.array(receivedSchema).catch([])
const parse = (value: string | null) => listSchema.parse(parseJson(value ?? ''))
/** A received event, without its data: the app fetches current data from the platform instead. */
type ReceivedEvent = z.infer<typeof receivedSchema>

export type Events = ReturnType<typeof createEvents>

/** How long events are kept to recognise repeated deliveries, in ms. Platforms repeat a delivery for days. */
const KEPT_MS = 7 * 24 * 3_600_000
/** How many events are kept for each bxcontext. */
const MAX_RECENT = 10

const seenKey = (id: string): Key => {
  // The key is a digest, because an id can be any text, but a key must be well-formed.
  const digest = createHash('sha256').update(id).digest('base64url')
  return { kind: 'webhook-seen', owner: appOwner(digest), id: '' }
}
const recentKey = (bxcontext: string | null): Key => ({
  kind: 'webhook-recent',
  owner: appOwner('platform'),
  id: bxcontext ?? '',
})

/** Stores the events received by the webhook. Its methods throw `StoreUnavailableError`. */
export function createEvents(store: KeyValueStore) {
  return {
    /** Stores an event. Resolves to false if it was received in the last seven days. */
    async add({ id, type, data }: Pick<WebhookEvent, 'type' | 'data'> & { id: string }): Promise<boolean> {
      if ((await store.get(seenKey(id))) !== null) return false
      const event: ReceivedEvent = {
        id,
        type: type ?? 'unknown',
        bxcontext: data?.bxcontext ?? null,
        known: type === BUILDER_REQUESTED,
        receivedAt: new Date().toISOString(),
      }
      const withEvent = (value: string | null) => {
        const others = parse(value).filter((other) => other.id !== id)
        return JSON.stringify([event, ...others].slice(0, MAX_RECENT))
      }
      // Writes the list first. If that fails, the event does not count as received, and the next delivery adds it. The list
      // never contains an event twice.
      await update(store, recentKey(event.bxcontext), withEvent, KEPT_MS)
      return store.compareAndSet(seenKey(id), null, randomUUID(), KEPT_MS)
    },

    /** Returns the latest ten events of a bxcontext and the latest ten without one, newest first. */
    async recent(bxcontext: string): Promise<ReceivedEvent[]> {
      const values = await Promise.all([store.get(recentKey(bxcontext)), store.get(recentKey(null))])
      return values.flatMap(parse).sort((a, b) => (a.receivedAt < b.receivedAt ? 1 : -1))
    },
  }
}
