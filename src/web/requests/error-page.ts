import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import { ConnectError, StoreUnavailableError } from '../../connect/errors.ts'
import { WebError } from './errors.ts'
import { type Problem, problemOf, recordFailure, setStatus } from './problem.ts'
import { wantsJson } from './respond.ts'
import { localPath, pathOf } from './return-to.ts'

/** Throws 404 for every request. */
export const notFound: RequestHandler = () => {
  throw new WebError(404, 'not_found')
}

/** Sends an error as a page, or as `application/problem+json` (RFC 9457) with `code` and `requestId`. */
export const errorHandler: ErrorRequestHandler = (error, req, res, next) => {
  const problem = problemOf(error)
  const { status, code, title, extensions } = problem
  recordFailure(res, error, problem)
  if (res.headersSent) {
    // The response has started, so abort it. Otherwise a partial response would look complete.
    if (!res.writableEnded) res.destroy()
    return
  }
  res.vary('Accept')
  setStatus(res, problem)
  if (wantsJson(req)) {
    res.type('application/problem+json').json({
      type: 'about:blank',
      title,
      status,
      detail: problem.detail,
      code,
      requestId: req.id,
      ...extensions,
    })
  } else {
    const page = { ...problem, lead: leadOf(problem), ...recovery(req, error, problem), requestId: req.id }
    res.loadSections('app/error').then((controls) => res.page('app/error', { ...page, controls }), next)
  }
}

/** The text below the title of a page, without a repetition of the title. */
const leadOf = ({ title, detail }: Problem) =>
  detail.startsWith(`${title}.`) ? detail.slice(title.length + 1).trim() : detail

/** The next steps on an error page: connect, or try again. */
function recovery(req: Request, error: unknown, { next }: Problem) {
  const connects = next === 'connect' || next === 'consent'
  // Error handlers have no access to route parameters, so this reads the path, which is still encoded.
  const [, segment] = /^\/connections\/([^/]+)/.exec(pathOf(req)) ?? []
  return {
    recovery: connects ? 'connect' : next,
    returnTo: pageOf(req) ?? '/connections',
    /** The business that the page names and its button connects. Its name is in the store, so leave it out if the store failed. */
    bxcontext:
      error instanceof ConnectError
        ? error.expected
        : error instanceof StoreUnavailableError
          ? undefined
          : decoded(segment),
  }
}

/** Decodes a segment of a path; undefined if there is none, or if it is incorrectly encoded. */
function decoded(segment = ''): string | undefined {
  try {
    return decodeURIComponent(segment) || undefined
  } catch {
    return undefined
  }
}

/**
 * The page to return to: the page that was opened, or the page whose form was sent, from the `Referer` header. Null if there is
 * none. A page of the connect flow works only once, so its user has to begin again.
 */
function pageOf(req: Request): string | null {
  const { host, pathname, search } = URL.parse(req.get('referer') ?? '') ?? {}
  const page = req.method === 'GET' ? req.originalUrl : host === req.host ? `${pathname}${search}` : null
  return page !== null && /^\/connect\/[^?]/i.test(page) ? '/connect' : localPath(page)
}
