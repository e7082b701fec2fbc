import type { RequestHandler } from 'express'
import { WebError } from './errors.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses unsafe requests that a browser sends for another site: by `Sec-Fetch-Site`, or by `Origin` where a
 * browser does not send that. A request with neither does not come from a browser, so it carries no cookie worth forging.
 * No tokens in forms are needed; this is the design of Go's `http.CrossOriginProtection`.
 */
export function refuseCrossSite(baseUrl: string): RequestHandler {
  const own = new URL(baseUrl).origin
  return (req, _res, next) => {
    if (SAFE.has(req.method)) return next()
    const site = req.get('sec-fetch-site')
    const origin = req.get('origin')
    const sameSite =
      site !== undefined
        ? site === 'same-origin' || site === 'none'
        : origin === undefined || origin === own || URL.parse(origin)?.host === req.get('host')
    if (sameSite) return next()
    throw new WebError(403, 'csrf_rejected', 'This request came from another site and was not carried out.')
  }
}
