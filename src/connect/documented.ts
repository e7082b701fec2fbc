import type { IncomingMessage, ServerResponse } from 'node:http'
import type * as z from 'zod'

/** What a route does, for readers and for programs. */
export interface RouteDescription {
  /** Markdown; one or two sentences. */
  summary: string
  query?: z.ZodObject
  /** The schema of the body, which may be JSON or a form. */
  body?: z.ZodType
  /** The media type of the body, if neither JSON nor a form. */
  bodyType?: string
  /** The success status: 200 by default, 303 for a redirect. */
  status?: number
  /** The schema of a successful response; omitted for a redirect. */
  response?: z.ZodType
  /** The media type of the response, if not JSON. */
  responseType?: string
  /** Problem codes specific to this route. */
  errors?: readonly string[]
}

/**
 * Describes the route that it is a handler of, for `/openapi.json` and `docs/http-api.md`, and checks a JSON body by the
 * description's schema. Throws a `ZodError`. A form is for the route itself to check, since it shows the errors on its
 * page; so is a body of another type.
 *
 * @example
 * Router().get('/leads', documented({ summary: 'A page of leads.', response }), (req, res) => {})
 */
export function documented(description: RouteDescription): Documented {
  const { body, bodyType } = description
  const handle = (req: IncomingMessage, _res: ServerResponse, next: () => void) => {
    const { headers, body: sent } = req as IncomingMessage & { body?: unknown }
    if (body && !bodyType && /^application\/json\b/i.test(headers['content-type'] ?? ''))
      body.parse(sent ?? {})
    next()
  }
  return Object.assign(handle, { description })
}

/** A handler that carries the description of its route. */
export interface Documented {
  readonly description: RouteDescription
  (req: IncomingMessage, res: ServerResponse, next: () => void): void
}
