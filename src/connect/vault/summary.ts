import type { Connection } from './connection.ts'
import type { HealthRecords, Problem } from './health.ts'
import type { RefreshLock } from './refresh-lock.ts'

/** A connection without its tokens, for pages and JSON. Times are in ms since 1970. */
export type ConnectionSummary = Readonly<{
  bxcontext: string
  scopes: string[] | null
  connectedAt: number
  refreshedAt: number | null
}> &
  (
    | {
        status: 'active'
        expiresAt: number | null
        problem: Problem | null
        /** The missing scopes because of which the API refused calls; null if unknown. */
        forbidden: (string | null)[]
        /** How long until a user may request a refresh, in ms. */
        refreshableInMs: number
      }
    | { status: 'revoked'; revokedAt: number; revokedReason: string }
  )

/** A stored connection that cannot be decrypted, and why. */
export interface UnreadableConnection {
  bxcontext: string
  status: 'unreadable'
  reason: string
}

/** Throws `StoreUnavailableError`. */
export async function summarize(
  connection: Connection,
  health: HealthRecords,
  lock: RefreshLock,
): Promise<ConnectionSummary> {
  const { bxcontext, scopes, connectedAt, refreshedAt } = connection
  const common = { bxcontext, scopes, connectedAt, refreshedAt }
  if (connection.status === 'revoked') {
    const { status, revokedAt, revokedReason } = connection
    return { ...common, status, revokedAt, revokedReason }
  }
  const [{ problem, forbidden }, refreshableInMs] = await Promise.all([
    health.read(connection),
    lock.manualWait(connection),
  ])
  return {
    ...common,
    status: 'active',
    expiresAt: connection.expiresAt,
    problem,
    forbidden: forbidden.map(({ scope }) => scope),
    refreshableInMs,
  }
}
