import type { RequestHandler } from 'express'
import helmet from 'helmet'

/**
 * Sets the security headers for the app at `baseUrl`. They forbid inline code, third-party resources and framing. Forms and
 * referrers never go to another origin. Responses are not cached, unless a handler such as `assets` allows it.
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
        // Our forms never lead to another origin: see `sendOnward`.
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
        ...(https && { upgradeInsecureRequests: [] }),
      },
    },
    // With `no-referrer`, browsers would send `Origin: null` with our own forms. On plain http, only `Origin` shows that a form is
    // ours.
    referrerPolicy: { policy: 'same-origin' },
    frameguard: { action: 'deny' },
    // Subdomains of this host may not have TLS.
    strictTransportSecurity: https && { includeSubDomains: false },
  })
  return (req, res, next) => {
    res.setHeader('Cache-Control', 'no-store')
    headers(req, res, next)
  }
}
