import express, { type RequestHandler, Router } from 'express'
import { isTooDeep } from '../../connect/index.ts'
import { texts } from '../texts.ts'
import { badInput, WebError } from './errors.ts'
import { pathOf } from './return-to.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * CSRF protection without tokens, following Go's `http.CrossOriginProtection`. Rejects unsafe cross-origin requests
 * based on `Sec-Fetch-Site`, or `Origin` in browsers that don't send it. Requests with neither header don't come from a
 * browser, so they carry no ambient cookies.
 */
export function csrfProtection(baseUrl: string): RequestHandler {
  const ownOrigin = new URL(baseUrl).origin
  return (req, _res, next) => {
    if (SAFE_METHODS.has(req.method)) return next()
    const site = req.get('sec-fetch-site')
    const origin = req.get('origin')
    const host = req.get('host')
    const isOwnOrigin =
      origin === undefined || origin === ownOrigin || (host !== undefined && URL.parse(origin)?.host === host)
    // Firefox also sends `none` after a redirect from another site that hides the referrer, with `Origin: null`.
    const isSameOrigin = site === undefined || site === 'none' ? isOwnOrigin : site === 'same-origin'
    if (isSameOrigin) return next()
    throw new WebError(403, 'csrf_rejected')
  }
}

/** Refuses text that is not valid Unicode, because stores and platforms can't keep it. JSON can contain it, but forms can't. */
function wellFormed(key: string, value: unknown): unknown {
  if (key.isWellFormed() && (typeof value !== 'string' || value.isWellFormed())) return value
  throw new SyntaxError('half of a surrogate pair')
}

/** Refuses control characters in paths, because paths contain ids. */
export const textualPath: RequestHandler = (req, _res, next) => {
  if (/%([01]|7f|c2%[89])/i.test(pathOf(req))) throw badInput('path', texts.rules.controlCharacters)
  next()
}

/** Protects requests with unsafe methods against other sites, and reads their bodies. */
export function unsafeRequests(baseUrl: string): RequestHandler {
  const limit = '64kb'
  const handle = Router().use(
    csrfProtection(baseUrl),
    express.urlencoded({ extended: false, limit }),
    express.json({ limit, reviver: wellFormed, verify: (_req, _res, body) => refuseTooDeep(body) }),
  )
  return (req, res, next) => (SAFE_METHODS.has(req.method) ? next() : handle(req, res, next))
}

function refuseTooDeep(body: Buffer): void {
  if (isTooDeep(body.toString())) throw new WebError(400, 'invalid_request')
}
