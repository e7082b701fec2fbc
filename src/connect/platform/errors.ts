import { CoreError } from '../app-error.ts'

/** The errors between this app and the platform, one class per meaning. The pages have the texts for users. */
export abstract class PlatformError extends CoreError {}

/** The user has no connection to this business (`bxcontext`). */
export class NotConnectedError extends PlatformError {
  readonly code = 'not_connected'
  readonly status = 404
  constructor() {
    super('this account is not connected')
  }
}

/**
 * Why access has ended. `invalid_grant`: the platform answered with this error. `refused`: the platform refuses a refresh without
 * this error. Without a refresh token, also `expired` (the access token expired) and `rejected` (the API rejected it three times).
 */
export type EndReason = 'invalid_grant' | 'expired' | 'rejected' | 'refused'

/**
 * Access has ended. A new consent restores it. After `refused`, and after a first `invalid_grant`, the tokens are kept, and a later
 * success with them also restores access. A second `invalid_grant`, at least a minute later, deletes them.
 */
export class ConnectionRevokedError extends PlatformError {
  readonly code = 'connection_revoked'
  readonly status = 409
  readonly endReason: EndReason
  /** `revokedAt`: when the token expired, or when the end was noticed, in ms since 1970. */
  constructor(revokedAt: number, revokedReason: EndReason) {
    super('access to this account has ended', {
      details: { revokedAt: new Date(revokedAt).toISOString(), revokedReason },
    })
    this.endReason = revokedReason
  }
}

/** The platform answered `invalid_grant`: the code or refresh token is invalid, expired or revoked (RFC 6749 section 5.2). */
export class InvalidGrantError extends PlatformError {
  readonly code = 'grant_rejected'
  readonly status = 409
  /** `retryAfterMs`: how long the platform asks to wait, in ms. */
  constructor(retryAfterMs?: number) {
    super('the platform no longer accepts this grant (invalid_grant)', { retryAfterMs })
  }
}

/** The API answered 403: the grant does not cover the call (RFC 6750 section 3.1). `scopes`: the missing scopes, if known. */
export class InsufficientScopeError extends PlatformError {
  readonly code = 'insufficient_scope'
  readonly status = 403
  readonly scopes: readonly string[]
  constructor(scopes: readonly string[]) {
    const scope = scopes.length > 0 ? scopes.join(' ') : undefined
    super(`a permission is missing${scope ? `: ${scope}` : ''}`, { details: { scope } })
    this.scopes = scopes
  }
}

/**
 * Why there is no usable answer of the platform. `paused`: this app sent no request, because it is backing off or stopping, or
 * another process is refreshing. `rejected`: the API rejects an access token that was just refreshed, or that can't be refreshed.
 * `refused`: the token endpoint answered a 4xx with an `error` other than `invalid_grant` and `invalid_client` that isn't
 * temporary. Some servers answer so for a revoked token, so the vault decides whether access has ended.
 */
export type OutageKind = (typeof OUTAGE_KINDS)[number]
export const OUTAGE_KINDS = [
  'no_answer',
  'error',
  'busy',
  'unreadable',
  'paused',
  'rejected',
  'refused',
] as const

/** The longest `Retry-After` that the app honours, in ms. Otherwise, a single odd answer would lock out an account. */
export const MAX_RETRY_AFTER_MS = 300_000

/** The platform gave no usable answer, for one of the reasons in `OutageKind`. The connection is kept. */
export class PlatformUnavailableError extends PlatformError {
  readonly code: 'platform_unavailable' | 'outcome_unknown' = 'platform_unavailable'
  readonly status: 502 | 503 = 503
  readonly kind: OutageKind
  /** The beginning of an answer that is neither JSON nor a web page; otherwise empty. It is never logged. */
  readonly platformMessage: string
  /** `retryAfterMs`: how long to wait, in ms, as the platform asks, or until this app's pause ends. */
  constructor(kind: OutageKind, reason: string, retryAfterMs?: number, platformMessage = '') {
    super(`the platform is not available: ${reason}`, { retryAfterMs, reason })
    this.kind = kind
    this.platformMessage = platformMessage
  }
}

/**
 * A write was sent, but without a usable answer, the app can't tell whether the platform carried it out. Repeat it only if that is
 * harmless. The status is that of the original error.
 */
export class OutcomeUnknownError extends PlatformUnavailableError {
  override readonly code = 'outcome_unknown'
  override readonly status: 502 | 503
  constructor(kind: OutageKind, error: PlatformUnavailableError | PlatformRejectedError) {
    super(kind, error.reason ?? kind, error.retryAfterMs, error.platformMessage)
    this.status = error.status
  }
}

/** A refresh was requested within 5 s of the previous one, or within the token's life if that is between 1 and 5 s. */
export class RefreshTooSoonError extends PlatformError {
  readonly code = 'refresh_too_soon'
  readonly status = 429
  constructor(waitMs: number) {
    super('a refresh was requested a moment ago', { retryAfterMs: waitMs })
  }
}

/** The platform has no such resource for this account, or the path of the call cannot be one of its resources. */
export class NotFoundError extends PlatformError {
  readonly code = 'not_found'
  readonly status = 404
  /** The text for users, if the call provides one (`notFound` of `Call`). */
  readonly text: string | undefined
  constructor(text?: string) {
    super(text ?? 'there is no such resource in this account')
    this.text = text
  }
}

/**
 * The platform refused the call, its answer has an unexpected format, or there is no refresh token for it. `field`: the invalid
 * field, if known. `platformMessage`: the readable message of the answer (`messageIn`), which may be empty. It is never logged.
 */
export class PlatformRejectedError extends PlatformError {
  readonly code = 'platform_rejected'
  readonly status = 502
  readonly platformMessage: string
  constructor(reason: string, field?: string, platformMessage = '') {
    const message = field ? `the platform's answer has an unexpected format: ${field}` : reason
    super(message, { reason, field })
    this.platformMessage = platformMessage
  }
}

/** This app's registration or credentials are wrong. Users cannot correct them, and their connections are kept. */
export class ConfigurationError extends PlatformError {
  readonly code = 'misconfigured'
  readonly status = 500
  /** `retryAfterMs`: how long the platform asks to wait, in ms. */
  constructor(reason: string, retryAfterMs?: number) {
    super(`this app is not set up correctly for the platform: ${reason}`, { reason, retryAfterMs })
  }
}
