import { isUtf8 } from 'node:buffer'
import type { Request } from 'express'
import { badInput } from './errors.ts'

/** The bytes of a body that was read by express.raw; none when there was none. */
export const bodyOf = (req: Request): Buffer => (Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0))

/** A body as JSON, whatever type it says it has. Throws `LivePricingError` (400). */
export function fromJson(req: Request): unknown {
  const body = bodyOf(req)
  try {
    // A byte order mark is no part of the text (RFC 8259 section 8.1).
    if (isUtf8(body)) return JSON.parse(body.toString().replace(/^\uFEFF/, ''))
  } catch {
    // It is told below.
  }
  throw badInput([{ path: 'body', message: 'is not JSON in UTF-8' }])
}
