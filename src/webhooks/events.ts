import { BUILDER_REQUESTED, type WebhookEvent } from '../platform/contract.ts'
import type { Key, Store } from '../store/store.ts'

/** An event as it was received; its data stays with the platform, which is asked for what it is about. */
export interface ReceivedEvent {
  id: string
  type: string
  /** False: a type that this app does not know. */
  known: boolean
  /** Whose event it is, when it says. */
  context: string | null
  occurredAt: string | null
  /** ISO 8601. */
  receivedAt: string
}

export interface Events {
  /** Stores an event once, by its id. Resolves to false for one that is stored already. */
  add(event: WebhookEvent & { id: string; type: string }): Promise<boolean>
  /** The latest first. */
  list(): Promise<ReceivedEvent[]>
}

const KIND = 'webhook-event'
const OWNER = 'platform'
/** More than this many are not kept; a replay of one so old would only lead to one more look at the list. */
const KEPT = 500

/** The events that the webhook has received. */
export function createEvents(store: Store, now = Date.now): Events {
  const key = (id: string): Key => ({ kind: KIND, owner: OWNER, id })

  async function list(): Promise<ReceivedEvent[]> {
    const entries = await store.list(KIND, OWNER)
    const events: ReceivedEvent[] = entries.map(({ value }) => JSON.parse(value))
    return events.sort((a, b) => (a.receivedAt < b.receivedAt ? 1 : -1))
  }

  return {
    list,
    async add({ id, type, occurredAt, data }) {
      const event: ReceivedEvent = {
        ...{ id, type, known: type === BUILDER_REQUESTED, context: data?.bxcontext ?? null },
        ...{ occurredAt: occurredAt ?? null, receivedAt: new Date(now()).toISOString() },
      }
      if (!(await store.compareAndSet(key(id), null, JSON.stringify(event)))) return false
      for (const old of (await list()).slice(KEPT)) await store.delete(key(old.id))
      return true
    },
  }
}
