import { isUtf8 } from 'node:buffer'
import type { Request } from 'express'
import { badInput } from './errors.ts'

/** The body as read by `express.raw`; empty if there is none. */
export const bodyOf = (req: Request): Buffer => (Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0))

/** Parses the body as JSON, whatever its Content-Type. Throws `LivePricingError` (400). */
export function parseJsonBody(req: Request): unknown {
  const body = bodyOf(req)
  try {
    // Ignore a byte order mark (RFC 8259 section 8.1).
    if (isUtf8(body)) return JSON.parse(body.toString().replace(/^\uFEFF/, ''))
  } catch {
    // Reported below.
  }
  throw badInput([{ path: 'body', message: 'must be JSON in UTF-8' }])
}
