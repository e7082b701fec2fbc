import type { Request, RequestHandler, Response } from 'express'
import { TITLES } from './errors.ts'

/** How long the body of a form may take to arrive, in ms. */
const FORM_MS = 30_000

/** Ends requests whose body trickles in by a 408; only an uploaded file may take its time, where files are taken. */
export function bodyDeadline({ ms = FORM_MS, files = true } = {}): RequestHandler {
  return (req, res, next) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = req.headers
    const hasBody = encoding !== undefined || Number(length ?? 0) > 0
    if (hasBody && !(files && req.is(['multipart/form-data', 'text/csv']))) {
      const late = setTimeout(() => tooSlow(req, res), ms)
      for (const event of ['end', 'close']) req.once(event, () => clearTimeout(late))
    }
    next()
  }
}

/** Answers without what stands behind, which still waits for the body; then nothing more is read. */
function tooSlow(req: Request, res: Response): void {
  // All of it may be here, and nobody has read it.
  if (req.complete) return
  if (res.headersSent) return void req.destroy()
  const problem = {
    type: 'about:blank',
    title: TITLES.too_slow,
    status: 408,
    code: 'too_slow',
    requestId: req.id,
  }
  res.writeHead(408, { 'Content-Type': 'application/problem+json; charset=utf-8', Connection: 'close' })
  res.once('finish', () => req.destroy())
  res.end(JSON.stringify({ ...problem, detail: 'The body took too long to arrive.' }))
}
