/**
 * What can go wrong between us and the platform: one class per meaning, each with a stable `code`, the HTTP
 * status that our own app answers with, and a message that a user can act on. They are built from chosen
 * fields only and never wrap a response, a request or a library's error: those hold tokens.
 */
export abstract class PlatformError extends Error {
  abstract readonly code: string
  abstract readonly status: number
  /** When it is worth trying again, in ms from now. */
  readonly retryAfterMs?: number
  /** For the log: what happened, in words of ours. Never shown to users. */
  readonly reason?: string

  constructor(
    message: string,
    extra: { retryAfterMs?: number | undefined; reason?: string | undefined } = {},
  ) {
    super(message)
    this.name = new.target.name
    if (extra.retryAfterMs !== undefined) this.retryAfterMs = extra.retryAfterMs
    if (extra.reason !== undefined) this.reason = extra.reason
  }
}

/** The user has no connection in this context. */
export class NotConnected extends PlatformError {
  readonly code = 'not_connected'
  readonly status = 404
  constructor() {
    super('This account is not connected. Connect it to go on.')
  }
}

/** The user, or the platform, ended the grant; only a new consent brings it back. */
export class ConnectionRevoked extends PlatformError {
  readonly code = 'connection_revoked'
  readonly status = 409
  /** ISO 8601 time at which we noticed. */
  readonly revokedAt: string
  readonly revokedBecause: string
  constructor(revokedAt: string, revokedBecause: string) {
    super('Access to this account was revoked on the platform, or has ended there. Reconnect it to go on.')
    this.revokedAt = revokedAt
    this.revokedBecause = revokedBecause
  }
}

/** The platform answered `invalid_grant`: the code or refresh token is no longer good (RFC 6749 section 5.2). */
export class GrantRejected extends PlatformError {
  readonly code = 'grant_rejected'
  readonly status = 409
  constructor() {
    super('The platform no longer accepts this grant. Connect the account again.')
  }
}

/** The platform answered 403: the grant does not cover the call (RFC 6750 section 3.1). */
export class ScopeMissing extends PlatformError {
  readonly code = 'scope_missing'
  readonly status = 403
  readonly scope: string | undefined
  constructor(scope: string | undefined) {
    super(
      scope
        ? `The permission "${scope}" was not granted for this account. Connect it again and accept that permission.`
        : 'The platform does not permit this for the connected account. Connect it again, or ask its administrator.',
    )
    this.scope = scope
  }
}

const SILENT = 'The platform does not answer just now. The connection is kept; please try again in a moment.'

/** The platform does not answer, or says that it cannot just now. Nothing is lost. */
export class PlatformUnavailable extends PlatformError {
  readonly code = 'platform_unavailable'
  readonly status = 503
  constructor(reason: string, retryAfterMs = 1000, message = SILENT) {
    super(message, { retryAfterMs, reason })
  }
}

/** The platform has no such thing for this account. */
export class NotFound extends PlatformError {
  readonly code = 'not_found'
  readonly status = 404
  constructor(what: string) {
    super(`There is no such ${what} in this account.`)
  }
}

/** The platform refused the call, or answered in a shape we do not know. `field` names the offender when known. */
export class PlatformRejected extends PlatformError {
  readonly code = 'platform_rejected'
  readonly status = 502
  readonly field: string | undefined
  constructor(reason: string, field?: string) {
    super(
      field
        ? `The platform's answer is not of the expected form: ${field}. Nothing was stored.`
        : 'The platform refused this request.',
      { reason },
    )
    this.field = field
  }
}

/** Our own registration or keys are wrong; users can do nothing about it, and their connections are kept. */
export class Misconfigured extends PlatformError {
  readonly code = 'misconfigured'
  readonly status = 500
  constructor(reason: string) {
    super(
      'This app is not set up correctly for the platform. Its operator has been told; your connection is kept.',
      {
        reason,
      },
    )
  }
}
