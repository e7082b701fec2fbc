import { AppError } from '../../connect/errors.ts'

/** A failed call of the live pricing API, sent as a problem document (RFC 9457). */
export class LivePricingError extends AppError {
  readonly status: number
  readonly code: string
  readonly errors: { path: string; message: string }[] | undefined
  constructor(
    status: number,
    code: string,
    message: string,
    options: { errors?: { path: string; message: string }[]; retryAfterMs?: number } = {},
  ) {
    super(message, { retryAfterMs: options.retryAfterMs })
    this.status = status
    this.code = code
    this.errors = options.errors
  }
}

/** A 400 error that lists every problem with its path. */
export function badInput(errors: { path: string; message: string }[]): LivePricingError {
  const [first] = errors
  const hint = errors.length > 1 ? ` See errors for all ${errors.length} problems.` : ''
  return new LivePricingError(400, 'invalid_input', `${first?.path}: ${first?.message}.${hint}`, { errors })
}

/** A rejected token request, sent as RFC 6749 section 5.2 requires. */
export class TokenRequestError extends AppError {
  readonly status: number
  /** The `error` code of RFC 6749 section 5.2. */
  readonly code: string
  constructor(status: number, code: string, message: string, retryAfterMs?: number) {
    super(message, { retryAfterMs })
    this.status = status
    this.code = code
  }
}
