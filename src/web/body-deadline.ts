import type { RequestHandler } from 'express'

/** How long the body of a form may take to arrive, in ms. */
const FORM_MS = 30_000

/** Ends requests whose body trickles in; only an uploaded file may take its time, where files are taken. */
export function bodyDeadline({ ms = FORM_MS, files = true } = {}): RequestHandler {
  return (req, _res, next) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = req.headers
    const hasBody = encoding !== undefined || Number(length ?? 0) > 0
    if (hasBody && !(files && req.is(['multipart/form-data', 'text/csv']))) {
      const late = setTimeout(() => req.destroy(), ms)
      for (const event of ['end', 'close']) req.once(event, () => clearTimeout(late))
    }
    next()
  }
}
