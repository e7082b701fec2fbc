import * as z from 'zod'
import {
  type ConnectionSummary,
  type Problem,
  REFUSED_REASON,
  type UnreadableConnection,
} from '../connect/index.ts'
import { format } from './format.ts'

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

const revokedOn = (at: number) =>
  `Access ended on ${format.date(new Date(at).toISOString())}: it was withdrawn on the platform, or has expired. Reconnect to continue.`
const refusedOn = (at: number) =>
  `The platform has refused access since ${format.date(new Date(at).toISOString())}: it was probably withdrawn there, or has expired. Reconnect to continue.`
const CONNECTED = 'Ready to use.'
const SAFE = 'Your connection is safe, and the app will try again on next use.'
const PROBLEMS: Record<Problem, string> = {
  no_answer: `The platform did not respond to the last request. ${SAFE}`,
  error: `The platform returned an error for the last request. ${SAFE}`,
  busy: `The platform was too busy for the last request. ${SAFE}`,
  unreadable: `The platform sent an unexpected response to the last request. ${SAFE}`,
  paused: `The platform was unavailable a moment ago. ${SAFE}`,
  refused: `The platform refused to renew access to this account. ${SAFE}`,
  rejected:
    'The platform did not accept this connection a moment ago. Access may have been withdrawn: use “Test this connection” to check.',
  misconfigured:
    "The platform rejects this app's own credentials. Its developers must correct them; you don't need to do anything.",
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
    const summary = connection.reason
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
    return { revokedAt: iso(connection.revokedAt), revokedReason: connection.revokedReason }
  const { refusedAt, expiresAt } = connection
  if (refusedAt !== null) return { revokedAt: iso(refusedAt), revokedReason: REFUSED_REASON }
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
  if (connection.status === 'revoked') return { health: 'revoked', summary: revokedOn(connection.revokedAt) }
  const { problem, forbidden, refusedAt } = connection
  if (refusedAt !== null) return { health: 'revoked', summary: refusedOn(refusedAt) }
  if (problem !== null) {
    return { health: problem === 'misconfigured' ? 'misconfigured' : 'degraded', summary: PROBLEMS[problem] }
  }
  if (missing.length > 0) {
    const names = new Intl.ListFormat('en').format(missing)
    const summary = `Connected, but without permission for ${names}. Grant it to use everything.`
    return { health: 'needs_consent', summary }
  }
  if (forbidden.length > 0) {
    const summary =
      'The platform rejected a request because a permission is missing. Grant access again to use everything.'
    return { health: 'needs_consent', summary }
  }
  if (connection.refreshToken === 'none') return { health: 'connected', summary: endOf(connection.expiresAt) }
  return { health: 'connected', summary: CONNECTED }
}

/** What happens to a connection that cannot be refreshed. */
function endOf(expiresAt: number | null): string {
  return expiresAt === null
    ? 'Ready to use. The platform does not let the app renew this access, so you need to reconnect when it ends.'
    : `Ready to use until ${format.time(new Date(expiresAt).toISOString())}. The platform does not let the app renew this access, so you need to reconnect then.`
}

function iso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
