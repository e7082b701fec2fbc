import { STATUS_CODES } from 'node:http'
import type { ErrorRequestHandler, Response } from 'express'
import { PATHS } from '../../supplier-api/contract.ts'
import { type ErrorCode, LivePricingError, tokenErrorCode } from './errors.ts'

/** Sends an error as a problem document, or as RFC 6749 section 5.2 requires if it is one of the token endpoint. */
export const errorResponse: ErrorRequestHandler = (thrown, req, res, _next) => {
  const error = toLivePricingError(thrown)
  // The response to a slow body has been sent.
  if (res.headersSent) return
  res.locals.failure = { code: error.code, ...(error.status === 500 && placeOf(thrown)) }
  res.status(error.status)
  const { status, retryAfterMs = status === 503 ? 1000 : undefined } = error
  if (retryAfterMs !== undefined) res.set('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
  if (req.path === PATHS.token) sendTokenError(res, error)
  else sendProblem(res, error, req.id)
}

function sendTokenError(res: Response, { status, code, message }: LivePricingError): void {
  if (status === 401) res.set('WWW-Authenticate', 'Basic realm="live-pricing", charset="UTF-8"')
  res.json({ error: tokenErrorCode(code), error_description: message })
}

function sendProblem(
  res: Response,
  { status, code, message, errors }: LivePricingError,
  requestId: string,
): void {
  if (status === 401) {
    const error = code === 'no_token' ? '' : `, error="${code}"`
    res.set('WWW-Authenticate', `Bearer realm="live-pricing"${error}`)
  }
  res.type('application/problem+json').json({ ...problemOf(status, code, message), errors, requestId })
}

/** A problem document (RFC 9457); its title is that of the status, as `about:blank` requires. */
export const problemOf = (status: number, code: ErrorCode, detail: string) => ({
  type: 'about:blank',
  title: STATUS_CODES[status],
  status,
  detail,
  code,
})

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

/** The name of an error and where it was thrown. Its message is not logged, as it may contain secrets. */
function placeOf(error: unknown): { type: string; at: string[] } {
  if (!(error instanceof Error)) return { type: typeof error, at: [] }
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return { type: error.name, at: frames.slice(0, 6).map((line) => line.trim()) }
}
