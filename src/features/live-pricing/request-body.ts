import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import express from 'express'
import { badInput } from './errors.ts'

const NONE = Buffer.alloc(0)

/**
 * Returns a function that reads and decompresses a body of at most `limit` bytes, whatever its Content-Type; empty if
 * there is none. It throws errors with the `status` 413, 415 or 400.
 */
export function bodyReader(limit: number) {
  const parse = express.raw({ type: () => true, limit })
  return (req: IncomingMessage, res: ServerResponse): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      // Express's parser needs nothing of Express but this property.
      const request = req as IncomingMessage & { body?: unknown }
      parse(request as never, res as never, (error?: unknown) => {
        if (error) reject(error)
        else resolve(Buffer.isBuffer(request.body) ? request.body : NONE)
      })
    })
}

/** Parses a body as JSON. Throws `LivePricingError` (400). */
export function parseJson(body: Buffer): unknown {
  try {
    // Ignore a byte order mark (RFC 8259 section 8.1).
    if (isUtf8(body)) return parseExactly(body.toString().replace(/^\uFEFF/, ''))
  } catch {
    // Reported below.
  }
  throw badInput([{ path: 'body', message: 'must be JSON in UTF-8' }])
}

/** Numbers that may be beyond what a double holds exactly. */
const LARGE_NUMBER = /\d{16}|\d[eE]/

/** `JSON.parse`, but numbers above 9e15 keep their text (`JSON.isRawJSON`), so that a response can repeat them. */
function parseExactly(text: string): unknown {
  if (!LARGE_NUMBER.test(text)) return JSON.parse(text)
  return JSON.parse(text, (_key, value, context?: { source?: string }) => {
    const isExact = typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER
    return isExact || context?.source === undefined ? value : JSON.rawJSON(context.source)
  })
}
