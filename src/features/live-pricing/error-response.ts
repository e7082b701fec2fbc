import type { ServerResponse } from 'node:http'
import { LivePricingError, TokenRequestError } from './errors.ts'

/** Titles of problem documents, by status. */
export const TITLES: Record<number, string> = {
  400: 'Bad request',
  401: 'Not authorised',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'Request timeout',
  413: 'Payload too large',
  415: 'Unsupported media type',
  429: 'Too many requests',
  500: 'Internal server error',
  503: 'Service unavailable',
}

/** Sends serialized JSON. Node's `end` writes headers and body in one packet. */
export function sendJson(res: ServerResponse, json: string, type = 'application/json'): void {
  res.setHeader('Content-Type', `${type}; charset=utf-8`)
  res.end(json)
}

/** An error as callers see it. */
export interface Problem {
  status: number
  code: string
  message: string
  retryAfterMs?: number | undefined
  errors?: { path: string; message: string }[] | undefined
}

/** Sends an error of the token endpoint as RFC 6749 section 5.2 requires. */
export function sendTokenError(res: ServerResponse, { status, code, message, retryAfterMs }: Problem): void {
  setStatus(res, status, retryAfterMs)
  if (status === 401) res.setHeader('WWW-Authenticate', 'Basic realm="live-pricing", charset="UTF-8"')
  sendJson(res, JSON.stringify({ error: tokenErrorCode(status, code), error_description: message }))
}

/** Sends an error as a problem document (RFC 9457). */
export function sendProblem(
  res: ServerResponse,
  { status, code, message, retryAfterMs, errors }: Problem,
  requestId: string | undefined,
): void {
  setStatus(res, status, retryAfterMs)
  if (status === 401) {
    const error = code === 'no_token' ? '' : `, error="${code}"`
    res.setHeader('WWW-Authenticate', `Bearer realm="live-pricing"${error}`)
  }
  const title = TITLES[status] ?? 'Error'
  const problem = { type: 'about:blank', title, status, detail: message, code, errors, requestId }
  sendJson(res, JSON.stringify(problem), 'application/problem+json')
}

function setStatus(res: ServerResponse, status: number, retryAfterMs: number | undefined): void {
  res.statusCode = status
  if (retryAfterMs !== undefined)
    res.setHeader('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
}

/** What callers see of an error; unknown errors become `server_error` without detail. */
export function problemOf(error: unknown): Problem {
  if (error instanceof LivePricingError || error instanceof TokenRequestError) return error
  // Errors of the body parser: the body is too large, truncated or in an unknown encoding.
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
