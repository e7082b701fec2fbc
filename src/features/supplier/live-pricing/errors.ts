import { STATUS_CODES } from 'node:http'
import type { ErrorRequestHandler } from 'express'
import { AppError } from '../../../connect/errors.ts'
import { recordFailure } from '../../../web/feature-api.ts'
import { PATHS } from '../api/contract.ts'

/** The status of each error of the API, and the default text for callers. */
const API_ERRORS = {
  invalid_input: { status: 400, detail: 'The request is invalid or cannot be read.' },
  no_token: {
    status: 401,
    detail: 'Authorization: Bearer with an access token is required. Get one from POST /connect/token.',
  },
  invalid_token: { status: 401, detail: 'The access token is invalid or has expired. Request a new one.' },
  not_found: { status: 404, detail: 'This store does not exist.' },
  method_not_allowed: { status: 405, detail: 'This endpoint does not support the method.' },
  payload_too_large: { status: 413, detail: 'The body is too large.' },
  unknown_encoding: { status: 415, detail: 'Unsupported Content-Encoding. Use gzip, deflate, br or none.' },
  too_many_requests: { status: 429, detail: 'Too many requests. Try again later.' },
  server_error: { status: 500, detail: 'Something went wrong on our side. Please try again.' },
  stores_unavailable: { status: 503, detail: 'Store data is temporarily unavailable.' },
} as const

/**
 * The errors that only the token endpoint returns, by their code in RFC 6749 section 5.2; `temporarily_unavailable` is from
 * section 4.1.2.1.
 */
const TOKEN_ERRORS = {
  invalid_request: {
    status: 400,
    detail: 'The request is malformed, or a parameter is missing or repeated.',
  },
  unsupported_grant_type: { status: 400, detail: 'The grant type must be client_credentials.' },
  invalid_client: { status: 401, detail: 'The client id or client secret is incorrect.' },
  temporarily_unavailable: { status: 429, detail: 'Too many failed attempts. Try again later.' },
} as const

export const ERRORS = { ...API_ERRORS, ...TOKEN_ERRORS }
export type ErrorCode = keyof typeof ERRORS

/** A problem with the input, and its place, such as `items[3].storeId`. */
export interface InputProblem {
  path: string
  message: string
}

/** A failed call of the live pricing API. */
export class LivePricingError extends AppError {
  readonly code: ErrorCode
  readonly status: number
  // The response has the title of its status.
  readonly title = null
  readonly errors: readonly InputProblem[] | undefined
  /** `detail`: the text for the caller, which replaces the text of the code. */
  constructor(
    code: ErrorCode,
    options: { detail?: string; errors?: readonly InputProblem[]; retryAfterMs?: number } = {},
  ) {
    super(options.detail ?? ERRORS[code].detail, { retryAfterMs: options.retryAfterMs })
    this.code = code
    this.status = ERRORS[code].status
    this.errors = options.errors
  }
}

/** A 400 error that lists every problem with its path. */
export function badInput(errors: readonly InputProblem[]): LivePricingError {
  const [first] = errors
  const hint = errors.length > 1 ? ` See errors for all ${errors.length} problems.` : ''
  return new LivePricingError('invalid_input', {
    detail: `${first?.path}: ${first?.message}.${hint}`,
    errors,
  })
}

/** Sends an error as a problem document. Errors of the token endpoint are sent as RFC 6749 section 5.2 requires. */
export const errorResponse: ErrorRequestHandler = (thrown, req, res, _next) => {
  const error = toLivePricingError(thrown)
  const { code, status, message, errors, retryAfterMs = status === 503 ? 1000 : undefined } = error
  // A request with a slow body may already have its response.
  if (res.headersSent) return
  recordFailure(res, thrown, error)
  res.status(status)
  if (retryAfterMs !== undefined) res.set('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
  const reason = code === 'invalid_token' ? `, error="${code}"` : ''
  if (status === 401) res.set('WWW-Authenticate', `Bearer realm="live-pricing"${reason}`)
  if (req.path === PATHS.token) return void res.json(tokenErrorOf(code, message))
  res.type('application/problem+json').json({ ...problemOf(code, message), errors, requestId: req.id })
}

/** The body of an error of the token endpoint (RFC 6749 section 5.2). */
export const tokenErrorOf = (code: ErrorCode, detail: string = ERRORS[code].detail) => ({
  error: code in TOKEN_ERRORS || code === 'server_error' ? code : 'invalid_request',
  error_description: detail,
})

/** A problem document (RFC 9457) with the title of the status, as `about:blank` requires. */
export function problemOf(code: ErrorCode, detail: string = ERRORS[code].detail) {
  const { status } = ERRORS[code]
  return { type: 'about:blank', title: STATUS_CODES[status], status, detail, code }
}

/** Unknown errors become `server_error` without detail. */
function toLivePricingError(error: unknown): LivePricingError {
  if (error instanceof LivePricingError) return error
  // Errors of Express and its body parser.
  const { status }: { status?: unknown } = Object(error)
  if (status === 413) return new LivePricingError('payload_too_large')
  if (status === 415) return new LivePricingError('unknown_encoding')
  const isOfCaller = typeof status === 'number' && status >= 400 && status < 500
  return new LivePricingError(isOfCaller ? 'invalid_input' : 'server_error')
}
