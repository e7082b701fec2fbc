import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'
import type { Failure } from './request-log.ts'
import { texts } from './texts.ts'

declare module 'express-serve-static-core' {
  interface Request {
    /** Extends the time allowed for this request's body, in ms from now. */
    extendBodyDeadline(ms: number): void
  }
}

/** Time allowed for a request body, in ms. */
const BODY_MS = 30_000
/** Time allowed for an uploaded file, in ms. */
export const UPLOAD_MS = 900_000

/** Returns 408 if a body takes too long to arrive. Upload routes for signed-in users extend the deadline. */
export function bodyDeadline({ ms = BODY_MS } = {}): RequestHandler {
  return (req, res, next) => {
    const onTimeout = (failure: Failure) => {
      res.locals.failure = failure
    }
    req.extendBodyDeadline = startBodyDeadline(req, res, { ms, requestId: req.id, onTimeout })
    next()
  }
}

export interface BodyDeadlineOptions {
  /** Time allowed for the body, in ms; 30,000 by default. */
  ms?: number
  requestId: string
  /** Called before the response is sent, with the failure for the log. */
  onTimeout(failure: Failure): void
}

/** `bodyDeadline` for one request. Returns a function that extends the deadline, in ms from now. */
function startBodyDeadline(
  req: IncomingMessage,
  res: ServerResponse,
  { ms = BODY_MS, requestId, onTimeout }: BodyDeadlineOptions,
): (ms: number) => void {
  let timer: NodeJS.Timeout | undefined
  const start = (limit: number) => {
    timer = setTimeout(() => {
      // The body may have arrived but not been consumed.
      if (req.complete) return
      if (res.headersSent) return void req.destroy()
      onTimeout({ code: 'request_timeout' })
      sendTimeout(req, res, requestId)
    }, limit)
  }
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers
  if (encoding !== undefined || Number(length ?? 0) > 0) {
    start(ms)
    for (const event of ['end', 'close']) req.once(event, () => clearTimeout(timer))
  }
  return (limit) => {
    if (timer === undefined || req.complete) return
    clearTimeout(timer)
    start(limit)
  }
}

/** Responds directly, since downstream code is still waiting for the body, and closes the connection. */
function sendTimeout(req: IncomingMessage, res: ServerResponse, requestId: string): void {
  const problem = {
    type: 'about:blank',
    ...texts.errors.request_timeout,
    status: 408,
    code: 'request_timeout',
    requestId,
  }
  res.writeHead(408, { 'Content-Type': 'application/problem+json; charset=utf-8', Connection: 'close' })
  res.once('finish', () => req.destroy())
  res.end(JSON.stringify(problem))
}
