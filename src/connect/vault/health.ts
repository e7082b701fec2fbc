import * as z from 'zod'
import type { OutageKind } from '../platform/errors.ts'
import type { CallOutcome } from '../platform/token-source.ts'
import type { Key, Store } from '../store/store.ts'

/** What the last refresh or API call failed of; null once one has succeeded. */
export type Problem = OutageKind | 'misconfigured'

const healthSchema = z.object({
  problem: z
    .enum(['no_answer', 'error', 'busy', 'unreadable', 'paused', 'rejected', 'misconfigured'])
    .nullable(),
  /** Refreshes that failed in a row. */
  refreshFailures: z.number(),
  /** Calls that the API answered 403 to, each with the missing scope, or null if unknown. */
  forbidden: z.array(z.object({ call: z.string(), scope: z.string().nullable() })),
  /** How often the API answered 401 to an access token that cannot be refreshed, at least a minute apart. */
  rejected: z.object({ times: z.number(), at: z.number() }).nullable(),
})
export type Health = z.infer<typeof healthSchema>

/** How connections are doing, beside the connections themselves: none of it is secret, and losing it loses nothing. */
export interface HealthRecords {
  read(userId: string, context: string): Promise<Health>
  /** Notes how an API call ended. Throws `StoreUnavailableError`. */
  noteCall(userId: string, context: string, outcome: CallOutcome): Promise<void>
  noteRefreshProblem(userId: string, context: string, problem: Problem): Promise<void>
  /** Counts a failed refresh; resolves to how many have failed in a row. */
  refreshFailed(userId: string, context: string): Promise<number>
  refreshSucceeded(userId: string, context: string): Promise<void>
  /**
   * Counts a 401 to a token that cannot be refreshed; those within a minute count once. Resolves to how many there
   * were since the last call that succeeded.
   */
  tokenRejected(userId: string, context: string): Promise<number>
  clear(userId: string, context: string): Promise<void>
}

const HEALTHY: Health = { problem: null, refreshFailures: 0, forbidden: [], rejected: null }
/** How long a problem is remembered when nobody uses the connection, in ms. */
const MEMORY_MS = 30 * 24 * 3_600_000
const REJECTED_APART_MS = 60_000
const MAX_FORBIDDEN = 20
/** A successful call looks this often whether another process noted a problem, in ms. */
const LOOK_MS = 250
/** Connections whose last look this process remembers. */
const MAX_LOOKS = 10_000

export function createHealthRecords(store: Store, now: () => number): HealthRecords {
  const keyOf = (userId: string, context: string): Key => ({ kind: 'failures', owner: userId, id: context })
  /** When this process last looked at a connection's record, and whether it found or wrote a problem then. */
  const looks = new Map<string, { at: number; problem: boolean }>()
  const placeOf = (userId: string, context: string) => `${userId.length}:${userId}${context}`

  function remember(userId: string, context: string, problem: boolean): void {
    if (looks.size >= MAX_LOOKS) looks.clear()
    looks.set(placeOf(userId, context), { at: performance.now(), problem })
  }

  async function change(userId: string, context: string, next: (health: Health) => Health): Promise<Health> {
    const key = keyOf(userId, context)
    for (;;) {
      const value = await store.get(key)
      const before = parse(value)
      const after = next(before)
      const text = isHealthy(after) ? null : JSON.stringify(after)
      remember(userId, context, text !== null)
      if (text === value || (await store.compareAndSet(key, value, text, MEMORY_MS))) return after
    }
  }

  async function callSucceeded(userId: string, context: string, call: string, scope: string): Promise<void> {
    const look = looks.get(placeOf(userId, context))
    if (look && !look.problem && performance.now() - look.at < LOOK_MS) return
    await change(userId, context, (health) => ({
      ...health,
      // Only a refresh shows that our own credentials are right again.
      problem: health.problem === 'misconfigured' ? health.problem : null,
      forbidden: health.forbidden.filter((entry) => entry.scope !== scope && entry.call !== call),
      rejected: null,
    }))
  }

  return {
    read: async (userId, context) => parse(await store.get(keyOf(userId, context))),

    async noteCall(userId, context, outcome) {
      if (outcome.result === 'ok') return callSucceeded(userId, context, outcome.call, outcome.scope)
      await change(userId, context, (health) => {
        if (outcome.result === 'unavailable') return { ...health, problem: outcome.kind }
        const others = health.forbidden.filter((entry) => entry.call !== outcome.call)
        const entry = { call: outcome.call, scope: outcome.scope }
        return { ...health, problem: null, forbidden: [...others, entry].slice(-MAX_FORBIDDEN) }
      })
    },

    async noteRefreshProblem(userId, context, problem) {
      await change(userId, context, (health) => ({ ...health, problem }))
    },

    async refreshFailed(userId, context) {
      const increment = (health: Health) => ({ ...health, refreshFailures: health.refreshFailures + 1 })
      return (await change(userId, context, increment)).refreshFailures
    },

    async refreshSucceeded(userId, context) {
      await change(userId, context, (health) => ({
        ...health,
        problem: null,
        refreshFailures: 0,
        rejected: null,
      }))
    },

    async tokenRejected(userId, context) {
      const { rejected } = await change(userId, context, (health) => {
        const last = health.rejected
        if (last && now() - last.at < REJECTED_APART_MS) return health
        return { ...health, rejected: { times: (last?.times ?? 0) + 1, at: now() } }
      })
      return rejected?.times ?? 0
    },

    async clear(userId, context) {
      looks.delete(placeOf(userId, context))
      await store.delete(keyOf(userId, context))
    },
  }
}

/** A record that cannot be read must not keep anyone from their connections: it counts as healthy. */
function parse(value: string | null): Health {
  if (value === null) return HEALTHY
  try {
    const parsed = healthSchema.safeParse(JSON.parse(value))
    return parsed.success ? parsed.data : HEALTHY
  } catch {
    return HEALTHY
  }
}

function isHealthy({ problem, refreshFailures, forbidden, rejected }: Health): boolean {
  return problem === null && refreshFailures === 0 && forbidden.length === 0 && rejected === null
}
