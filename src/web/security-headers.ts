import type { RequestHandler } from 'express'
import helmet from 'helmet'

/**
 * Security headers for the app at `baseUrl`: no inline code, no third-party resources, no framing, no form or referrer that
 * goes to another origin, nothing cached.
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
    // Not `no-referrer`: browsers would send `Origin: null` with our own forms, and on plain http nothing else tells whose they are.
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
