import type { ConnectionSummary, UnreadableConnection } from '../vault/vault.ts'

/** How a connection is doing: one word, one sentence, one thing to do. */
export type Health = 'connected' | 'degraded' | 'revoked' | 'needs_consent' | 'misconfigured' | 'unreadable'

/** A connection as pages and JSON show it; times are ISO 8601, null where there is none. */
export interface ConnectionView {
  context: string
  status: 'active' | 'revoked' | 'unreadable'
  health: Health
  /** One sentence about `health`. */
  summary: string
  scopes: string[] | null
  /** Scopes that this app asks for and the user has not granted; empty when the platform does not name scopes. */
  missingScopes: string[]
  expiresAt: string | null
  connectedAt: string | null
  refreshedAt: string | null
  revokedAt: string | null
  revokedBecause: string | null
}

const SENTENCES: Record<Exclude<Health, 'unreadable' | 'needs_consent'>, string> = {
  connected: 'Ready to use. The access token is renewed by itself.',
  degraded: 'The platform did not answer a moment ago. The connection is kept, and the next use tries again.',
  revoked: 'Access was revoked on the platform, or has ended there. Reconnect to go on.',
  misconfigured:
    "The platform refuses this app's own credentials. Its operator must correct them; you need do nothing.",
}

export function connectionView(
  connection: ConnectionSummary | UnreadableConnection,
  wanted: readonly string[],
): ConnectionView {
  const { context, status } = connection
  const nothing = {
    expiresAt: null,
    connectedAt: null,
    refreshedAt: null,
    revokedAt: null,
    revokedBecause: null,
  }
  if (connection.status === 'unreadable') {
    return {
      ...{ context, status, health: 'unreadable', summary: connection.reason },
      ...{ ...nothing, scopes: null, missingScopes: [] },
    }
  }
  const { scopes, connectedAt, refreshedAt } = connection
  const missingScopes = scopes === null ? [] : wanted.filter((scope) => !scopes.includes(scope))
  const health = healthOf(connection, missingScopes)
  return {
    ...{ context, status, health, summary: sentence(health, missingScopes), scopes, missingScopes },
    ...nothing,
    connectedAt: iso(connectedAt),
    refreshedAt: iso(refreshedAt),
    ...(connection.status === 'active'
      ? { expiresAt: iso(connection.expiresAt) }
      : { revokedAt: iso(connection.revokedAt), revokedBecause: connection.revokedBecause }),
  }
}

function healthOf(connection: ConnectionSummary, missingScopes: string[]) {
  if (connection.status === 'revoked') return 'revoked'
  if (connection.trouble) return connection.trouble === 'misconfigured' ? 'misconfigured' : 'degraded'
  return missingScopes.length > 0 ? 'needs_consent' : 'connected'
}

function sentence(health: Exclude<Health, 'unreadable'>, missingScopes: string[]): string {
  if (health !== 'needs_consent') return SENTENCES[health]
  return `Connected, but without permission for ${missingScopes.join(' and ')}. Grant it to use everything.`
}

function iso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
