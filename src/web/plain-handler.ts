import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

/** Handles some requests without Express, for routes that need the speed. It has to log them and handle its own errors. */
export interface PlainHandler {
  /** Such as `GET /stores/:id`, as in the documentation. */
  routes: readonly string[]
  /** Handles a request, or returns false if it belongs to another route. */
  handle(req: IncomingMessage, res: ServerResponse): boolean
}

/** Passes each request to the first handler that wants it, or else to the Express app. */
export function inFrontOf(app: RequestListener, handlers: readonly PlainHandler[]): RequestListener {
  return (req, res) => {
    const { url = '' } = req
    // Express passes a target that it cannot parse, such as `http://[`, to no middleware. As a path, it is logged and not found.
    if (!url.startsWith('/') && !URL.canParse(url, 'http://host')) req.url = `/${encodeURIComponent(url)}`
    if (!handlers.some(({ handle }) => handle(req, res))) app(req, res)
  }
}
