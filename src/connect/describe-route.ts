import type { IncomingMessage, ServerResponse } from 'node:http'
import type * as z from 'zod'

/** What a route does, for readers and for programs. */
export interface RouteDescription {
  /** Markdown; one or two sentences. */
  summary: string
  query?: z.ZodObject
  /** The schema of the body, which may be JSON or a form. */
  body?: z.ZodType
  /** The media type of the body, if the route parses it itself. */
  bodyType?: string
  /** The success status: 200 by default, 303 for a redirect. */
  status?: number
  /** The schema of a successful response; omitted for a redirect. */
  response?: z.ZodType
  /** The media type of the response, if not JSON. */
  responseType?: string
  /** Whether the route answers visitors who are not signed in. All other routes answer them with 401. */
  isPublic?: boolean
  /** Problem codes specific to this route. */
  errors?: readonly string[]
}

/**
 * Middleware that describes its route for `/openapi.json`, and validates a JSON body by the schema of the description. Throws a
 * `ZodError` if the body is not valid. The route itself validates a form, because its page shows the errors.
 *
 * @example
 * Router().get('/leads', describeRoute({ summary: 'A page of leads.', response }), (req, res) => {})
 */
export function describeRoute(description: RouteDescription): DescribedHandler {
  const { body, bodyType } = description
  const handle = (req: IncomingMessage, _res: ServerResponse, next: () => void) => {
    const { headers, body: sent }: IncomingMessage & { body?: unknown } = req
    if (body && !bodyType && /^application\/json\b/i.test(headers['content-type'] ?? ''))
      body.parse(sent ?? {})
    next()
  }
  return Object.assign(handle, { description })
}

/** A handler that carries the description of its route. */
export interface DescribedHandler {
  readonly description: RouteDescription
  (req: IncomingMessage, res: ServerResponse, next: () => void): void
}
