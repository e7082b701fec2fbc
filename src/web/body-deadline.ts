import type { RequestHandler } from 'express'

/** How long the body of a form may take to arrive, in ms. */
const FORM_MS = 30_000

/** Ends requests whose body trickles in; only an uploaded file may take its time. */
export function bodyDeadline(): RequestHandler {
  return (req, _res, next) => {
    if (!req.is(['multipart/form-data', 'text/csv'])) {
      const late = setTimeout(() => req.destroy(), FORM_MS)
      late.unref()
      for (const event of ['end', 'close']) req.once(event, () => clearTimeout(late))
      // A request without a body has ended before anyone listens.
      if (req.complete) clearTimeout(late)
    }
    next()
  }
}
