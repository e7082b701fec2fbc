import type { RequestHandler } from 'express'
import helmet from 'helmet'

/**
 * Security headers: no inline code, no third-party resources, no framing, no referrer. `formTargets` are URLs whose
 * origins are added to `form-action`, which Chrome also applies to redirects after a form post.
 */
export function securityHeaders({
  baseUrl,
  formTargets,
}: {
  baseUrl: string
  formTargets: string[]
}): RequestHandler[] {
  const https = baseUrl.startsWith('https:')
  const origins = [...new Set(formTargets.map((url) => new URL(url).origin))]
  return [
    helmet({
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
    }),
    (_req, res, next) => {
      res.set('Cache-Control', 'no-store')
      next()
    },
  ]
}
