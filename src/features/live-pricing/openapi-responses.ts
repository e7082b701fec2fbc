/** Parts of the OpenAPI document: bodies and errors, each with an example. */
import { TITLES } from './error-response.ts'

type Json = Record<string, unknown>

/** A reference to a schema of the document. */
export const ref = (id: string) => ({ $ref: `#/components/schemas/${id}` })
/** A JSON body with an example. */
export const json = (schema: Json, example: unknown) => ({ 'application/json': { schema, example } })

interface ErrorExample {
  code: string
  detail: string
  errors?: { path: string; message: string }[]
}

/** A response that is a problem document. */
export const problem = (status: number, description: string, example: ErrorExample, headers?: Json) => ({
  description,
  ...(headers && { headers }),
  content: {
    'application/problem+json': {
      schema: ref('Problem'),
      example: { type: 'about:blank', title: TITLES[status], status, ...example, requestId: REQUEST_ID },
    },
  },
})
/** An error of the token endpoint. */
export const tokenError = (
  description: string,
  error: string,
  error_description: string,
  headers?: Json,
) => ({
  description,
  ...(headers && { headers }),
  content: json(ref('TokenError'), { error, error_description }),
})
const REQUEST_ID = '7f9c3b52-6c1e-4e0b-9d55-0a3f3e1d2c4b'
export const RETRY_AFTER = { 'Retry-After': { description: 'seconds', schema: { type: 'integer' } } }
export const CHALLENGE = { 'WWW-Authenticate': { schema: { type: 'string' } } }
export const ALLOW = { Allow: { schema: { type: 'string' } } }
export const UNSUPPORTED_ENCODING = 'unsupported Content-Encoding'
export const ENCODINGS = 'Unsupported Content-Encoding. Use gzip, deflate, br or none.'
export const SERVER_ERROR = 'Something went wrong on our side. Please try again.'

export const UNAUTHORIZED = problem(
  401,
  'missing or invalid access token',
  { code: 'invalid_token', detail: 'The access token is invalid or has expired. Request a new one.' },
  CHALLENGE,
)
export const SLOW_BODY = problem(408, 'body took too long to arrive', {
  code: 'request_timeout',
  detail: 'The request body took too long to arrive.',
})
export const TOO_MANY_REQUESTS = problem(
  429,
  'too many requests',
  { code: 'too_many_requests', detail: 'Too many requests. Try again later.' },
  RETRY_AFTER,
)
export const INTERNAL = problem(500, 'internal server error', { code: 'server_error', detail: SERVER_ERROR })
export const UNAVAILABLE = problem(
  503,
  'store data is temporarily unavailable',
  { code: 'stores_unavailable', detail: 'Store data is temporarily unavailable.' },
  RETRY_AFTER,
)
/** The response to a method that an endpoint does not support. */
export const wrongMethod = (methods: string) =>
  problem(
    405,
    'unsupported method',
    { code: 'method_not_allowed', detail: `This endpoint supports only ${methods}.` },
    ALLOW,
  )
