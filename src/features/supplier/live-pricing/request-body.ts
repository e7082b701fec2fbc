import { isUtf8 } from 'node:buffer'
import express, { type Request, type RequestHandler } from 'express'

/** Reads and decompresses a body of at most `limit` bytes of any Content-Type. Errors have the `status` 413, 415 or 400. */
export const readBody = (limit: number): RequestHandler => express.raw({ type: () => true, limit })

/** The text that `readBody` has read, without a byte order mark (RFC 8259 section 8.1); null if it is not UTF-8. */
export function bodyOf({ body }: Request): string | null {
  if (!Buffer.isBuffer(body)) return ''
  return isUtf8(body) ? body.toString().replace(/^\uFEFF/, '') : null
}
