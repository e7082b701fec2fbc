import * as z from 'zod'
import { parseJson } from '../../connect/index.ts'
import { appOwner, type Key, type KeyValueStore } from '../../connect/stores.ts'

const count = z.number().int().nonnegative()
const countsSchema = z.object({
  active: count,
  revoked: count,
  unreadable: count,
  refreshed: count,
  failed: count,
})
/** What a round has found and done so far, in connections. */
export type Counts = z.infer<typeof countsSchema>

const stateSchema = z.object({
  /** When the round began, and when the next one begins, in ms since 1970. */
  startedAt: z.number(),
  nextAt: z.number(),
  /** Where the round continues: the cursor of the next page, null for the first one; `done`: it is complete. */
  cursor: z.string().nullable(),
  done: z.boolean(),
  /** How many users there were when the round began, and how many were checked. */
  users: count,
  checkedUsers: count,
  counts: countsSchema,
  /** What the last complete round found. */
  last: countsSchema.nullable(),
})
/** The state of the sweep. */
export type Round = z.infer<typeof stateSchema>

export const NO_COUNTS: Counts = { active: 0, revoked: 0, unreadable: 0, refreshed: 0, failed: 0 }

/** The connections that a sweep checks. */
interface Range {
  store: KeyValueStore
  /** The kind of their records, which names the platform. */
  recordKind: string
}

export const keyOf = (kind: string, recordKind: string): Key => ({
  kind,
  owner: appOwner('sweep'),
  id: recordKind,
})
const stateKey = (recordKind: string) => keyOf('connection-sweep', recordKind)

/** Resolves to null if there was no round yet. Throws `StoreUnavailableError`. */
export async function readRound({ store, recordKind }: Range): Promise<Round | null> {
  const value = await store.get(stateKey(recordKind))
  return value === null ? null : (stateSchema.safeParse(parseJson(value)).data ?? null)
}

/** Throws `StoreUnavailableError`. */
export const writeRound = ({ store, recordKind }: Range, state: Round): Promise<void> =>
  store.set(stateKey(recordKind), JSON.stringify(state))

/** How many connections the last complete round found; null before the first one. Throws `StoreUnavailableError`. */
export async function lastCounts(range: Range): Promise<Counts | null> {
  return (await readRound(range))?.last ?? null
}
