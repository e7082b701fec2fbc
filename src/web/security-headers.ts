import type { RequestHandler } from 'express'
import helmet from 'helmet'

/**
 * Strict headers: nothing inline, nothing from elsewhere, no framing, no referrer. `form-action` names the
 * platform's origins, as Chrome applies it to the redirects that follow a form post.
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
      strictTransportSecurity: https,
    }),
    (_req, res, next) => {
      res.set('Cache-Control', 'no-store')
      next()
    },
  ]
}
