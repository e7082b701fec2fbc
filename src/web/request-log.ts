import { randomUUID } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import type { Logger } from 'pino'

declare module 'express-serve-static-core' {
  interface Request {
    /** Names this request in the log, on error pages and in the `X-Request-Id` header. */
    id: string
    log: Logger
  }
}

/** Logs each request by its route, never by its url: queries hold codes, and paths hold contexts. */
export function requestLog(log: Logger): RequestHandler {
  return (req, res, next) => {
    const started = performance.now()
    req.id = randomUUID()
    req.log = log.child({ requestId: req.id })
    res.set('X-Request-Id', req.id)
    res.on('close', () => {
      const ms = Math.round(performance.now() - started)
      const line = { method: req.method, route: routeOf(req), status: res.statusCode, ms }
      // A live page ends when its reader leaves.
      if (res.writableFinished || res.getHeader('content-type') === 'text/event-stream')
        req.log.info(line, 'request')
      else req.log.warn(line, 'request aborted')
    })
    next()
  }
}

function routeOf(req: Request): string {
  return req.route ? `${req.baseUrl}${req.route.path}` : '(none)'
}
