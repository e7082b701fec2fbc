import type { ActiveConnection, Connection } from './connection.ts'
import type { HealthRecords, Problem } from './health.ts'
import type { LastUse } from './last-use.ts'
import type { RefreshLock } from './refresh-lock.ts'
import { refusalOf } from './refusal.ts'

/** A connection without its tokens, for pages and JSON. Times are in ms since 1970. */
export type ConnectionSummary = Readonly<{
  bxcontext: string
  /** Identifies the latest act of consent, in the log too. */
  grantId: string
  /** The names of the business and the person who gave consent, if the platform reports them. */
  businessName: string | null
  userName: string | null
  scopes: string[] | null
  connectedAt: number
  refreshedAt: number | null
  /** When the API last accepted a call, to the minute; null if that is not known. */
  lastUsedAt: number | null
}> &
  (
    | {
        status: 'active'
        /** When the access token was received. */
        issuedAt: number
        expiresAt: number | null
        /** How many times this grant was refreshed. */
        refreshes: number
        /**
         * Whether there is a refresh token, and whether the last refresh returned a new one (`rotated`) or left the same
         * in use. Before any refresh: `same`.
         */
        refreshToken: 'none' | 'same' | 'rotated'
        problem: Problem | null
        /** Since when the platform has refused access without saying that the grant has ended; null if it does not. */
        refusedAt: number | null
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
  /** The id of the encryption key that is missing, if that is the reason. */
  missingKeyId: string | null
}

/** Throws `StoreUnavailableError`. */
export async function summarize(
  connection: Connection,
  health: HealthRecords,
  lock: RefreshLock,
  lastUse: LastUse,
): Promise<ConnectionSummary> {
  const { bxcontext, grantId, scopes, connectedAt, refreshedAt } = connection
  const { businessName = null, userName = null } = connection
  const lastUsedAt = await lastUse.read(connection)
  const common = { bxcontext, grantId, businessName, userName, scopes, connectedAt, refreshedAt, lastUsedAt }
  if (connection.status === 'revoked') {
    const { status, revokedAt, revokedReason } = connection
    return { ...common, status, revokedAt, revokedReason }
  }
  const [{ problem, forbidden, refused }, refreshableInMs] = await Promise.all([
    health.read(connection),
    lock.manualWait(connection),
  ])
  return {
    ...common,
    status: 'active',
    issuedAt: connection.issuedAt,
    expiresAt: connection.expiresAt,
    refreshes: connection.refreshes,
    refreshToken: refreshTokenState(connection),
    problem,
    refusedAt: refusalOf(connection, refused)?.since ?? null,
    forbidden: forbidden.map(({ scope }) => scope),
    refreshableInMs,
  }
}

function refreshTokenState({ refreshToken, refreshTokenRotated }: ActiveConnection) {
  if (refreshToken === null) return 'none'
  return refreshTokenRotated ? 'rotated' : 'same'
}
