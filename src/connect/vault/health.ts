import * as z from 'zod'
import type { OutageKind } from '../platform/errors.ts'
import { parseJson } from '../platform/json.ts'
import type { CallOutcome } from '../platform/token-source.ts'
import type { Key, KeyValueStore } from '../store/store.ts'
import { claim, update } from '../store/update.ts'
import { type ConnectionRef, refKey, refName } from './connection.ts'

/** Why the last refresh or API call failed; null after a success. */
export type Problem = OutageKind | 'misconfigured'

const healthSchema = z.object({
  problem: z
    .enum(['no_answer', 'error', 'busy', 'unreadable', 'paused', 'rejected', 'refused', 'misconfigured'])
    .nullable(),
  /** Consecutive failed refreshes. */
  refreshFailures: z.number(),
  /** Calls that the API answered 403, each with the missing scope, or null if unknown. */
  forbidden: z.array(z.object({ call: z.string(), scope: z.string().nullable() })),
  /** How often the API answered 401 to an access token that cannot be refreshed. */
  rejected: z.object({ times: z.number() }).nullable(),
  /**
   * Since when the token endpoint refuses to refresh this grant, and since when although its access token has expired, in
   * ms since 1970; whether that counts as the end of access (refusal.ts).
   */
  refused: z
    .object({
      grantId: z.string(),
      since: z.number(),
      expiredSince: z.number().nullable(),
      confirmed: z.boolean(),
    })
    .nullable(),
})
export type Health = z.infer<typeof healthSchema>

/**
 * The health of connections, stored beside the connections: it holds no secrets, and losing it does no harm. Every method
 * throws `StoreUnavailableError`.
 */
export interface HealthRecords {
  read(ref: ConnectionRef): Promise<Health>
  /** Records how an API call ended. Resolves to whether it showed that access had not ended after all. */
  noteCall(ref: ConnectionRef, outcome: CallOutcome): Promise<boolean>
  noteRefreshProblem(ref: ConnectionRef, problem: Problem): Promise<void>
  /** Counts a failed refresh. Resolves to the number of consecutive failures. */
  refreshFailed(ref: ConnectionRef): Promise<number>
  /** Resolves to whether the refresh before it had failed. */
  refreshSucceeded(ref: ConnectionRef): Promise<boolean>
  /**
   * Counts a 401 to a token that cannot be refreshed, at most one a minute. Resolves to their number since the last
   * successful call.
   */
  tokenRejected(ref: ConnectionRef): Promise<number>
  /**
   * Records that the platform refused to refresh this grant, and whether its access token has `expired`. It counts as the
   * end of access if another one was recorded for the expired token at least 30 s ago.
   */
  noteRefusal(ref: ConnectionRef, grantId: string, expired: boolean): Promise<RefusalChange | null>
  /** Records that the API rejects the access token as well. Null if no refusal was recorded since the last success. */
  confirmRefusal(ref: ConnectionRef, grantId: string): Promise<RefusalChange | null>
  clear(ref: ConnectionRef): Promise<void>
}

export type Refusal = NonNullable<Health['refused']>
/** `isNew`: it did not count as the end of access before, and does now. */
export type RefusalChange = Refusal & { isNew: boolean }

const HEALTHY: Health = { problem: null, refreshFailures: 0, forbidden: [], rejected: null, refused: null }
/** How long the health of an unused connection is stored, in ms. */
const TTL_MS = 30 * 24 * 3_600_000
const REJECTION_INTERVAL_MS = 60_000
const MAX_FORBIDDEN = 20
/** How far apart two refusals without the API's confirmation must be, in ms. */
const REFUSAL_INTERVAL_MS = 30_000
/** How often successful calls check whether another process recorded a problem, in ms. */
const CHECK_INTERVAL_MS = 250
/** For how many connections the last check is remembered. */
const MAX_CHECKS = 10_000

interface HealthState {
  store: KeyValueStore
  keyOf(ref: ConnectionRef): Key
  now: () => number
  /** When this process last read or wrote a record, and whether there was a problem then. */
  checks: Map<string, { time: number; problem: boolean }>
}

/** `platform`: its name. */
export function createHealthRecords(
  store: KeyValueStore,
  platform: string,
  now: () => number,
): HealthRecords {
  const keyOf = (ref: ConnectionRef) => refKey(platform, 'health', ref)
  // They expire: the store measures these intervals, as the clocks of two machines may differ.
  const rejectionKey = (ref: ConnectionRef) => refKey(platform, 'rejected-recently', ref)
  const refusalKey = (ref: ConnectionRef) => refKey(platform, 'refused-recently', ref)
  const state: HealthState = { store, keyOf, now, checks: new Map() }
  return {
    read: async (ref) => parse(await store.get(keyOf(ref))),
    noteCall: (ref, outcome) => noteCall(state, ref, outcome),

    async noteRefreshProblem(ref, problem) {
      await change(state, ref, (health) => ({ ...health, problem }))
    },

    async refreshFailed(ref) {
      const increment = (health: Health) => ({ ...health, refreshFailures: health.refreshFailures + 1 })
      return (await change(state, ref, increment)).refreshFailures
    },

    async refreshSucceeded(ref) {
      let hadFailed = false
      await change(state, ref, (health) => {
        hadFailed = health.refreshFailures > 0
        return { ...health, problem: null, refreshFailures: 0, rejected: null, refused: null }
      })
      return hadFailed
    },

    async tokenRejected(ref) {
      const counts = await claim(store, rejectionKey(ref), '1', REJECTION_INTERVAL_MS)
      const { rejected } = await change(state, ref, (health) => {
        const times = health.rejected?.times ?? 0
        return counts ? { ...health, rejected: { times: times + 1 } } : health
      })
      return rejected?.times ?? 0
    },

    async noteRefusal(ref, grantId, expired) {
      // The caller holds the refresh lock, so there is no other refusal at the same time.
      const { refused } = parse(await store.get(keyOf(ref)))
      const isFirst = refused?.grantId !== grantId || refused.expiredSince === null
      if (expired && isFirst) await store.set(refusalKey(ref), '1', REFUSAL_INTERVAL_MS)
      // A store that loses or evicts this key counts the second refusal early, but never the first.
      const isEarly = (await store.get(refusalKey(ref))) !== null
      return changeRefusal(state, ref, grantId, (earlier) => ({
        grantId,
        since: earlier?.since ?? now(),
        expiredSince: expired ? (earlier?.expiredSince ?? now()) : null,
        confirmed:
          earlier?.confirmed === true || (expired && !isEarly && typeof earlier?.expiredSince === 'number'),
      }))
    },

    confirmRefusal: (ref, grantId) =>
      changeRefusal(state, ref, grantId, (earlier) => earlier && { ...earlier, confirmed: true }),

    async clear(ref) {
      state.checks.delete(refName(ref))
      await store.delete(keyOf(ref))
    },
  }
}

/** Changes the record of a connection, and resolves to it. */
async function change(
  { store, keyOf, checks }: HealthState,
  ref: ConnectionRef,
  next: (health: Health) => Health,
): Promise<Health> {
  const toText = (value: string | null) => {
    const health = next(parse(value))
    return isHealthy(health) ? null : JSON.stringify(health)
  }
  const text = await update(store, keyOf(ref), toText, TTL_MS)
  if (checks.size >= MAX_CHECKS) checks.clear()
  checks.set(refName(ref), { time: performance.now(), problem: text !== null })
  return parse(text)
}

/** Changes the refusal of this grant, and resolves to it. */
async function changeRefusal(
  state: HealthState,
  ref: ConnectionRef,
  grantId: string,
  next: (earlier: Refusal | null) => Refusal | null,
): Promise<RefusalChange | null> {
  let wasConfirmed = false
  const { refused } = await change(state, ref, (health) => {
    const earlier = health.refused?.grantId === grantId ? health.refused : null
    wasConfirmed = earlier?.confirmed === true
    return { ...health, refused: next(earlier) ?? health.refused }
  })
  return refused?.grantId === grantId ? { ...refused, isNew: refused.confirmed && !wasConfirmed } : null
}

async function noteCall(state: HealthState, ref: ConnectionRef, outcome: CallOutcome): Promise<boolean> {
  if (outcome.result === 'ok') return callSucceeded(state, ref, outcome.call, outcome.scope)
  let wasRefused = false
  await change(state, ref, (health) => {
    if (outcome.result === 'unavailable')
      return { ...health, problem: problemAfterCall(health, outcome.kind) }
    wasRefused = health.refused?.confirmed === true
    const others = health.forbidden.filter((entry) => entry.call !== outcome.call)
    const entry = { call: outcome.call, scope: outcome.scope }
    return {
      ...health,
      problem: problemAfterCall(health, null),
      refused: null,
      forbidden: [...others, entry].slice(-MAX_FORBIDDEN),
    }
  })
  return wasRefused
}

async function callSucceeded(
  state: HealthState,
  ref: ConnectionRef,
  call: string,
  scope: string,
): Promise<boolean> {
  const check = state.checks.get(refName(ref))
  if (check && !check.problem && performance.now() - check.time < CHECK_INTERVAL_MS) return false
  let wasRefused = false
  await change(state, ref, (health) => {
    wasRefused = health.refused?.confirmed === true
    return {
      ...health,
      problem: problemAfterCall(health, null),
      forbidden: health.forbidden.filter((entry) => entry.scope !== scope && entry.call !== call),
      rejected: null,
      refused: null,
    }
  })
  return wasRefused
}

/** Only a refresh proves that this app's credentials are correct again. */
const problemAfterCall = ({ problem }: Health, next: Problem | null) =>
  problem === 'misconfigured' ? problem : next

/** A record that cannot be read must not block a connection: it counts as healthy. */
function parse(value: string | null): Health {
  return value === null ? HEALTHY : (healthSchema.safeParse(parseJson(value)).data ?? HEALTHY)
}

function isHealthy({ problem, refreshFailures, forbidden, rejected, refused }: Health): boolean {
  return (
    problem === null &&
    refreshFailures === 0 &&
    forbidden.length === 0 &&
    rejected === null &&
    refused === null
  )
}
