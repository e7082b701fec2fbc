import type { RequestHandler } from 'express'
import helmet from 'helmet'

/**
 * Sets the security headers for the app at `baseUrl`. They allow no inline code, no third-party resources and no framing. No form
 * or referrer goes to another origin. Nothing is cached, unless a handler such as `assets` says otherwise.
 */
export function securityHeaders(baseUrl: string): RequestHandler {
  const https = baseUrl.startsWith('https:')
  const headers = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        connectSrc: ["'self'"],
        // No form of ours leads to another origin: see `sendOnward`.
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
        ...(https && { upgradeInsecureRequests: [] }),
      },
    },
    // With `no-referrer`, browsers would send `Origin: null` with our own forms. On plain http, nothing else shows that a form is
    // ours.
    referrerPolicy: { policy: 'same-origin' },
    frameguard: { action: 'deny' },
    // Other hosts below this one may not have TLS.
    strictTransportSecurity: https && { includeSubDomains: false },
  })
  return (req, res, next) => {
    res.setHeader('Cache-Control', 'no-store')
    headers(req, res, next)
  }
}
