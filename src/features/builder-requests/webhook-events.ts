import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import * as z from 'zod'
import type { Key, KeyValueStore } from '../../connect/store/store.ts'
import { BUILDER_REQUESTED, type WebhookEvent } from './contract.ts'

const receivedSchema = z.object({
  id: z.string(),
  type: z.string(),
  /** False: a type that this app does not know. */
  known: z.boolean(),
  /** Whose event it is, if it says so. */
  bxcontext: z.string().nullable(),
  occurredAt: z.string().nullable(),
  /** ISO 8601. */
  receivedAt: z.string(),
})
/** An event as it was received; its data stays with the platform, which is asked for what it is about. */
export type ReceivedEvent = z.infer<typeof receivedSchema>

export interface Events {
  /** Notes an event once, by its id, for 24 hours. Resolves to false for one that was received already. */
  add(event: WebhookEvent & { id: string; type: string }): Promise<boolean>
  /** The latest events of a bxcontext and those that do not say whose they are, the latest first. */
  recent(bxcontext: string): Promise<ReceivedEvent[]>
}

const OWNER = 'platform'
const REPLAY_MS = 24 * 3_600_000
const MAX_RECENT = 10

/** The events that the webhook has received. */
export function createEvents(store: KeyValueStore, now = Date.now): Events {
  const seenKey = (id: string): Key => ({ kind: 'webhook-seen', owner: id, id: '' })
  const recentKey = (bxcontext: string | null): Key => ({
    kind: 'webhook-recent',
    owner: OWNER,
    id: bxcontext ?? '',
  })

  async function forget(id: string, token: string): Promise<void> {
    for (const pause of [0, 1_000, 5_000]) {
      await setTimeout(pause, undefined, { ref: false })
      const removed = await store.compareAndSet(seenKey(id), token, null).catch(() => false)
      if (removed) return
    }
  }

  async function append(event: ReceivedEvent): Promise<void> {
    const key = recentKey(event.bxcontext)
    for (;;) {
      const value = await store.get(key)
      const next = JSON.stringify([event, ...parse(value)].slice(0, MAX_RECENT))
      if (await store.compareAndSet(key, value, next, REPLAY_MS)) return
    }
  }

  return {
    async add({ id, type, occurredAt, data }) {
      const token = randomUUID()
      try {
        if (!(await store.compareAndSet(seenKey(id), null, token, REPLAY_MS))) return false
        await append({
          id,
          type,
          known: type === BUILDER_REQUESTED,
          bxcontext: data?.bxcontext ?? null,
          occurredAt: occurredAt == null ? null : String(occurredAt),
          receivedAt: new Date(now()).toISOString(),
        })
      } catch (error) {
        // The delivery is answered with an error and comes again: it must not look like a replay then. A store that
        // did not answer may have noted it all the same.
        void forget(id, token)
        throw error
      }
      return true
    },

    async recent(bxcontext) {
      const values = await Promise.all([store.get(recentKey(bxcontext)), store.get(recentKey(null))])
      const events = values.flatMap(parse)
      return events.sort((a, b) => (a.receivedAt < b.receivedAt ? 1 : -1)).slice(0, MAX_RECENT)
    },
  }
}

/** A list that cannot be read counts as empty: it is only shown. */
function parse(value: string | null): ReceivedEvent[] {
  if (value === null) return []
  try {
    return z.array(receivedSchema).catch([]).parse(JSON.parse(value))
  } catch {
    return []
  }
}
