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
} from '../../supplier-api/contract.ts'
import { EXAMPLES } from './examples.ts'
import {
  ALLOW,
  CHALLENGE,
  ENCODINGS,
  INTERNAL,
  json,
  problem,
  RETRY_AFTER,
  ref,
  SERVER_ERROR,
  SLOW_BODY,
  TOO_MANY_REQUESTS,
  tokenError,
  UNAUTHORIZED,
  UNAVAILABLE,
  UNSUPPORTED_ENCODING,
  wrongMethod,
} from './openapi-responses.ts'

type Json = Record<string, unknown>

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
  example: EXAMPLES.search[name],
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
        'application/x-www-form-urlencoded': { schema: TOKEN_REQUEST, example: EXAMPLES.tokenRequest },
        'application/json': { schema: TOKEN_REQUEST, example: EXAMPLES.tokenRequest },
      },
    },
    responses: {
      200: { description: 'the token', content: json(ref('TokenResponse'), EXAMPLES.token) },
      400: tokenError(
        'malformed request, missing or repeated parameter, or unsupported grant type',
        'invalid_request',
        'The request is malformed: client_id is missing.',
      ),
      401: tokenError(
        'incorrect client id or secret',
        'invalid_client',
        'The client id or client secret is incorrect.',
        CHALLENGE,
      ),
      405: tokenError('unsupported method', 'invalid_request', 'This endpoint supports only POST.', ALLOW),
      408: SLOW_BODY,
      413: tokenError('body larger than 16 kB', 'invalid_request', 'The body is too large.'),
      415: tokenError(UNSUPPORTED_ENCODING, 'invalid_request', ENCODINGS),
      429: tokenError(
        'too many failed attempts',
        'temporarily_unavailable',
        'Too many failed attempts. Try again later.',
        RETRY_AFTER,
      ),
      500: tokenError('internal server error', 'server_error', SERVER_ERROR),
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
      200: {
        description: 'the stores',
        content: json({ type: 'array', items: ref('Store') }, EXAMPLES.stores),
      },
      400: problem(400, 'a parameter is missing or invalid; the response names it', {
        code: 'invalid_input',
        detail: 'latitude: must be a number from -90 to 90.',
        errors: [{ path: 'latitude', message: 'must be a number from -90 to 90' }],
      }),
      401: UNAUTHORIZED,
      405: wrongMethod('GET, HEAD'),
      408: SLOW_BODY,
      429: TOO_MANY_REQUESTS,
      500: INTERNAL,
      503: UNAVAILABLE,
    },
  },
}

const STORE_ENDPOINT = {
  get: {
    operationId: 'store',
    summary: 'Look up a store',
    description: 'Returns a store.',
    parameters: [
      { name: 'id', in: 'path', required: true, example: EXAMPLES.store.id, schema: { type: 'string' } },
    ],
    responses: {
      200: { description: 'the store', content: json(ref('Store'), EXAMPLES.store) },
      400: problem(400, 'incorrectly encoded path', {
        code: 'invalid_input',
        detail: 'The request could not be read.',
      }),
      401: UNAUTHORIZED,
      404: problem(404, 'unknown store', { code: 'not_found', detail: 'This store does not exist.' }),
      405: wrongMethod('GET, HEAD'),
      408: SLOW_BODY,
      429: TOO_MANY_REQUESTS,
      500: INTERNAL,
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
    requestBody: { required: true, content: json(ref('PriceRequest'), EXAMPLES.priceRequest) },
    responses: {
      200: {
        description: 'the prices',
        content: json({ type: 'array', items: ref('PriceItem') }, EXAMPLES.prices),
      },
      400: problem(400, 'invalid body; the response lists every problem with its path', {
        code: 'invalid_input',
        detail: 'items: must be of type array, not object.',
        errors: [{ path: 'items', message: 'must be of type array, not object' }],
      }),
      401: UNAUTHORIZED,
      405: wrongMethod('POST'),
      408: SLOW_BODY,
      413: problem(413, `more than ${LIMITS.items} items, or 1 MB`, {
        code: 'payload_too_large',
        detail: 'The body is too large.',
      }),
      415: problem(415, UNSUPPORTED_ENCODING, { code: 'unknown_encoding', detail: ENCODINGS }),
      429: TOO_MANY_REQUESTS,
      500: INTERNAL,
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
    // Clients must accept fields that are added later.
    override: ({ jsonSchema }) => {
      delete jsonSchema.additionalProperties
    },
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
        'Unknown paths return 404 as a problem document.',
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
