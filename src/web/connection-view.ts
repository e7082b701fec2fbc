import * as z from 'zod'
import type { EndReason } from '../connect/errors.ts'
import type { Connection, UnreadableConnection } from '../connect/index.ts'
import { texts } from './texts.ts'

export const STATUSES = [
  'active',
  'degraded',
  'needs_consent',
  'misconfigured',
  'revoked',
  'unreadable',
] as const

const time = z.iso.datetime().nullable()

/** A connection as shown by pages and JSON. Times are ISO 8601, or null. */
export const connectionViewSchema = z.object({
  bxcontext: z.string(),
  businessName: z.string().nullable(),
  userName: z.string().nullable(),
  status: z.enum(STATUSES),
  /** Describes the status in a sentence or two. */
  summary: z.string(),
  /** Whether a new consent is the way on, or may be one. */
  canReconnect: z.boolean(),
  /** Whether there are tokens that may work: not after access has ended for good. */
  canTest: z.boolean(),
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
    ? texts.coreErrors.record_decryption_failed.detail
    : texts.summary.missingKey(missingKeyId)

/** Converts a stored connection for pages and JSON. */
export function connectionView(connection: Connection | UnreadableConnection): ConnectionView {
  const { bxcontext } = connection
  if ('reason' in connection) {
    const summary = unreadableText(connection.missingKeyId)
    return { ...NOTHING_KNOWN, bxcontext, status: 'unreadable', summary, canReconnect: true, canTest: false }
  }
  const { businessName, userName, scopes, missingScopes, connectedAt, lastUsedAt, tokens, view } = connection
  const isRevoked = view.state === 'revoked'
  return {
    bxcontext,
    businessName,
    userName,
    status: view.state,
    ...statusOf(connection),
    scopes,
    missingScopes,
    expiresAt: isRevoked ? null : iso(tokens?.expiresAt ?? null),
    connectedAt: iso(connectedAt),
    refreshedAt: tokens && tokens.refreshes > 0 ? iso(tokens.issuedAt) : null,
    lastUsedAt: iso(lastUsedAt),
    revokedAt: isRevoked ? iso(view.at) : null,
    revokedReason: isRevoked ? texts.revocation[view.reason] : null,
  }
}

const NOTHING_KNOWN = {
  businessName: null,
  userName: null,
  scopes: null,
  missingScopes: [],
  expiresAt: null,
  connectedAt: null,
  refreshedAt: null,
  lastUsedAt: null,
  revokedAt: null,
  revokedReason: null,
}

function statusOf(connection: Connection): Pick<ConnectionView, 'summary' | 'canReconnect' | 'canTest'> {
  const { view } = connection
  switch (view.state) {
    case 'revoked':
      return {
        summary: endedText(view.reason, view.at),
        canReconnect: true,
        canTest: view.reason === 'refused',
      }
    case 'misconfigured':
      return { summary: texts.problems.misconfigured, canReconnect: false, canTest: true }
    case 'degraded':
      return { summary: texts.problems[view.trouble], canReconnect: view.canReconnect, canTest: true }
    case 'needs_consent': {
      const { missing, forbidden } = texts.summary
      const { missingScopes } = view
      const summary = missingScopes.length > 0 ? missing(missingScopes) : forbidden
      return { summary, canReconnect: true, canTest: true }
    }
    case 'active':
      return { summary: activeText(connection), canReconnect: false, canTest: true }
    default:
      return view satisfies never
  }
}

const endedText = (reason: EndReason, at: number) =>
  reason === 'refused' ? texts.summary.refused(iso(at)) : texts.summary.ended(iso(at))

/** Also what happens to a connection that cannot be refreshed. */
function activeText({ tokens }: Connection): string {
  if (tokens?.refreshToken !== 'none') return texts.summary.ready
  return tokens.expiresAt === null
    ? texts.summary.notRenewable
    : texts.summary.readyUntil(iso(tokens.expiresAt))
}

function iso(time: number): string
function iso(time: number | null): string | null
function iso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
