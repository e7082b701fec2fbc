/** A call of Interface A that fails as a whole; answered as a problem document (RFC 9457). */
export class LivePricingError extends Error {
  readonly status: number
  readonly code: string
  readonly errors: { path: string; message: string }[] | undefined
  readonly retryAfterMs: number | undefined
  constructor(
    status: number,
    code: string,
    message: string,
    more: { errors?: { path: string; message: string }[]; retryAfterMs?: number } = {},
  ) {
    super(message)
    this.name = 'LivePricingError'
    this.status = status
    this.code = code
    this.errors = more.errors
    this.retryAfterMs = more.retryAfterMs
  }
}

/** A refusal that names each problem by its place. */
export function badInput(errors: { path: string; message: string }[]): LivePricingError {
  const [first] = errors
  const more = errors.length > 1 ? ` All ${errors.length} problems are in errors.` : ''
  return new LivePricingError(400, 'invalid_input', `${first?.path}: ${first?.message}.${more}`, { errors })
}

/** A token request that is refused; answered as RFC 6749 section 5.2 says. */
export class TokenRequestError extends Error {
  readonly status: number
  readonly error: string
  readonly retryAfterMs: number | undefined
  constructor(status: number, error: string, message: string, retryAfterMs?: number) {
    super(message)
    this.name = 'TokenRequestError'
    this.status = status
    this.error = error
    this.retryAfterMs = retryAfterMs
  }
}
