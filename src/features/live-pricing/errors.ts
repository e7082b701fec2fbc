import { AppError } from '../../connect/app-error.ts'

/** A call of the live pricing API that fails as a whole; answered as a problem document (RFC 9457). */
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

/** A rejection that names each problem by its place. */
export function badInput(errors: { path: string; message: string }[]): LivePricingError {
  const [first] = errors
  const more = errors.length > 1 ? ` All ${errors.length} problems are in errors.` : ''
  return new LivePricingError(400, 'invalid_input', `${first?.path}: ${first?.message}.${more}`, { errors })
}

/** A token request that is rejected; answered as RFC 6749 section 5.2 requires. */
export class TokenRequestError extends AppError {
  readonly status: number
  /** The `error` of RFC 6749 section 5.2. */
  readonly code: string
  constructor(status: number, code: string, message: string, retryAfterMs?: number) {
    super(message, { retryAfterMs })
    this.status = status
    this.code = code
  }
}
