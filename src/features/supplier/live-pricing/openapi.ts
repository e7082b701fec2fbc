import * as z from 'zod'
import * as contract from '../api/contract.ts'
import { ERRORS, type ErrorCode, problemOf, tokenErrorOf } from './errors.ts'
import { EXAMPLES } from './examples.ts'

const { LIMITS, NEAREST_RANGES, PATHS } = contract

/** A reference to a schema of the document. */
const ref = (id: string) => ({ $ref: `#/components/schemas/${id}` })
const listOf = (id: string) => ({ type: 'array', items: ref(id) })

/** A JSON body with an example. */
const json = (schema: object, example: unknown) => ({ 'application/json': { schema, example } })
const returns = (description: string, schema: object, example: unknown) => ({
  200: { description, content: json(schema, example) },
})

const RETRY_AFTER = { 'Retry-After': { description: 'seconds', schema: { type: 'integer' } } }
/** Headers of error responses, by status. */
const HEADERS: Record<number, object> = {
  401: { 'WWW-Authenticate': { schema: { type: 'string' } } },
  405: { Allow: { schema: { type: 'string' } } },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
}

/** Makes the error responses of an operation, by status. */
const errors =
  (contentOf: (code: ErrorCode) => object) =>
  (...codes: ErrorCode[]) =>
    Object.fromEntries(
      codes.map((code) => {
        const { status, detail: description } = ERRORS[code]
        return [status, { description, headers: HEADERS[status], content: contentOf(code) }]
      }),
    )
const problems = errors((code) => {
  const example = { ...problemOf(code), requestId: '7f9c3b52-6c1e-4e0b-9d55-0a3f3e1d2c4b' }
  return { 'application/problem+json': { schema: ref('Problem'), example } }
})
const tokenErrors = errors((code) => json(ref('TokenError'), tokenErrorOf(code)))

/** Errors that any call with an access token can return. */
const COMMON = [
  'invalid_input',
  'invalid_token',
  'method_not_allowed',
  'too_many_requests',
  'server_error',
] as const

const tokenRequest = json(ref('TokenRequest'), EXAMPLES.tokenRequest)['application/json']

const OPERATIONS = {
  [PATHS.token]: {
    post: {
      operationId: 'token',
      summary: 'Get an access token',
      security: [],
      description:
        'The client credentials grant of RFC 6749 section 4.4. Send the credentials in a form or as JSON.',
      requestBody: {
        required: true,
        content: { 'application/x-www-form-urlencoded': tokenRequest, 'application/json': tokenRequest },
      },
      responses: {
        ...returns('the token', ref('TokenResponse'), EXAMPLES.token),
        ...tokenErrors('invalid_request', 'invalid_client', 'method_not_allowed', 'payload_too_large'),
        ...tokenErrors('unknown_encoding', 'temporarily_unavailable', 'server_error'),
      },
    },
  },
  [PATHS.nearest]: {
    get: {
      operationId: 'nearestStores',
      summary: 'Find the nearest stores',
      description: `Returns at most ${LIMITS.stores} stores, nearest first, or an empty array if none are in range.`,
      parameters: NEAREST_RANGES.map(({ name, description, minimum, maximum }) => ({
        name,
        example: EXAMPLES.search[name],
        in: 'query',
        required: true,
        description,
        schema: { type: 'number', minimum, maximum },
      })),
      responses: {
        ...returns('the stores', listOf('Store'), EXAMPLES.stores),
        ...problems(...COMMON, 'stores_unavailable'),
      },
    },
  },
  [PATHS.store]: {
    get: {
      operationId: 'store',
      summary: 'Look up a store',
      description: 'Returns a store.',
      parameters: [
        { name: 'id', in: 'path', required: true, example: EXAMPLES.store.id, schema: { type: 'string' } },
      ],
      responses: {
        ...returns('the store', ref('Store'), EXAMPLES.store),
        ...problems(...COMMON, 'not_found', 'stores_unavailable'),
      },
    },
  },
  [PATHS.prices]: {
    post: {
      operationId: 'requestPrices',
      summary: 'Request prices',
      description: `Returns prices for at most ${LIMITS.items} items, in the order of the request. Items that cannot be priced have an error code instead of prices; the call still succeeds.`,
      requestBody: { required: true, content: json(ref('PriceRequest'), EXAMPLES.priceRequest) },
      responses: {
        ...returns('the prices', listOf('PriceItem'), EXAMPLES.prices),
        ...problems(...COMMON, 'payload_too_large', 'unknown_encoding'),
      },
    },
  },
}

/** The schemas of the contract that have an id, as JSON Schema; those inside others are references. */
function schemas(): Record<string, z.core.JSONSchema.BaseSchema> {
  const all = z.union(Object.values(contract).filter((value) => value instanceof z.ZodType))
  const { $defs } = z.toJSONSchema(all, {
    io: 'input',
    // Clients must accept fields that future versions add.
    override: ({ jsonSchema }) => {
      delete jsonSchema.additionalProperties
      delete jsonSchema.id
    },
  })
  return JSON.parse(JSON.stringify($defs).replaceAll('#/$defs/', ref('').$ref))
}

/** Generates the OpenAPI 3.1 document of the live pricing API at a base URL from the contract. */
export const openApi = (baseUrl: string) => ({
  openapi: '3.1.1',
  info: {
    title: 'Live pricing',
    version: '1',
    description:
      'The live pricing API is hosted by a supplier and called by the platform for stores and live prices. Unknown paths return 404 as a problem document.',
  },
  servers: [{ url: baseUrl }],
  security: [{ bearer: [] }],
  paths: OPERATIONS,
  components: {
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    schemas: schemas(),
  },
})
