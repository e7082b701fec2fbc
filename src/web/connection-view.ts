import * as z from 'zod'
import {
  type ConnectionSummary,
  REFUSED_REASON,
  REVOKED_REASONS,
  type UnreadableConnection,
} from '../connect/index.ts'
import { texts } from './texts.ts'

/** The health of a connection. */
const HEALTH = ['connected', 'degraded', 'revoked', 'needs_consent', 'misconfigured', 'unreadable'] as const
export type Health = (typeof HEALTH)[number]

const time = z.iso.datetime().nullable()

/** A connection as shown by pages and JSON. Times are ISO 8601, or null. */
export const connectionViewSchema = z.object({
  bxcontext: z.string(),
  businessName: z.string().nullable(),
  userName: z.string().nullable(),
  status: z.enum(['active', 'revoked', 'unreadable']),
  health: z.enum(HEALTH),
  /** Describes `health` in a sentence or two. */
  summary: z.string(),
  scopes: z.array(z.string()).nullable(),
  /**
   * Requested scopes that were not granted, if the platform reports the granted scopes, and scopes whose absence made
   * the platform reject a call.
   */
  missingScopes: z.array(z.string()),
  expiresAt: time,
  connectedAt: time,
  refreshedAt: time,
  lastUsedAt: time,
  revokedAt: time,
  revokedReason: z.string().nullable(),
})
export type ConnectionView = z.infer<typeof connectionViewSchema>

/** Why a connection cannot be read. `missingKeyId`: the key that the app does not have, if that is the reason. */
export const unreadableText = (missingKeyId: string | null): string =>
  missingKeyId === null
    ? texts.errors.record_decryption_failed.detail
    : texts.summary.missingKey(missingKeyId)

/** The text of why the core counts a connection as revoked. */
export function revocationText(reason: string): string {
  const { invalid_grant, refused, expired, rejected } = texts.revocation
  if (reason === REVOKED_REASONS.expired) return expired
  if (reason === REVOKED_REASONS.rejected) return rejected
  return reason === REFUSED_REASON ? refused : invalid_grant
}

/** Converts a stored connection for pages and JSON. `requestedScopes`: the scopes that this app requests. */
export function connectionView(
  connection: ConnectionSummary | UnreadableConnection,
  requestedScopes: readonly string[],
): ConnectionView {
  const { bxcontext, status } = connection
  const defaults = {
    businessName: null,
    userName: null,
    expiresAt: null,
    connectedAt: null,
    refreshedAt: null,
    lastUsedAt: null,
    revokedAt: null,
    revokedReason: null,
  }
  if (connection.status === 'unreadable') {
    const summary = unreadableText(connection.missingKeyId)
    return { ...defaults, bxcontext, status, health: 'unreadable', summary, scopes: null, missingScopes: [] }
  }
  const { businessName, userName, scopes, connectedAt, refreshedAt, lastUsedAt } = connection
  const missingScopes = findMissingScopes(connection, requestedScopes)
  const { health, summary } = determineHealth(connection, missingScopes)
  return {
    ...defaults,
    bxcontext,
    businessName,
    userName,
    status,
    health,
    summary,
    scopes,
    missingScopes,
    connectedAt: iso(connectedAt),
    refreshedAt: iso(refreshedAt),
    lastUsedAt: iso(lastUsedAt),
    ...timesOf(connection),
  }
}

function timesOf(connection: ConnectionSummary) {
  if (connection.status === 'revoked')
    return { revokedAt: iso(connection.revokedAt), revokedReason: revocationText(connection.revokedReason) }
  const { refusedAt, expiresAt } = connection
  if (refusedAt !== null) return { revokedAt: iso(refusedAt), revokedReason: revocationText(REFUSED_REASON) }
  return { expiresAt: iso(expiresAt) }
}

/** Asks for a refresh token (OpenID Connect Core 1.0, section 11); it is no permission that a user could grant. */
const OFFLINE_ACCESS = 'offline_access'

function findMissingScopes(connection: ConnectionSummary, requestedScopes: readonly string[]): string[] {
  const { scopes } = connection
  const ungranted =
    scopes === null
      ? []
      : requestedScopes.filter((scope) => scope !== OFFLINE_ACCESS && !scopes.includes(scope))
  const rejectedScopes = connection.status === 'active' ? connection.forbidden : []
  return [...new Set([...ungranted, ...rejectedScopes.filter((scope) => scope !== null)])]
}

function determineHealth(
  connection: ConnectionSummary,
  missing: string[],
): { health: Health; summary: string } {
  if (connection.status === 'revoked')
    return { health: 'revoked', summary: texts.summary.ended(iso(connection.revokedAt)) }
  const { problem, forbidden, refusedAt } = connection
  if (refusedAt !== null) return { health: 'revoked', summary: texts.summary.refused(iso(refusedAt)) }
  if (problem !== null) {
    return {
      health: problem === 'misconfigured' ? 'misconfigured' : 'degraded',
      summary: texts.problems[problem],
    }
  }
  if (missing.length > 0) {
    return { health: 'needs_consent', summary: texts.summary.missing(missing) }
  }
  if (forbidden.length > 0) {
    return { health: 'needs_consent', summary: texts.summary.forbidden }
  }
  if (connection.refreshToken === 'none') return { health: 'connected', summary: endOf(connection.expiresAt) }
  return { health: 'connected', summary: texts.summary.ready }
}

/** What happens to a connection that cannot be refreshed. */
function endOf(expiresAt: number | null): string {
  return expiresAt === null ? texts.summary.notRenewable : texts.summary.readyUntil(iso(expiresAt))
}

function iso(time: number): string
function iso(time: number | null): string | null
function iso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
