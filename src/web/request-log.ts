import { randomUUID } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import type { Logger } from 'pino'
import { requestContext } from '../connect/request-context.ts'

declare module 'express-serve-static-core' {
  interface Request {
    /** Identifies this request in the log, on error pages and in the `X-Request-Id` header. */
    id: string
    /** The app's logger, which adds the request id to each line. */
    log: Logger
  }
  interface Locals {
    /** Why the request failed, for its log line: selected fields, never a whole error. */
    failure?: { code: string; reason?: string | undefined; type?: string; at?: string[] }
  }
}

/**
 * Logs one line per request. Includes the route but not the URL, whose query may contain an authorization code and
 * whose path may contain a bxcontext. Logs 5xx responses at level error, with the cause.
 */
export function requestLog(log: Logger): RequestHandler {
  // These lines contain only the fields below, so skip redaction, which would take most of the time.
  const lines = log.child({}, { redact: [] })
  return (req, res, next) => {
    const started = performance.now()
    const requestId = randomUUID()
    req.id = requestId
    req.log = log
    res.setHeader('X-Request-Id', requestId)
    res.on('close', () => {
      const ms = Math.round(performance.now() - started)
      const { failure } = res.locals
      const line = {
        requestId,
        method: req.method,
        route: routeOf(req),
        status: res.statusCode,
        ms,
        ...failure,
      }
      if (!isFinished(res)) lines.warn(line, 'request aborted')
      else if (res.statusCode >= 500) lines.error(line, 'request failed')
      else if (res.statusCode < 400 && req.originalUrl.startsWith('/assets/')) lines.debug(line, 'request')
      else lines.info(line, 'request')
    })
    requestContext.run({ requestId }, next)
  }
}

/** Event streams finish when the client disconnects. */
const isFinished = (res: Response) =>
  res.writableFinished || res.getHeader('content-type') === 'text/event-stream'

function routeOf(req: Request): string {
  return req.route ? `${req.baseUrl}${req.route.path}` : '(none)'
}
