export interface AppErrorOptions {
  /** When it is worth trying again, in ms from now. */
  retryAfterMs?: number | undefined
  /** For the log: what happened, in words of ours. Never shown to callers. */
  reason?: string | undefined
  /** The field of the input or of an answer that is wrong. */
  field?: string | undefined
  /** Further members of the problem document (RFC 9457 section 3.2). */
  details?: Record<string, unknown>
}

/**
 * An error that this app explains: every error class extends it. It is built from chosen fields only and never wraps a
 * response, a request or a library's error: those hold tokens.
 */
export abstract class AppError extends Error {
  /** Stable, for programs: `not_connected`. */
  abstract readonly code: string
  /** The HTTP status that this app answers with. */
  abstract readonly status: number
  /** Whether callers may see the message; otherwise they get a general one. */
  readonly expose: boolean = true
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
