export interface AppErrorOptions {
  /** When to retry, in ms from now. */
  retryAfterMs?: number | undefined
  /** The cause, for the log only. Callers never see it. */
  reason?: string | undefined
  /** The field of the input or of an answer that is invalid. */
  field?: string | undefined
  /** Additional members of the problem document (RFC 9457 section 3.2). */
  details?: Record<string, unknown>
}

/**
 * The base class of all errors with a code. An error contains selected fields only. It never wraps a response, a request or a
 * library's error, because those contain tokens.
 */
export abstract class AppError extends Error {
  /** A stable code for programs, for example `not_connected`. */
  abstract readonly code: string
  /** The HTTP status of this app's response. */
  abstract readonly status: number
  /** A short summary for users (RFC 9457 section 3.1.3), shown with the message. If null, pages have a text for the code. */
  abstract readonly title: string | null
  /** Tells an error handler of Express, as `http-errors` does, that callers may see the message (docs/guides.md). */
  readonly expose = true
  readonly retryAfterMs: number | undefined
  readonly reason: string | undefined
  readonly field: string | undefined
  readonly details: Record<string, unknown>

  constructor(message: string, options: AppErrorOptions = {}) {
    super(message)
    this.name = new.target.name
    this.retryAfterMs = options.retryAfterMs
    this.reason = options.reason
    this.field = options.field
    this.details = options.details ?? {}
  }
}

/** The codes of the core's errors, except those of a failed connect flow (`FailureCode`). */
export type CoreErrorCode =
  | 'not_connected'
  | 'connection_revoked'
  | 'grant_rejected'
  | 'insufficient_scope'
  | 'platform_unavailable'
  | 'outcome_unknown'
  | 'platform_rejected'
  | 'refresh_too_soon'
  | 'not_found'
  | 'misconfigured'
  | 'store_unavailable'
  | 'record_decryption_failed'

/** An error of the core. Its message is for developers. */
export abstract class CoreError extends AppError {
  abstract override readonly code: CoreErrorCode
  readonly title = null
}
