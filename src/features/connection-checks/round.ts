import * as z from 'zod'
import { CONNECTION_STATES, parseJson } from '../../connect/index.ts'
import { appOwner, type KeyValueStore } from '../../connect/stores.ts'

const count = z.number().int().nonnegative()
const found = z.record(z.enum(CONNECTION_STATES), count)
const countsSchema = found.and(z.object({ refreshed: count, failed: count }))
/** What a round has found and done so far, in connections. */
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
  /** In ms since 1970. */
  startedAt: z.number(),
  /** Where the round continues: the cursor of the next page, null for the first one; `done`: it is complete. */
  cursor: z.string().nullable(),
  done: z.boolean(),
  /** How many users are left to check, of those that there were when the round began. */
  left: z.number(),
  counts: countsSchema,
  /** What the last complete round found. */
  last: countsSchema.nullable(),
})
/** A walk over all connections, the latest one; processes continue it one after the other. */
export type Round = z.infer<typeof roundSchema>

/** The keys of one platform's checks, whose connections have this kind. */
export const keyOf = (kind: 'connection-round' | 'connection-round-lease', recordKind: string) => ({
  kind,
  owner: appOwner('connection-checks'),
  id: recordKind,
})

/** Resolves to null if there was no round yet. Throws `StoreUnavailableError`. */
export async function readRound(store: KeyValueStore, recordKind: string): Promise<Round | null> {
  const value = await store.get(keyOf('connection-round', recordKind))
  return value === null ? null : (roundSchema.safeParse(parseJson(value)).data ?? null)
}

/** Throws `StoreUnavailableError`. */
export const writeRound = (store: KeyValueStore, recordKind: string, round: Round): Promise<void> =>
  store.set(keyOf('connection-round', recordKind), JSON.stringify(round))
