import * as z from 'zod'
import { CONNECTION_STATES, parseJson } from '../../connect/index.ts'
import { appOwner, type KeyValueStore } from '../../connect/stores.ts'

const count = z.number().int().nonnegative()
const found = z.record(z.enum(CONNECTION_STATES), count)
const countsSchema = found.and(z.object({ refreshed: count, failed: count }))
/** The results of a round so far, as numbers of connections. */
export type Counts = z.infer<typeof countsSchema>
export const NO_COUNTS: Counts = {
  active: 0,
  degraded: 0,
  needs_consent: 0,
  misconfigured: 0,
  revoked: 0,
  unreadable: 0,
  refreshed: 0,
  failed: 0,
}

const roundSchema = z.object({
  /** When the round began, in ms since 1970. */
  startedAt: z.number(),
  /** The cursor of the page with which the round continues; null for the first page. `done`: the round is complete. */
  cursor: z.string().nullable(),
  done: z.boolean(),
  /** How many of the users that were counted at the start are still to be checked. */
  left: z.number(),
  counts: countsSchema,
  /** The results of the last complete round. */
  last: countsSchema.nullable(),
})
/** The latest round over all connections. If a process cannot finish it, another process continues it. */
export type Round = z.infer<typeof roundSchema>

const KEY = { kind: 'connection-round', owner: appOwner('connection-checks'), id: '' }
/** The key of the lease that a process holds while it does a round. */
export const LEASE_KEY = { ...KEY, kind: 'connection-round-lease' }

/** Resolves to null if there has been no round yet. Throws `StoreUnavailableError`. */
export async function readRound(store: KeyValueStore): Promise<Round | null> {
  const value = await store.get(KEY)
  return value === null ? null : (roundSchema.safeParse(parseJson(value)).data ?? null)
}

/** Throws `StoreUnavailableError`. */
export const writeRound = (store: KeyValueStore, round: Round): Promise<void> =>
  store.set(KEY, JSON.stringify(round))
