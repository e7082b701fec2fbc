import type { CONNECTION_STATES, Connection, UnreadableConnection } from '../../connect/index.ts'
import { unreadableText } from '../requests/problem.ts'
import { texts } from '../texts.ts'

/** A connection as shown by pages and JSON. Times are ISO 8601, or null. */
export interface ConnectionJson {
  bxcontext: string
  /** The displayed name: the label, or else the name that the platform reports, or else the end of the id. */
  name: string
  /** The user's own name for the connection. */
  label: string | null
  businessName: string | null
  userName: string | null
  status: keyof typeof CONNECTION_STATES
  /** Describes the status in one or two sentences. */
  summary: string
  /** Whether to offer a new consent. */
  canReconnect: boolean
  /** Whether the connection has tokens that may work. After access has ended for good, it has none. */
  canTest: boolean
  scopes: readonly string[] | null
  /**
   * If the platform reports the granted scopes: requested scopes that were not granted, unless the API has accepted a call for
   * them. Also scopes whose absence made the API refuse a call.
   */
  missingScopes: readonly string[]
  expiresAt: string | null
  connectedAt: string | null
  refreshedAt: string | null
  lastUsedAt: string | null
  revokedAt: string | null
  revokedReason: string | null
}

/** The name of a connection, wherever people see it. */
export const nameOf = (stored: Connection | UnreadableConnection): string =>
  ('label' in stored ? (stored.label ?? stored.businessName) : null) ?? unnamed(stored.bxcontext)

/** The name of a business if only its id is known. */
export function unnamed(bxcontext: string): string {
  const characters = [...bxcontext]
  const end = characters.slice(-6).join('')
  return texts.connection.unnamed(characters.length > 6 ? `…${end}` : end)
}

/** Converts a stored connection for pages and JSON. If it cannot be read, only its bxcontext and the reason are known. */
export function connectionView(stored: Connection | UnreadableConnection): ConnectionJson {
  const connection = 'reason' in stored ? null : stored
  const tokens = connection?.tokens
  const revoked = connection?.view.state === 'revoked' ? connection.view : null
  return {
    bxcontext: stored.bxcontext,
    name: nameOf(stored),
    label: connection?.label ?? null,
    businessName: connection?.businessName ?? null,
    userName: connection?.userName ?? null,
    ...('reason' in stored ? unreadable(stored) : statusOf(stored)),
    scopes: connection?.scopes ?? null,
    missingScopes: connection?.missingScopes ?? [],
    expiresAt: revoked ? null : iso(tokens?.expiresAt ?? null),
    connectedAt: iso(connection?.connectedAt ?? null),
    refreshedAt: tokens && tokens.refreshes > 0 ? iso(tokens.issuedAt) : null,
    lastUsedAt: iso(connection?.lastUsedAt ?? null),
    revokedAt: iso(revoked?.at ?? null),
    revokedReason: revoked && texts.revocation[revoked.reason],
  }
}

type Status = Pick<ConnectionJson, 'status' | 'summary' | 'canReconnect' | 'canTest'>

const unreadable = ({ missingKeyId }: UnreadableConnection): Status => ({
  status: 'unreadable',
  summary: unreadableText(missingKeyId),
  canReconnect: true,
  canTest: false,
})

function statusOf(connection: Connection): Status {
  const { view } = connection
  const { state: status } = view
  switch (view.state) {
    case 'revoked': {
      const text = view.reason === 'refused' ? texts.summary.refused : texts.summary.ended
      const canTest = view.reason !== 'expired' && connection.tokens !== null
      return { status, summary: text(iso(view.at)), canReconnect: true, canTest }
    }
    case 'misconfigured':
      return { status, summary: texts.summary.misconfigured, canReconnect: false, canTest: true }
    case 'degraded':
      return {
        status,
        summary: texts.outages[view.lastError].detail,
        canReconnect: view.canReconnect,
        canTest: true,
      }
    case 'needs_consent': {
      const { missing, forbidden } = texts.summary
      const summary = view.missingScopes.length > 0 ? missing(view.missingScopes) : forbidden
      return { status, summary, canReconnect: true, canTest: true }
    }
    case 'active':
      return { status, summary: activeText(connection), canReconnect: false, canTest: true }
    default:
      return view satisfies never
  }
}

/** The summary of an active connection. If it cannot be refreshed, it includes the time until which it works. */
function activeText({ tokens }: Connection): string {
  if (tokens?.renewable !== false) return texts.summary.ready
  return tokens.expiresAt === null
    ? texts.summary.notRenewable
    : texts.summary.readyUntil(iso(tokens.expiresAt))
}

function iso(time: number): string
function iso(time: number | null): string | null
function iso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
