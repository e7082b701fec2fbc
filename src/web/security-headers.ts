import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { RequestHandler } from 'express'
import helmet, { type HelmetOptions } from 'helmet'

/**
 * Security headers for the app at `baseUrl`: no inline code, no third-party resources, no framing, no form or referrer that
 * goes to another origin, nothing cached.
 */
export function securityHeaders(baseUrl: string): RequestHandler {
  const https = baseUrl.startsWith('https:')
  const headers = headersOf({
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
  headers.set('cache-control', 'no-store')
  return (_req, res, next) => {
    res.setHeaders(headers)
    next()
  }
}

/** Helmet's headers. They are the same for every response, so they are computed once (npm run bench, rows of the leads route). */
function headersOf(options: HelmetOptions): Map<string, string> {
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  helmet(options)(request, response, (error) => {
    if (error) throw error
  })
  return new Map(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]))
}
