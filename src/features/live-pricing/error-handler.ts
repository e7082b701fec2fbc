import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import type { Logger } from 'pino'
import { PATHS } from './contract.ts'
import { LivePricingError, TokenRequestError } from './errors.ts'

const TITLES: Record<number, string> = {
  400: 'Bad request',
  401: 'Not authorised',
  404: 'Not found',
  405: 'Method not allowed',
  413: 'Payload too large',
  415: 'Unsupported media type',
  429: 'Too many requests',
  503: 'Service unavailable',
}

/** Sends errors of the token endpoint as RFC 6749 section 5.2 requires, all others as problem documents (RFC 9457). */
export function livePricingErrorHandler(log: Logger): ErrorRequestHandler {
  return (error, req, res, next) => {
    if (res.headersSent) return next(error)
    const isToken = req.path === PATHS.token
    const { status, code, message, retryAfterMs, errors } = toErrorResponse(error)
    if (status === 500) log.error({ code, reason: describeUnexpected(error) }, 'request failed')
    if (retryAfterMs !== undefined)
      res.set('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
    res.status(status)
    if (isToken) {
      if (status === 401) res.set('WWW-Authenticate', 'Basic realm="live-pricing", charset="UTF-8"')
      return res.json({ error: tokenErrorCode(status, code), error_description: message })
    }
    if (status === 401)
      res.set(
        'WWW-Authenticate',
        `Bearer realm="live-pricing"${code === 'no_token' ? '' : `, error="${code}"`}`,
      )
    return sendProblem(req, res, { status, detail: message, code, ...(errors && { errors }) })
  }
}

function sendProblem(
  req: Request,
  res: Response,
  problem: { status: number; detail: string; code: string },
): void {
  const { status } = problem
  const members = { type: 'about:blank', title: TITLES[status] ?? 'Error' }
  res
    .status(status)
    .type('application/problem+json')
    .json({ ...members, ...problem, ...(req.id && { requestId: req.id }) })
}

interface ErrorResponse {
  status: number
  code: string
  message: string
  retryAfterMs?: number | undefined
  errors?: { path: string; message: string }[] | undefined
}

function toErrorResponse(error: unknown): ErrorResponse {
  if (error instanceof LivePricingError || error instanceof TokenRequestError) return error
  // Errors of Express and its body parser: the body is too large, truncated or in an unknown encoding.
  const { status } = (error ?? {}) as { status?: unknown }
  if (status === 413) return { status: 413, code: 'payload_too_large', message: 'The body is too large.' }
  if (status === 415)
    return {
      status,
      code: 'unknown_encoding',
      message: 'Unsupported Content-Encoding. Use gzip, deflate, br or none.',
    }
  if (typeof status === 'number' && status >= 400 && status < 500)
    return { status: 400, code: 'invalid_input', message: 'The request could not be read.' }
  return { status: 500, code: 'server_error', message: 'Something went wrong on our side. Please try again.' }
}

function tokenErrorCode(status: number, code: string): string {
  if (status === 405 || ['payload_too_large', 'invalid_input', 'unknown_encoding'].includes(code))
    return 'invalid_request'
  return code
}

/** The name of an error and where it was thrown. Its message is not logged, as it may contain secrets. */
export function describeUnexpected(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const [frame = ''] = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return `${error.name} ${frame.trim()}`
}

/** Mounted last below a base URL: returns 404 as a problem document for unknown paths. */
export const endpointNotFound: RequestHandler = (req, res) => {
  sendProblem(req, res, { status: 404, detail: 'There is no endpoint at this path.', code: 'not_found' })
}

/** Rejects unsupported methods (405). `methods`: the value of the `Allow` header. */
export function allowMethods(methods: string): RequestHandler {
  return (_req, res) => {
    res.set('Allow', methods)
    throw new LivePricingError(405, 'method_not_allowed', `This endpoint supports only ${methods}.`)
  }
}
