import { randomUUID } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import type { Logger } from 'pino'
import { requestContext } from '../../connect/index.ts'

/** Why a request failed, for its log line: selected fields, never a whole error. */
export interface Failure {
  code: string
  reason?: string | undefined
  type?: string
  at?: string[]
}

/** A request whose response has ended. */
export interface HttpRequestEvent {
  method: string
  /** The route, such as `/connections/:bxcontext/leads`, or `(none)`. */
  route: string
  status: number
  ms: number
}

const listeners = new Set<(event: HttpRequestEvent) => void>()

/** Calls `listener`, which must not throw, when the response to a request has ended. Returns a function that unsubscribes. */
export function onRequest(listener: (event: HttpRequestEvent) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

declare module 'express-serve-static-core' {
  interface Request {
    /** Identifies this request in the log, on error pages and in the `X-Request-Id` header. */
    id: string
    /** The app's logger, which adds the request id to each line. */
    log: Logger
  }
  interface Locals {
    failure?: Failure
    mountPath?: string
  }
}

/** Runs before the router of a part. Notes its path for the log, because `req.baseUrl` contains the values of the parameters. */
export const noteMount =
  (path: string): RequestHandler =>
  (_req, res, next) => {
    res.locals.mountPath = path
    next()
  }

/** The path of a route of a part, such as `/connections/:bxcontext/leads/:id`. */
export const templateOf = (mountPath: string, routePath: string): string =>
  (mountPath === '/' ? '' : mountPath) + (routePath === '/' && mountPath !== '/' ? '' : routePath)

/**
 * Gives a request an id, sets `X-Request-Id`, and logs one line when the response ends. The line includes the route but not the
 * URL, whose query may contain an authorization code and whose path may contain a bxcontext. 5xx responses are logged at level
 * error, with the cause. All log lines of the request include its id, and the id of its connect flow.
 */
export function requestLog(log: Logger): RequestHandler {
  // These lines contain only the fields below, so skip the redaction, which would take most of the time.
  const lines = log.child({}, { redact: [] })
  return (req, res, next) => {
    const started = performance.now()
    const requestId = randomUUID()
    const context = { requestId }
    // Pages load many assets, and check every few seconds whether they are up to date.
    const isFrequent = /^\/assets\/|\/live$/.test(req.url)
    req.log = log
    req.id = requestId
    res.setHeader('X-Request-Id', requestId)
    res.on('close', () => {
      const { method } = req
      const event = {
        method,
        route: routeOf(req, res),
        status: res.statusCode,
        ms: Math.round(performance.now() - started),
      }
      for (const listener of listeners) listener(event)
      const line = { ...context, ...event, ...res.locals.failure }
      if (!res.writableFinished) lines.warn(line, 'request aborted')
      else if (event.status >= 500) lines.error(line, 'request failed')
      else if (event.status < 400 && isFrequent) lines.debug(line, 'request')
      else lines.info(line, 'request')
    })
    requestContext.run(context, next)
  }
}

const routeOf = ({ route }: Request, { locals }: Response): string =>
  route ? templateOf(locals.mountPath ?? '/', route.path) : '(none)'
