import { type RequestHandler, Router } from 'express'
import * as z from 'zod'
import { FAILURE_CODES } from '../connect/errors.ts'
import { platform } from '../connect/index.ts'
import { connectionViewSchema } from './connection-view.ts'

/** An operation of the JSON API. */
export interface Operation {
  method: 'get' | 'post'
  /** Express syntax, such as `/connections/:bxcontext/leads`. */
  path: string
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
  /** Problem codes specific to this operation. */
  errors?: readonly string[]
}

/** A problem document (RFC 9457). */
const problemSchema = z.object({
  type: z.literal('about:blank'),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
  code: z.string().meta({ description: 'Stable code for programs; see docs/troubleshooting.md.' }),
  requestId: z.string(),
})

/** Query parameters of a list. */
export const pageQuery = z.object({
  top: z.number().int().min(1).max(platform.paging.maxTop).optional(),
  skip: z.number().int().min(0).optional(),
})
/** The schema of a page of a list. */
export const pageOfSchema = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), total: z.number().nullable() })

const connectionResult = z.object({ connection: connectionViewSchema.nullable() })

/** The operations of the core. */
export const coreOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/',
    summary: "The start page, or the signed-in user's connections",
    response: z.union([
      z.object({ signedIn: z.literal(false), scopes: z.array(z.string()) }),
      z.object({ connections: z.array(connectionViewSchema) }),
    ]),
  },
  {
    method: 'post',
    path: '/sign-in',
    summary: 'Sign in (demo)',
    body: z.object({ name: z.string(), returnTo: z.string().optional() }),
    response: z.object({ user: z.object({ name: z.string() }) }),
  },
  {
    method: 'post',
    path: '/sign-out',
    summary: 'Sign out',
    response: z.object({ user: z.null() }),
  },
  {
    method: 'get',
    path: '/signed-in',
    summary: 'Continue after signing in, or learn that the browser blocks cookies',
    query: z.object({ returnTo: z.string().optional() }),
    errors: ['sign_in_failed'],
  },
  {
    method: 'post',
    path: '/connect',
    summary: 'Start connecting an account, or reconnect the account of a bxcontext',
    body: z.object({ bxcontext: z.string().optional() }),
    status: 303,
    errors: ['invalid_bxcontext'],
  },
  {
    method: 'get',
    path: '/connect/context',
    summary: 'Receive the bxcontext from the platform and go to the consent page',
    query: z.object({ bxcontext: z.string() }),
    status: 303,
    errors: ['invalid_bxcontext', 'missing_authorization_request', 'not_a_navigation'],
  },
  {
    method: 'get',
    path: '/connect/callback',
    summary: 'Receive the code from the consent page and exchange it',
    query: z.object({ state: z.string(), code: z.string().optional(), error: z.string().optional() }),
    status: 303,
  },
  {
    method: 'get',
    path: '/connect/confirm/:id',
    summary: 'Confirmation that the user wants to connect a different business',
    response: z.object({ id: z.string(), bxcontext: z.string(), expected: z.string() }),
    errors: ['invalid_state'],
  },
  {
    method: 'post',
    path: '/connect/confirm/:id',
    summary: 'Connect the other business',
    status: 303,
    errors: ['invalid_state'],
  },
  {
    method: 'get',
    path: '/connect/failed',
    summary: "The error of this browser's last failed connect flow; redirects if there is none",
    status: 303,
    errors: FAILURE_CODES,
  },
  {
    method: 'get',
    path: '/connections',
    summary: "List the user's connections, without tokens",
    response: z.object({ connections: z.array(connectionViewSchema) }),
  },
  {
    method: 'get',
    path: '/connections/live',
    summary: 'Server-sent events: `changed` when a connection changed, `done` after signing out',
    response: z.string(),
    responseType: 'text/event-stream',
  },
  {
    method: 'post',
    path: '/connections/:bxcontext/test',
    summary: 'Make a cheap call of the API, or refresh the token, to see whether the connection works',
    response: connectionResult.extend({
      ok: z.literal(true),
      summary: z.string(),
      ms: z.number().int().nonnegative(),
    }),
    errors: [
      'not_connected',
      'connection_revoked',
      'insufficient_scope',
      'platform_unavailable',
      'platform_rejected',
      'refresh_too_soon',
      'misconfigured',
    ],
  },
  {
    method: 'post',
    path: '/connections/:bxcontext/refresh',
    summary: 'Get a new access token',
    response: connectionResult,
    errors: [
      'not_connected',
      'connection_revoked',
      'refresh_too_soon',
      'platform_unavailable',
      'misconfigured',
    ],
  },
  {
    method: 'post',
    path: '/connections/:bxcontext/disconnect',
    summary: 'Delete the connection and its tokens, and revoke its grant if the platform can',
    response: connectionResult.extend({ consent: z.enum(['withdrawn', 'remains', 'unknown']) }),
    errors: ['not_connected'],
  },
  {
    method: 'get',
    path: '/health/live',
    summary: 'Check that the process is running',
    response: z.object({ status: z.literal('live') }),
  },
  {
    method: 'get',
    path: '/health/ready',
    summary: 'Check that the store is reachable; returns 503 otherwise',
    response: z.object({ status: z.enum(['ready', 'unavailable']) }),
  },
  {
    method: 'get',
    path: '/openapi.json',
    summary: 'This document',
    response: z.record(z.string(), z.unknown()),
  },
]

const jsonSchema = (schema: z.ZodType, io: 'input' | 'output') => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

function parametersOf({ path, query }: Operation) {
  const pathParameters = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const queryParameters = Object.entries(query?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: !schema.safeParse(undefined).success,
    schema: jsonSchema(schema as z.ZodType, 'input'),
  }))
  return [...pathParameters, ...queryParameters]
}

function responsesOf({ status = 200, response, responseType = 'application/json', errors = [] }: Operation) {
  const codes = errors.length > 0 ? ` Codes: ${errors.join(', ')}.` : ''
  const redirect = { description: 'Redirect', headers: { Location: { schema: { type: 'string' } } } }
  const success = {
    description: 'Success',
    ...(response && { content: { [responseType]: { schema: jsonSchema(response, 'output') } } }),
  }
  return {
    [status]: status === 303 ? redirect : success,
    default: {
      description: `A problem document (RFC 9457).${codes}`,
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  }
}

function operationObject(operation: Operation) {
  const { summary, body, bodyType } = operation
  const schema = body && jsonSchema(body, 'input')
  const types = bodyType ? [bodyType] : ['application/json', 'application/x-www-form-urlencoded']
  return {
    summary,
    parameters: parametersOf(operation),
    ...(schema && { requestBody: { content: Object.fromEntries(types.map((type) => [type, { schema }])) } }),
    responses: responsesOf(operation),
  }
}

/** Generates the OpenAPI 3.1 document of the app's JSON API from the schemas. */
export function openApiDocument(baseUrl: string, operations: readonly Operation[]) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method]: operationObject(operation) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Connect Starter',
      version: '1',
      description:
        'Send Accept: application/json. Calls are authenticated by the session cookie of a signed-in user.',
    },
    servers: [{ url: baseUrl }],
    paths,
    components: { schemas: { Problem: jsonSchema(problemSchema, 'output') } },
  }
}

/** Serves the document at `/openapi.json`. */
export function openApiRoute(baseUrl: string, operations: readonly Operation[]): RequestHandler {
  const document = openApiDocument(baseUrl, [...coreOperations, ...operations])
  return Router().get('/openapi.json', (_req, res) => {
    res.json(document)
  })
}
