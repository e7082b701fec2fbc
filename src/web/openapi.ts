import { type IRoute, Router } from 'express'
import * as z from 'zod'
import { type DescribedHandler, describeRoute, type RouteDescription } from '../connect/express.ts'
import { type Part, templateOf } from './mount.ts'
import { sessionCookie } from './session.ts'
import { texts } from './texts.ts'

/** A described route. */
interface Operation extends RouteDescription {
  /** In lower case. */
  method: string
  /** Express syntax, such as `/connections/:bxcontext/leads`. */
  path: string
}

/** The routes of a part, each with its whole path. */
export const routesOf = ({ path, router }: Part): { path: string; route: IRoute }[] =>
  router.stack.flatMap(({ route, handle }) => {
    if (route) return [{ path: templateOf(path, route.path), route }]
    return isRouter(handle) ? routesOf({ path, router: handle }) : []
  })

const isRouter = (handler: unknown): handler is Router => typeof handler === 'function' && 'stack' in handler

/** The described routes of a part. */
const operationsOf = (part: Part): Operation[] =>
  routesOf(part).flatMap(({ path, route }) =>
    route.stack.flatMap(({ method, handle }) =>
      isDescribed(handle) ? { method, path, ...handle.description } : [],
    ),
  )

const isDescribed = (handler: unknown): handler is DescribedHandler =>
  typeof handler === 'function' && 'description' in handler

/** A problem document (RFC 9457). */
const problemSchema = z.object({
  type: z.literal('about:blank'),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
  code: z.string().meta({ description: 'Stable code for programs; see docs/troubleshooting.md.' }),
  requestId: z.string(),
})

/** The problem codes of a route that reads from the platform. */
export const READ_ERRORS = [
  'not_connected',
  'connection_revoked',
  'insufficient_scope',
  'platform_unavailable',
] as const

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
    schema: jsonSchema(schema, 'input'),
  }))
  return [...pathParameters, ...queryParameters]
}

const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
})

function responsesOf({
  status = 200,
  response,
  responseType = 'application/json',
  isPublic,
  errors = [],
}: Operation) {
  const codes = errors.length > 0 ? ` Codes: ${errors.join(', ')}.` : ''
  const redirect = { description: 'Redirect', headers: { Location: { schema: { type: 'string' } } } }
  const success = {
    description: 'Success',
    ...(response && { content: { [responseType]: { schema: jsonSchema(response, 'output') } } }),
  }
  return {
    [status]: status === 303 ? redirect : success,
    ...(isPublic ? {} : { 401: problem('Nobody is signed in. Code: unauthenticated.') }),
    default: problem(`A problem document (RFC 9457).${codes}`),
  }
}

/** `getConnectionsByBxcontextLeads` for `GET /connections/:bxcontext/leads`. */
const operationId = ({ method, path }: Operation) =>
  method +
  [...path.matchAll(/(:?)(\w+)/g)]
    .map(
      ([, isParameter, word = '']) =>
        (isParameter ? 'By' : '') + word.charAt(0).toUpperCase() + word.slice(1),
    )
    .join('')

function operationObject(operation: Operation) {
  const { path, summary, body, bodyType, isPublic } = operation
  const schema = body && jsonSchema(body, 'input')
  const types = bodyType ? [bodyType] : ['application/json', 'application/x-www-form-urlencoded']
  return {
    operationId: operationId(operation),
    tags: [path.split('/')[1] || 'start'],
    summary,
    ...(isPublic && { security: [] }),
    parameters: parametersOf(operation),
    ...(schema && { requestBody: { content: Object.fromEntries(types.map((type) => [type, { schema }])) } }),
    responses: responsesOf(operation),
  }
}

/** Generates the OpenAPI 3.1 document of the app's JSON API from the schemas. */
function openApiDocument(baseUrl: string, operations: readonly Operation[]) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method]: operationObject(operation) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: texts.layout.appName,
      version: '1',
      description:
        'Send Accept: application/json. Calls are authenticated by the session cookie of a signed-in user.',
    },
    servers: [{ url: baseUrl }],
    security: [{ session: [] }],
    paths,
    components: {
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: sessionCookie(baseUrl) } },
      schemas: { Problem: jsonSchema(problemSchema, 'output') },
    },
  }
}

/** Serves the document of the described routes of these parts, to be mounted at `/openapi.json`. */
export function openApiRoute(baseUrl: string, parts: () => readonly Part[]): Router {
  return Router().get(
    '/',
    describeRoute({
      isPublic: true,
      summary: 'The JSON of these routes as an OpenAPI document, generated from the schemas.',
      response: z.record(z.string(), z.unknown()),
    }),
    (_req, res) => {
      res.json(openApiDocument(baseUrl, parts().flatMap(operationsOf)))
    },
  )
}
