import type { Request, RequestHandler, Response } from 'express'
import { TITLES } from './errors.ts'

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
    let timer: NodeJS.Timeout | undefined
    const start = (limit: number) => {
      timer = setTimeout(() => timeOut(req, res), limit)
    }
    req.extendBodyDeadline = (limit) => {
      if (timer === undefined || req.complete) return
      clearTimeout(timer)
      start(limit)
    }
    const { 'content-length': length, 'transfer-encoding': encoding } = req.headers
    if (encoding !== undefined || Number(length ?? 0) > 0) {
      start(ms)
      for (const event of ['end', 'close']) req.once(event, () => clearTimeout(timer))
    }
    next()
  }
}

/** Responds directly, since downstream middleware is still waiting for the body, and closes the connection. */
function timeOut(req: Request, res: Response): void {
  // The body may have arrived but not been consumed.
  if (req.complete) return
  if (res.headersSent) return void req.destroy()
  const problem = {
    type: 'about:blank',
    title: TITLES.request_timeout,
    status: 408,
    code: 'request_timeout',
    requestId: req.id,
  }
  res.locals.failure = { code: problem.code }
  res.writeHead(408, { 'Content-Type': 'application/problem+json; charset=utf-8', Connection: 'close' })
  res.once('finish', () => req.destroy())
  res.end(JSON.stringify({ ...problem, detail: 'The request body took too long to arrive.' }))
}
