import { randomUUID } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import type { Logger } from 'pino'
import { requestContext } from '../connect/request-context.ts'

declare module 'express-serve-static-core' {
  interface Request {
    /** Names this request in the log, on error pages and in the `X-Request-Id` header. */
    id: string
    /** The log of the app. Its lines carry the request's id. */
    log: Logger
  }
  interface Locals {
    /** Why the request failed, for its log line: chosen fields, never a whole error. */
    failure?: { code: string; reason?: string | undefined; type?: string; at?: string[] }
  }
}

/**
 * One log line for each request, with its route, never its url: queries hold codes, and paths hold contexts. Of a 5xx
 * it is at level error, with the cause.
 */
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

/** A live page ends when its reader leaves. */
const isFinished = (res: Response) =>
  res.writableFinished || res.getHeader('content-type') === 'text/event-stream'

function routeOf(req: Request): string {
  return req.route ? `${req.baseUrl}${req.route.path}` : '(none)'
}
