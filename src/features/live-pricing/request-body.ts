import { isUtf8 } from 'node:buffer'
import express, { type Request, type RequestHandler } from 'express'

/** Reads and decompresses a body of at most `limit` bytes, whatever its Content-Type. Errors have the `status` 413, 415 or 400. */
export const readBody = (limit: number): RequestHandler => express.raw({ type: () => true, limit })

/** The body that `readBody` has read; empty if there is none. */
export const bodyOf = ({ body }: Request): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0))

/** A body as text, without a byte order mark (RFC 8259 section 8.1); null if it is not UTF-8. */
export const textOf = (body: Buffer): string | null =>
  isUtf8(body) ? body.toString().replace(/^\uFEFF/, '') : null
