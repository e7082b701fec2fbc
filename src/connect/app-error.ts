export interface AppErrorOptions {
  /** A short summary for pages (RFC 9457 section 3.1.3). */
  title?: string | undefined
  /** When to retry, in ms from now. */
  retryAfterMs?: number | undefined
  /** What happened, for the log only: callers never see it. */
  reason?: string | undefined
  /** The field of the input or of an answer that is invalid. */
  field?: string | undefined
  /** Additional members of the problem document (RFC 9457 section 3.2). */
  details?: Record<string, unknown>
}

/**
 * The base class of all errors with a code. What users read about an error of the core is the text of its code, which the pages
 * have; the message is for developers. An error is built from chosen fields only and never wraps a response, a request or a library's error,
 * because those contain tokens.
 */
export abstract class AppError extends Error {
  /** A stable code for programs, for example `not_connected`. */
  abstract readonly code: string
  /** The HTTP status of this app's response. */
  abstract readonly status: number
  /** Callers may see the message: for an error handler of Express (docs/use-the-core.md), as in `http-errors`. */
  readonly expose = true
  readonly retryAfterMs: number | undefined
  readonly reason: string | undefined
  readonly field: string | undefined
  readonly details: Record<string, unknown>
  readonly title: string | undefined

  constructor(message: string, options: AppErrorOptions = {}) {
    super(message)
    this.name = new.target.name
    this.title = options.title
    this.retryAfterMs = options.retryAfterMs
    this.reason = options.reason
    this.field = options.field
    this.details = options.details ?? {}
  }
}
