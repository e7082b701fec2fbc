import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'
import helmet, { type HelmetOptions } from 'helmet'

export interface SecurityHeadersOptions {
  baseUrl: string
  /** URLs whose origins are added to `form-action`, which Chrome also applies to redirects after a form post. */
  formTargets: string[]
}

/** Security headers: no inline code, no third-party resources, no framing, no referrer, nothing cached. */
export function securityHeaders({ baseUrl, formTargets }: SecurityHeadersOptions): RequestHandler {
  const https = baseUrl.startsWith('https:')
  const origins = [...new Set(formTargets.map((url) => new URL(url).origin))]
  const headers = headersOf({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        connectSrc: ["'self'"],
        formAction: ["'self'", ...origins],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
        ...(https && { upgradeInsecureRequests: [] }),
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
    frameguard: { action: 'deny' },
    // Other hosts below this one may not have TLS.
    strictTransportSecurity: https && { includeSubDomains: false },
  })
  headers.set('Cache-Control', 'no-store')
  return (_req, res, next) => {
    for (const [name, value] of headers) res.setHeader(name, value)
    next()
  }
}

/** Helmet's headers. They are the same for every response, so they are computed once (npm run bench, rows of the leads route). */
function headersOf(options: HelmetOptions): Map<string, string> {
  const headers = new Map<string, string>()
  const response = {
    setHeader: (name: string, value: string) => headers.set(name, value),
    removeHeader: (name: string) => headers.delete(name),
  }
  helmet(options)({} as IncomingMessage, response as unknown as ServerResponse, (error) => {
    if (error) throw error
  })
  return headers
}
