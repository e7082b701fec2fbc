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
  tokenAnswerSchema,
  tokenErrorSchema,
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
const UNAUTHORISED = problem('no access token, or one that is not valid', CHALLENGE)
const ENCODING = 'a body that is neither as it is nor gzip, deflate or br'
const TOO_MANY = problem('too many requests', RETRY_AFTER)
const UNAVAILABLE = problem('store data is temporarily unavailable', RETRY_AFTER)

/** The schemas of the contract as JSON Schema, each by its id, those within others by reference. */
function schemas(): Json {
  const registry = z.registry<{ id: string }>()
  const add = (schema: z.ZodType) => {
    const { id } = z.globalRegistry.get(schema) ?? {}
    if (id) registry.add(schema, { id })
  }
  const within = storeSchema.shape.tradingHours
  for (const schema of [
    tokenAnswerSchema,
    tokenErrorSchema,
    storeSchema,
    within,
    within.shape.dailyTradingHours.element,
    within.shape.publicHolidays.element,
    within.shape.publicHolidays.element.shape.openingHours.element,
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

/** The OpenAPI 3.1 document of the live pricing API at a base address, generated from the contract. */
export function openApi(baseUrl: string) {
  const token = {
    type: 'object',
    required: ['grant_type'],
    properties: {
      grant_type: { const: GRANT_TYPE },
      client_id: { type: 'string', description: 'unless HTTP Basic says it' },
      client_secret: { type: 'string', description: 'unless HTTP Basic says it' },
    },
  }
  const number = (name: string, description: string, minimum: number, maximum: number) => ({
    name,
    in: 'query',
    required: true,
    description,
    schema: { type: 'number', minimum, maximum },
  })
  return {
    openapi: '3.1.1',
    info: {
      title: 'Live pricing',
      version: '1',
      description: [
        'the live pricing API: what a supplier hosts, and the platform calls for stores and live prices.',
        'Another method than an address takes is answered 405, another address 404, and a body that arrives too slowly 408, all by a problem document.',
      ].join(' '),
    },
    servers: [{ url: baseUrl }],
    security: [{ bearer: [] }],
    paths: {
      [PATHS.token]: {
        post: {
          operationId: 'token',
          summary: 'Get an access token',
          security: [{}, { basic: [] }],
          description:
            'The client credentials grant of RFC 6749 section 4.4: as a form or JSON, or with the credentials in HTTP Basic.',
          requestBody: {
            required: true,
            content: {
              'application/x-www-form-urlencoded': { schema: token },
              'application/json': { schema: token },
            },
          },
          responses: {
            200: { description: 'the token', content: json(ref('TokenResponse')) },
            400: tokenError('malformed, a parameter missing or repeated, or another grant type'),
            401: tokenError('wrong client id or secret', CHALLENGE),
            413: tokenError('a body of more than 16 kB'),
            415: tokenError(ENCODING),
            429: tokenError('too many wrong credentials', RETRY_AFTER),
            500: tokenError('a fault of the server'),
          },
        },
      },
      [PATHS.nearest]: {
        get: {
          operationId: 'nearestStores',
          summary: 'Find the nearest stores',
          description: `The nearest first, at most ${LIMITS.stores}; an empty array when none is in range.`,
          parameters: [
            number(NEAREST.latitude, 'degrees; south is negative', -90, 90),
            number(NEAREST.longitude, 'degrees; west is negative', -180, 180),
            number(NEAREST.radius, 'kilometres', 0, LIMITS.radiusKm),
          ],
          responses: {
            200: { description: 'the stores', content: json({ type: 'array', items: ref('Store') }) },
            400: problem('a parameter is missing or wrong; the answer names it'),
            401: UNAUTHORISED,
            429: TOO_MANY,
            503: UNAVAILABLE,
          },
        },
      },
      [PATHS.store]: {
        get: {
          operationId: 'store',
          summary: 'Look up a store',
          description: 'One store by its id.',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: {
            200: { description: 'the store', content: json(ref('Store')) },
            400: problem('an address that is not encoded as it should be'),
            401: UNAUTHORISED,
            404: problem('no store of this id'),
            429: TOO_MANY,
            503: UNAVAILABLE,
          },
        },
      },
      [PATHS.prices]: {
        post: {
          operationId: 'requestPrices',
          summary: 'Ask for prices',
          description: [
            `Prices for at most ${LIMITS.items} items: one answer for each, in the order of the request.`,
            'An item that cannot be priced has an error code and no prices; the call succeeds all the same.',
          ].join(' '),
          requestBody: { required: true, content: json(ref('PriceRequest')) },
          responses: {
            200: { description: 'the prices', content: json({ type: 'array', items: ref('PriceItem') }) },
            400: problem('a body of another form; the answer names every problem by its place'),
            401: UNAUTHORISED,
            413: problem(`more than ${LIMITS.items} items, or 1 MB`),
            415: problem(ENCODING),
            429: TOO_MANY,
          },
        },
      },
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
