import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import type { Logger } from 'pino'
import { PATHS } from './contract.ts'
import { LivePricingError, TokenRequestError } from './errors.ts'

const TITLES: Record<number, string> = {
  400: 'Bad request',
  401: 'Not authorised',
  404: 'Not found',
  405: 'Method not allowed',
  413: 'Too large',
  415: 'Unsupported media type',
  429: 'Too many requests',
  503: 'Not available',
}

/** Every error as its caller sees it: the token endpoint's by RFC 6749, the others as problem documents. */
export function answerError(log: Logger): ErrorRequestHandler {
  return (error, req, res, next) => {
    if (res.headersSent) return next(error)
    const isToken = req.path === PATHS.token
    const { status, code, message, retryAfterMs, errors } = publicFace(error)
    if (status === 500) log.error({ code, reason: faultOf(error) }, 'request failed')
    if (retryAfterMs !== undefined)
      res.set('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
    res.status(status)
    if (isToken) {
      if (status === 401) res.set('WWW-Authenticate', 'Basic realm="live-pricing", charset="UTF-8"')
      return res.json({ error: tokenError(status, code), error_description: message })
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
  const head = { type: 'about:blank', title: TITLES[status] ?? 'Error' }
  res
    .status(status)
    .type('application/problem+json')
    .json({ ...head, ...problem, ...(req.id && { requestId: req.id }) })
}

interface Face {
  status: number
  code: string
  message: string
  retryAfterMs?: number | undefined
  errors?: { path: string; message: string }[] | undefined
}

function publicFace(error: unknown): Face {
  if (error instanceof LivePricingError || error instanceof TokenRequestError) return error
  // What reading the body or the address throws: too large, cut off, of an unknown encoding.
  const { status } = (error ?? {}) as { status?: unknown }
  if (status === 413)
    return { status: 413, code: 'payload_too_large', message: 'The body is larger than is taken here.' }
  if (status === 415)
    return { status, code: 'unknown_encoding', message: 'The body must be as it is, or gzip, deflate or br.' }
  if (typeof status === 'number' && status >= 400 && status < 500)
    return { status: 400, code: 'invalid_input', message: 'The request could not be read.' }
  return { status: 500, code: 'server_error', message: 'The fault is ours. Please try again.' }
}

function tokenError(status: number, code: string): string {
  if (status === 405 || ['payload_too_large', 'invalid_input', 'unknown_encoding'].includes(code))
    return 'invalid_request'
  return code
}

/** An error's words may hold anything: only what it is, and where it was thrown. */
export function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const [place = ''] = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return `${error.name} ${place.trim()}`
}

/** Ends a base: what is at none of its addresses is answered as its callers expect. */
export const noSuchEndpoint: RequestHandler = (req, res) => {
  sendProblem(req, res, { status: 404, detail: 'There is nothing at this address.', code: 'not_found' })
}

/** Answers another method than those that an address takes (405). */
export function allowMethods(methods: string): RequestHandler {
  return (_req, res) => {
    res.set('Allow', methods)
    throw new LivePricingError(405, 'method_not_allowed', `This address takes ${methods}.`)
  }
}
