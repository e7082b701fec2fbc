import * as z from 'zod'
import {
  GRANT_TYPE,
  LIMITS,
  NEAREST,
  PATHS,
  priceItemRequestSchema,
  priceItemSchema,
  priceRequestSchema,
  problemSchema,
  storeSchema,
  tokenErrorSchema,
  tokenResponseSchema,
} from './contract.ts'

type Json = Record<string, unknown>

const ref = (id: string) => ({ $ref: `#/components/schemas/${id}` })
const json = (schema: Json) => ({ 'application/json': { schema } })
const problem = (description: string, headers?: Json) => ({
  description,
  ...(headers && { headers }),
  content: { 'application/problem+json': { schema: ref('Problem') } },
})
const tokenError = (description: string, headers?: Json) => ({
  description,
  ...(headers && { headers }),
  content: json(ref('TokenError')),
})
const RETRY_AFTER = { 'Retry-After': { description: 'seconds', schema: { type: 'integer' } } }
const CHALLENGE = { 'WWW-Authenticate': { schema: { type: 'string' } } }
const UNAUTHORIZED = problem('missing or invalid access token', CHALLENGE)
const UNSUPPORTED_ENCODING = 'unsupported Content-Encoding'
const TOO_MANY_REQUESTS = problem('too many requests', RETRY_AFTER)
const UNAVAILABLE = problem('store data is temporarily unavailable', RETRY_AFTER)

const TOKEN_REQUEST = {
  type: 'object',
  required: ['grant_type'],
  properties: {
    grant_type: { const: GRANT_TYPE },
    client_id: { type: 'string', description: 'required unless sent with HTTP Basic' },
    client_secret: { type: 'string', description: 'required unless sent with HTTP Basic' },
  },
}
/** A required numeric query parameter. */
const queryNumber = (name: string, description: string, minimum: number, maximum: number) => ({
  name,
  in: 'query',
  required: true,
  description,
  schema: { type: 'number', minimum, maximum },
})

const TOKEN_ENDPOINT = {
  post: {
    operationId: 'token',
    summary: 'Get an access token',
    security: [{}, { basic: [] }],
    description:
      'The client credentials grant of RFC 6749 section 4.4. Send the credentials in a form, as JSON or with HTTP Basic.',
    requestBody: {
      required: true,
      content: {
        'application/x-www-form-urlencoded': { schema: TOKEN_REQUEST },
        'application/json': { schema: TOKEN_REQUEST },
      },
    },
    responses: {
      200: { description: 'the token', content: json(ref('TokenResponse')) },
      400: tokenError('malformed request, missing or repeated parameter, or unsupported grant type'),
      401: tokenError('incorrect client id or secret', CHALLENGE),
      413: tokenError('body larger than 16 kB'),
      415: tokenError(UNSUPPORTED_ENCODING),
      429: tokenError('too many failed attempts', RETRY_AFTER),
      500: tokenError('internal server error'),
    },
  },
}

const NEAREST_ENDPOINT = {
  get: {
    operationId: 'nearestStores',
    summary: 'Find the nearest stores',
    description: `Returns at most ${LIMITS.stores} stores, nearest first, or an empty array if none are in range.`,
    parameters: [
      queryNumber(NEAREST.latitude, 'degrees; south is negative', -90, 90),
      queryNumber(NEAREST.longitude, 'degrees; west is negative', -180, 180),
      queryNumber(NEAREST.radius, 'kilometres', 0, LIMITS.radiusKm),
    ],
    responses: {
      200: { description: 'the stores', content: json({ type: 'array', items: ref('Store') }) },
      400: problem('a parameter is missing or invalid; the response names it'),
      401: UNAUTHORIZED,
      429: TOO_MANY_REQUESTS,
      503: UNAVAILABLE,
    },
  },
}

const STORE_ENDPOINT = {
  get: {
    operationId: 'store',
    summary: 'Look up a store',
    description: 'Returns a store.',
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
    responses: {
      200: { description: 'the store', content: json(ref('Store')) },
      400: problem('incorrectly encoded path'),
      401: UNAUTHORIZED,
      404: problem('unknown store'),
      429: TOO_MANY_REQUESTS,
      503: UNAVAILABLE,
    },
  },
}

const PRICES_ENDPOINT = {
  post: {
    operationId: 'requestPrices',
    summary: 'Request prices',
    description: [
      `Returns prices for at most ${LIMITS.items} items, in the order of the request.`,
      'Items that cannot be priced have an error code instead of prices; the call still succeeds.',
    ].join(' '),
    requestBody: { required: true, content: json(ref('PriceRequest')) },
    responses: {
      200: { description: 'the prices', content: json({ type: 'array', items: ref('PriceItem') }) },
      400: problem('invalid body; the response lists every problem with its path'),
      401: UNAUTHORIZED,
      413: problem(`more than ${LIMITS.items} items, or 1 MB`),
      415: problem(UNSUPPORTED_ENCODING),
      429: TOO_MANY_REQUESTS,
    },
  },
}

/** The schemas of the contract as JSON Schema, by id; nested schemas are references. */
function schemas(): Json {
  const registry = z.registry<{ id: string }>()
  const add = (schema: z.ZodType) => {
    const { id } = z.globalRegistry.get(schema) ?? {}
    if (id) registry.add(schema, { id })
  }
  const tradingHours = storeSchema.shape.tradingHours
  for (const schema of [
    tokenResponseSchema,
    tokenErrorSchema,
    storeSchema,
    tradingHours,
    tradingHours.shape.dailyTradingHours.element,
    tradingHours.shape.publicHolidays.element,
    tradingHours.shape.publicHolidays.element.shape.openingHours.element,
    priceRequestSchema,
    priceItemRequestSchema,
    priceItemSchema,
    problemSchema,
  ])
    add(schema)
  const { schemas } = z.toJSONSchema(registry, {
    target: 'draft-2020-12',
    io: 'input',
    uri: (id) => `#/components/schemas/${id}`,
  })
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _, $id: __, id: ___, ...schema }]) => [id, schema]),
  )
}

/** Generates the OpenAPI 3.1 document of the live pricing API at a base URL from the contract. */
export function openApi(baseUrl: string) {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Live pricing',
      version: '1',
      description: [
        'The live pricing API is hosted by a supplier and called by the platform for stores and live prices.',
        'Unsupported methods return 405, unknown paths 404 and slow bodies 408, as problem documents.',
      ].join(' '),
    },
    servers: [{ url: baseUrl }],
    security: [{ bearer: [] }],
    paths: {
      [PATHS.token]: TOKEN_ENDPOINT,
      [PATHS.nearest]: NEAREST_ENDPOINT,
      [PATHS.store]: STORE_ENDPOINT,
      [PATHS.prices]: PRICES_ENDPOINT,
    },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        basic: { type: 'http', scheme: 'basic' },
      },
      schemas: schemas(),
    },
  }
}
