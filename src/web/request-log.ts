import { randomUUID } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import type { Logger } from 'pino'

declare module 'express-serve-static-core' {
  interface Request {
    /** Names this request in the log, on error pages and in the `X-Request-Id` header. */
    id: string
    /** The log of the app; say `requestId: req.id` with each line. */
    log: Logger
  }
}

/** Logs each request by its route, never by its url: queries hold codes, and paths hold contexts. */
export function requestLog(log: Logger): RequestHandler {
  // To look for secrets in a line whose fields are all chosen here takes longer than everything else about it.
  const lines = log.child({}, { redact: [] })
  return (req, res, next) => {
    const started = performance.now()
    const requestId = randomUUID()
    req.id = requestId
    req.log = log
    res.setHeader('X-Request-Id', requestId)
    res.on('close', () => {
      const ms = Math.round(performance.now() - started)
      const line = { requestId, method: req.method, route: routeOf(req), status: res.statusCode, ms }
      // A live page ends when its reader leaves.
      if (res.writableFinished || res.getHeader('content-type') === 'text/event-stream')
        lines.info(line, 'request')
      else lines.warn(line, 'request aborted')
    })
    next()
  }
}

function routeOf(req: Request): string {
  return req.route ? `${req.baseUrl}${req.route.path}` : '(none)'
}
