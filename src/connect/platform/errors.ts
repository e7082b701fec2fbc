import { AppError } from '../app-error.ts'

/** What can go wrong between us and the platform: one class for each meaning, with a message that a user can act on. */
export abstract class PlatformError extends AppError {}

/** The user has no connection in this context. */
export class NotConnectedError extends PlatformError {
  readonly code = 'not_connected'
  readonly status = 404
  constructor() {
    super('This account is not connected. Connect it to continue.')
  }
}

/** The user, or the platform, ended the grant; only a new consent brings it back. */
export class ConnectionRevokedError extends PlatformError {
  readonly code = 'connection_revoked'
  readonly status = 409
  /** `revokedAt`: ISO 8601 time at which we noticed. */
  constructor(revokedAt: string, revokedBecause: string) {
    super('Access to this account was revoked on the platform, or has expired. Reconnect it to continue.', {
      details: { revokedAt, revokedBecause },
    })
  }
}

/** The platform answered `invalid_grant`: the code or refresh token is no longer good (RFC 6749 section 5.2). */
export class InvalidGrantError extends PlatformError {
  readonly code = 'grant_rejected'
  readonly status = 409
  constructor() {
    super('The platform no longer accepts this grant. Connect the account again.')
  }
}

/** The platform answered 403: the grant does not cover the call (RFC 6750 section 3.1). */
export class InsufficientScopeError extends PlatformError {
  readonly code = 'scope_missing'
  readonly status = 403
  readonly scope: string | undefined
  constructor(scope: string | undefined) {
    super(
      scope
        ? `The permission "${scope}" was not granted for this account. Connect it again and accept that permission.`
        : 'The platform does not permit this for the connected account. Connect it again, or ask its administrator.',
      { details: { scope } },
    )
    this.scope = scope
  }
}

/**
 * How the platform failed to answer usefully. `paused`: we are not asking again yet. `rejected`: the API rejects an access
 * token that was just refreshed, and whether access was revoked is not known yet.
 */
export type OutageKind = 'no_answer' | 'error' | 'busy' | 'unreadable' | 'paused' | 'rejected'

const OUTAGES: Record<OutageKind, string> = {
  no_answer: "The platform isn't responding.",
  error: 'The platform returned an error.',
  busy: 'The platform is busy and takes no more requests right now.',
  unreadable: 'The platform sent something we could not read.',
  paused: "The platform wasn't available a moment ago.",
  rejected:
    'The platform rejected the access token, although it was refreshed a moment ago: access may have been revoked.',
}

/** `Retry-After` is honoured up to this long, in ms: a longer one would lock an account out on one odd answer. */
export const MAX_RETRY_AFTER_MS = 300_000

/** The platform does not answer, or says that it cannot right now. Nothing is lost. */
export class PlatformUnavailableError extends PlatformError {
  readonly code = 'platform_unavailable'
  readonly status = 503
  readonly kind: OutageKind
  constructor(kind: OutageKind, reason: string, retryAfterMs?: number, what = OUTAGES[kind]) {
    const wait = Math.min(retryAfterMs ?? 1000, MAX_RETRY_AFTER_MS)
    const seconds = Math.max(1, Math.ceil(wait / 1000))
    const waits = kind === 'paused' || kind === 'rejected'
    const later =
      retryAfterMs === undefined ? 'Please try again in a moment.' : `Please try again in ${seconds} s.`
    const safe = kind === 'rejected' ? '' : ' Your connection is safe.'
    super(`${what}${safe} ${waits ? `We'll try again in ${seconds} s.` : later}`, {
      retryAfterMs: wait,
      reason,
    })
    this.kind = kind
  }
}

/** The connection was refreshed less than 30 s ago, so no refresh is made now. */
export class RefreshedRecentlyError extends PlatformUnavailableError {
  constructor(waitMs: number) {
    super('rejected', 'the access token was rejected or expired within 30 s of its refresh', waitMs)
  }
}

/** A person asked for a refresh within 5 s of the last one. */
export class RefreshTooSoonError extends PlatformError {
  readonly code = 'refresh_too_soon'
  readonly status = 429
  constructor(waitMs: number) {
    const seconds = Math.max(1, Math.ceil(waitMs / 1000))
    super(`A refresh was requested a moment ago. You can refresh the token again in ${seconds} s.`, {
      retryAfterMs: waitMs,
    })
  }
}

/** The platform has no such thing for this account. */
export class NotFoundError extends PlatformError {
  readonly code = 'not_found'
  readonly status = 404
  constructor(what: string) {
    super(`There is no such ${what} in this account.`)
  }
}

/** The platform refused the call, or answered in a shape we do not know. `field` names the offender when known. */
export class PlatformRejectedError extends PlatformError {
  readonly code = 'platform_rejected'
  readonly status = 502
  constructor(reason: string, field?: string) {
    super(
      field
        ? `The platform's answer has an unexpected format: ${field}. Nothing was stored.`
        : 'The platform refused this request.',
      { reason, field },
    )
  }
}

/** Our own registration or keys are wrong; users can do nothing about it, and their connections are kept. */
export class ConfigurationError extends PlatformError {
  readonly code = 'misconfigured'
  readonly status = 500
  constructor(reason: string) {
    super(
      "This app is not set up correctly for the platform. This has been logged for the app's developers; your connection is safe.",
      {
        reason,
      },
    )
  }
}
