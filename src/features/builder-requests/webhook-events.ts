import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { parseJson } from '../../connect/index.ts'
import { appOwner, type Key, type KeyValueStore, update } from '../../connect/stores.ts'
import { BUILDER_REQUESTED, type WebhookEvent } from './contract.ts'

const receivedSchema = z.object({
  id: z.string(),
  type: z.string(),
  /** Whether this app supports the event type. */
  known: z.boolean(),
  /** The business that the event is about, if given. */
  bxcontext: z.string().nullable(),
  occurredAt: z.string().nullable(),
  /** ISO 8601. */
  receivedAt: z.string(),
})
/** A received event, without its data: the app fetches current data from the platform instead. */
export type ReceivedEvent = z.infer<typeof receivedSchema>

export type Events = ReturnType<typeof createEvents>

const OWNER = appOwner('platform')
/** How long event ids are kept to detect replays, in ms. */
const REPLAY_MS = 24 * 3_600_000
/** How many events are kept of a bxcontext. */
const MAX_RECENT = 10

/** Stores the events received by the webhook. */
export function createEvents(store: KeyValueStore) {
  const seenKey = (id: string): Key => ({ kind: 'webhook-seen', owner: appOwner(id), id: '' })
  const recentKey = (bxcontext: string | null): Key => ({
    kind: 'webhook-recent',
    owner: OWNER,
    id: bxcontext ?? '',
  })

  async function append(event: ReceivedEvent): Promise<void> {
    const key = recentKey(event.bxcontext)
    const change = (value: string | null) => {
      const others = parse(value).filter(({ id }) => id !== event.id)
      return JSON.stringify([event, ...others].slice(0, MAX_RECENT))
    }
    await update(store, key, change, REPLAY_MS)
  }

  return {
    /** Stores an event, unless its id was received in the last 24 hours; then resolves to false. Throws `StoreUnavailableError`. */
    async add({ id, type, occurredAt, data }: WebhookEvent & { id: string; type: string }): Promise<boolean> {
      const key = seenKey(id)
      if ((await store.get(key)) !== null) return false
      // Before it counts as received, so that the next delivery of what fails is new; appending twice keeps it once.
      await append({
        id,
        type,
        known: type === BUILDER_REQUESTED,
        bxcontext: data?.bxcontext ?? null,
        occurredAt: occurredAt == null ? null : String(occurredAt),
        receivedAt: new Date().toISOString(),
      })
      return store.compareAndSet(key, null, randomUUID(), REPLAY_MS)
    },

    /** Returns the latest ten events of a bxcontext and the latest ten without one, newest first. Throws `StoreUnavailableError`. */
    async recent(bxcontext: string): Promise<ReceivedEvent[]> {
      const values = await Promise.all([store.get(recentKey(bxcontext)), store.get(recentKey(null))])
      return values.flatMap(parse).sort((a, b) => (a.receivedAt < b.receivedAt ? 1 : -1))
    },
  }
}

/** Parses a stored list; an invalid one counts as empty, since the list is only displayed. */
const parse = (value: string | null): ReceivedEvent[] =>
  z
    .array(receivedSchema)
    .catch([])
    .parse(parseJson(value ?? ''))
