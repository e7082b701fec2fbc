import type { Request, RequestHandler, Response } from 'express'
import { TITLES } from './errors.ts'

declare module 'express-serve-static-core' {
  interface Request {
    /** Gives the body of this request more time, in ms from now: for an upload by a signed-in user. */
    extendBodyDeadline(ms: number): void
  }
}

/** How long a body may take to arrive, in ms. */
const BODY_MS = 30_000
/** How long an uploaded file may take, in ms: a large one over a slow line. */
export const UPLOAD_MS = 900_000

/** Answers 408 when a body arrives too slowly. Only a route for files of signed-in users allows more time. */
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

/** Responds directly: downstream middleware is still waiting for the body. Then nothing more is read. */
function timeOut(req: Request, res: Response): void {
  // All of it may be here, and nobody has read it.
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
  res.end(JSON.stringify({ ...problem, detail: 'The body took too long to arrive.' }))
}
