import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { StoreUnavailableError } from '../../connect/errors.ts'
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

export interface Events {
  /** Stores an event, unless its id was received in the last 24 hours; then resolves to false. Throws `StoreUnavailableError`. */
  add(event: WebhookEvent & { id: string; type: string }): Promise<boolean>
  /** Returns the latest ten events of a bxcontext and the latest ten without one, newest first. Throws `StoreUnavailableError`. */
  recent(bxcontext: string): Promise<ReceivedEvent[]>
}

const OWNER = appOwner('platform')
/** How long event ids are kept to detect replays, in ms. */
const REPLAY_MS = 24 * 3_600_000
/** How many events are kept of a bxcontext. */
const MAX_RECENT = 10
/** How long an event that is being stored is claimed, in ms: what fails then must not make the next delivery a replay. */
const CLAIM_MS = 15_000
/** What is kept for the id of a stored event. */
const STORED = 'stored'

/** Stores the events received by the webhook. */
export function createEvents(store: KeyValueStore, now = Date.now): Events {
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
    async add({ id, type, occurredAt, data }) {
      const key = seenKey(id)
      const token = randomUUID()
      if (!(await store.compareAndSet(key, null, token, CLAIM_MS))) {
        // The platform repeats a delivery that fails.
        if ((await store.get(key)) !== STORED) throw new StoreUnavailableError('the event is being stored')
        return false
      }
      try {
        await append({
          id,
          type,
          known: type === BUILDER_REQUESTED,
          bxcontext: data?.bxcontext ?? null,
          occurredAt: occurredAt == null ? null : String(occurredAt),
          receivedAt: new Date(now()).toISOString(),
        })
        await store.set(key, STORED, REPLAY_MS)
      } catch (error) {
        // For the next delivery; otherwise, the claim expires soon.
        await update(store, key, (value) => (value === token ? null : value)).catch(() => {})
        throw error
      }
      return true
    },

    async recent(bxcontext) {
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
