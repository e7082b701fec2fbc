import * as z from 'zod'
import {
  GRANT_TYPE,
  LIMITS,
  NEAREST,
  PATHS,
  priceItemSchema,
  priceRequestSchema,
  problemSchema,
  storeSchema,
  tokenErrorSchema,
  tokenResponseSchema,
} from '../../supplier-api/contract.ts'
import { problemOf } from './error-response.ts'
import { ERRORS, type ErrorCode, tokenErrorCode } from './errors.ts'
import { EXAMPLES } from './examples.ts'

type Json = Record<string, unknown>

/** A reference to a schema of the document. */
const ref = (id: string) => ({ $ref: `#/components/schemas/${id}` })
const listOf = (id: string) => ({ type: 'array', items: ref(id) })
/** A JSON body with an example. */
const json = (schema: Json, example: unknown) => ({ 'application/json': { schema, example } })
const ok = (description: string, schema: Json, example: unknown) => ({
  200: { description, content: json(schema, example) },
})

const RETRY_AFTER = { 'Retry-After': { description: 'seconds', schema: { type: 'integer' } } }
/** Headers of error responses, by status. */
const HEADERS = new Map<number, Json>([
  [401, { 'WWW-Authenticate': { schema: { type: 'string' } } }],
  [405, { Allow: { schema: { type: 'string' } } }],
  [429, RETRY_AFTER],
  [503, RETRY_AFTER],
])

/** Responses with errors, by status. */
const responses = (codes: readonly ErrorCode[], contentOf: (code: ErrorCode) => Json) =>
  Object.fromEntries(
    codes.map((code) => {
      const { status, detail } = ERRORS[code]
      const headers = HEADERS.get(status)
      return [status, { description: detail, ...(headers && { headers }), content: contentOf(code) }]
    }),
  )

const problem = (code: ErrorCode) => {
  const { status, detail } = ERRORS[code]
  const example = { ...problemOf(status, code, detail), requestId: '7f9c3b52-6c1e-4e0b-9d55-0a3f3e1d2c4b' }
  return { 'application/problem+json': { schema: ref('Problem'), example } }
}

const tokenError = (code: ErrorCode) =>
  json(ref('TokenError'), { error: tokenErrorCode(code), error_description: ERRORS[code].detail })

const TOKEN_REQUEST = {
  schema: {
    type: 'object',
    required: ['grant_type'],
    properties: {
      grant_type: { const: GRANT_TYPE },
      client_id: { type: 'string', description: 'required unless sent with HTTP Basic' },
      client_secret: { type: 'string', description: 'required unless sent with HTTP Basic' },
    },
  },
  example: EXAMPLES.tokenRequest,
}

const TOKEN_ENDPOINT = {
  post: {
    operationId: 'token',
    summary: 'Get an access token',
    security: [{}, { basic: [] }],
    description:
      'The client credentials grant of RFC 6749 section 4.4. Send the credentials in a form, as JSON or with HTTP Basic.',
    requestBody: {
      required: true,
      content: { 'application/x-www-form-urlencoded': TOKEN_REQUEST, 'application/json': TOKEN_REQUEST },
    },
    responses: {
      ...ok('the token', ref('TokenResponse'), EXAMPLES.token),
      ...responses(
        [
          'invalid_request',
          'invalid_client',
          'method_not_allowed',
          'payload_too_large',
          'unknown_encoding',
          'temporarily_unavailable',
          'server_error',
        ],
        tokenError,
      ),
      ...responses(['request_timeout'], problem),
    },
  },
}

/** Errors of each call with an access token. */
const COMMON = [
  'invalid_input',
  'invalid_token',
  'method_not_allowed',
  'request_timeout',
  'too_many_requests',
  'server_error',
] as const

/** A required numeric query parameter. */
const queryNumber = (name: string, description: string, minimum: number, maximum: number) => ({
  name,
  example: EXAMPLES.search[name],
  in: 'query',
  required: true,
  description,
  schema: { type: 'number', minimum, maximum },
})

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
      ...ok('the stores', listOf('Store'), EXAMPLES.stores),
      ...responses([...COMMON, 'stores_unavailable'], problem),
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
      ...ok('the store', ref('Store'), EXAMPLES.store),
      ...responses([...COMMON, 'not_found', 'stores_unavailable'], problem),
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
      ...ok('the prices', listOf('PriceItem'), EXAMPLES.prices),
      ...responses([...COMMON, 'payload_too_large', 'unknown_encoding'], problem),
    },
  },
}

/** The schemas of the contract that have an id, as JSON Schema; those inside others are references. */
function schemas(): Record<string, z.core.JSONSchema.BaseSchema> {
  const all = z.union([
    tokenResponseSchema,
    tokenErrorSchema,
    storeSchema,
    priceRequestSchema,
    priceItemSchema,
    problemSchema,
  ])
  const { $defs } = z.toJSONSchema(all, {
    io: 'input',
    // Clients must accept fields that are added later.
    override: ({ jsonSchema }) => {
      delete jsonSchema.additionalProperties
      delete jsonSchema.id
    },
  })
  return JSON.parse(JSON.stringify($defs).replaceAll('#/$defs/', ref('').$ref))
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
