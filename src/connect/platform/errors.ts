import { AppError } from '../app-error.ts'

/** What can go wrong between this app and the platform: one class per meaning, with a message that a user can act on. */
export abstract class PlatformError extends AppError {}

/** The user has no connection to this bxcontext. */
export class NotConnectedError extends PlatformError {
  readonly code = 'not_connected'
  readonly status = 404
  constructor() {
    super('This account is not connected. Connect it to continue.')
  }
}

/**
 * Why access has ended. `invalid_grant`: the platform said so. `expired`, `rejected`: the access token expired, or the API
 * rejected it three times, and there is no refresh token. `refused`: a refresh is refused without saying why.
 */
export type EndReason = 'invalid_grant' | 'expired' | 'rejected' | 'refused'

/**
 * Access has ended. A new consent restores it; if the platform refused without `invalid_grant`, so does a later success with
 * the tokens that were kept.
 */
export class ConnectionRevokedError extends PlatformError {
  readonly code = 'connection_revoked'
  readonly status = 409
  readonly endReason: EndReason
  /** `revokedAt`: when the end was noticed, in ms since 1970. */
  constructor(revokedAt: number, revokedReason: EndReason) {
    super('Access to this account was withdrawn on the platform, or has expired. Reconnect it to continue.', {
      details: { revokedAt: new Date(revokedAt).toISOString(), revokedReason },
    })
    this.endReason = revokedReason
  }
}

/** The platform answered `invalid_grant`: the code or refresh token is invalid or expired (RFC 6749 section 5.2). */
export class InvalidGrantError extends PlatformError {
  readonly code = 'grant_rejected'
  readonly status = 409
  constructor() {
    super('The platform no longer accepts this grant. Connect the account again.')
  }
}

/** The API answered 403: the grant does not cover the call (RFC 6750 section 3.1). `scope`: the missing one, if known. */
export class InsufficientScopeError extends PlatformError {
  readonly code = 'insufficient_scope'
  readonly status = 403
  readonly scope: string | undefined
  constructor(scope: string | undefined) {
    super(
      scope
        ? `The permission "${scope}" is missing for this account. Grant it on the platform to continue.`
        : 'The platform does not permit this for the connected account. Grant the missing permissions, or ask its administrator.',
      { details: { scope } },
    )
    this.scope = scope
  }
}

/**
 * Why the platform gave no usable answer. `paused`: this app is backing off and did not ask. `rejected`: the API rejects
 * an access token that was just refreshed. `refused`: the token endpoint refused a refresh without saying why. After the
 * last two, it is not known yet whether access was revoked.
 */
export type OutageKind = 'no_answer' | 'error' | 'busy' | 'unreadable' | 'paused' | 'rejected' | 'refused'

const OUTAGES: Record<OutageKind, string> = {
  no_answer: "The platform isn't responding.",
  error: 'The platform returned an error.',
  busy: 'The platform is busy and accepts no more requests right now.',
  unreadable: 'The platform sent something we could not read.',
  paused: "The platform wasn't available a moment ago.",
  rejected:
    'The platform rejected the access token, although it was refreshed a moment ago: access may have been revoked.',
  refused: 'The platform refused to renew access to this account: access may have been revoked.',
}

/** `Retry-After` is honoured up to this long, in ms: a longer one would lock an account out after one odd answer. */
export const MAX_RETRY_AFTER_MS = 300_000

const inSeconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000))

function outageMessage(kind: OutageKind, waitMs: number, isKnown: boolean): string {
  const safe = kind === 'rejected' || kind === 'refused' ? '' : ' Your connection is safe.'
  return `${OUTAGES[kind]}${safe} Please try again in ${isKnown ? `${inSeconds(waitMs)} s` : 'a moment'}.`
}

/** The platform does not answer, or says that it cannot right now. The connection is kept. */
export class PlatformUnavailableError extends PlatformError {
  readonly code = 'platform_unavailable'
  readonly status = 503
  readonly kind: OutageKind
  /** `retryAfterMs`: in ms from now; defaults to one second. */
  constructor(kind: OutageKind, reason: string, retryAfterMs?: number) {
    const waitMs = Math.min(retryAfterMs ?? 1000, MAX_RETRY_AFTER_MS)
    super(outageMessage(kind, waitMs, retryAfterMs !== undefined), { retryAfterMs: waitMs, reason })
    this.kind = kind
  }
}

/**
 * The token endpoint refused this request: a 4xx that is neither `invalid_grant` nor `invalid_client`, as some servers answer
 * to a dead token. By itself it proves nothing: the vault decides whether access has ended.
 */
export class TokenRefusedError extends PlatformError {
  readonly code = 'platform_unavailable'
  readonly status = 503
  readonly kind = 'refused'
  /** `retryAfterMs`: in ms from now; defaults to one second. */
  constructor(reason: string, retryAfterMs?: number) {
    const waitMs = Math.min(retryAfterMs ?? 1000, MAX_RETRY_AFTER_MS)
    super(outageMessage('refused', waitMs, retryAfterMs !== undefined), { retryAfterMs: waitMs, reason })
  }
}

/** A user asked for a refresh within 5 s of the previous one. */
export class RefreshTooSoonError extends PlatformError {
  readonly code = 'refresh_too_soon'
  readonly status = 429
  constructor(waitMs: number) {
    super(
      `A refresh was requested a moment ago. You can refresh the token again in ${inSeconds(waitMs)} s.`,
      {
        retryAfterMs: waitMs,
      },
    )
  }
}

/** The platform has no such resource for this account. */
export class NotFoundError extends PlatformError {
  readonly code = 'not_found'
  readonly status = 404
  constructor(message = 'There is no such resource in this account.') {
    super(message)
  }
}

/** The platform refused the call, or its answer has an unexpected format. `field` names what is wrong, if known. */
export class PlatformRejectedError extends PlatformError {
  readonly code = 'platform_rejected'
  readonly status = 502
  constructor(reason: string, field?: string) {
    const message = field
      ? `The platform's answer has an unexpected format: ${field}.`
      : 'The platform refused this request.'
    super(message, { reason, field })
  }
}

/** This app's registration or keys are wrong. Users cannot fix it, and their connections are kept. */
export class ConfigurationError extends PlatformError {
  readonly code = 'misconfigured'
  readonly status = 500
  constructor(reason: string) {
    super(
      "This app is not set up correctly for the platform. This has been logged for the app's developers; your connection is safe.",
      { reason },
    )
  }
}
