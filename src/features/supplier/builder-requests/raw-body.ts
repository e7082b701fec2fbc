import express, { type RequestHandler } from 'express'

/** Reads a body of at most `limit` bytes into `req.body`, a Buffer. A compressed body stays compressed. */
export function rawBody(limit: number): RequestHandler {
  const read = express.raw({ type: () => true, limit })
  return (req, res, next) => {
    const { 'content-encoding': encoding } = req.headers
    // Without this header, Express does not decompress it.
    delete req.headers['content-encoding']
    read(req, res, (error?: unknown) => {
      if (encoding !== undefined) req.headers['content-encoding'] = encoding
      req.body = Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0)
      next(error)
    })
  }
}
