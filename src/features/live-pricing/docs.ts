import { type Request, Router } from 'express'
import { ITEM_ERRORS, PATHS } from '../../supplier-api/contract.ts'
import { EXAMPLES } from './examples.ts'
import { openApi } from './openapi.ts'

/**
 * Serves the OpenAPI document at `openapi.json` and the same as an HTML page at the base URL. The page has a command for
 * each endpoint, with the address at which the reader sees the page.
 */
export function livePricingDocs(baseUrl: string): Router {
  const document = openApi(baseUrl)
  return Router()
    .get('/openapi.json', (_req, res) => {
      res.json(document)
    })
    .get('/', (req, res) => {
      const curl = commands(addressSeenBy(req, baseUrl))
      const { paths, components } = document
      const operations = Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({
          method: method.toUpperCase(),
          path,
          command: curl[path as keyof typeof curl],
          example: JSON.stringify(operation.responses[200].content['application/json'].example, null, 2),
          ...operation,
        })),
      )
      res.page('live-pricing/live-pricing', {
        title: 'Live pricing',
        baseUrl,
        description: document.info.description,
        operations,
        itemErrors: Object.entries(ITEM_ERRORS),
        schemas: Object.entries(components.schemas).map(([name, schema]) => ({
          name,
          ...toTable(schema as Schema),
        })),
      })
    })
}

/** The base URL as in the reader's address bar. */
function addressSeenBy(req: Request, baseUrl: string): string {
  // An https BASE_URL shows that TLS terminates at a proxy.
  const protocol = baseUrl.startsWith('https:') ? 'https' : req.protocol
  return `${protocol}://${req.get('host') ?? new URL(baseUrl).host}${req.baseUrl}`
}

/** A command line that calls each endpoint, by path. */
function commands(base: string) {
  const post = new URLSearchParams(EXAMPLES.tokenRequest)
  const pairs = Object.entries(EXAMPLES.search).map(([name, value]): [string, string] => [
    name,
    String(value),
  ])
  const search = new URLSearchParams(pairs)
  const token = "-H 'Authorization: Bearer ACCESS_TOKEN'"
  const type = "-H 'Content-Type: application/json'"
  return {
    [PATHS.token]: `curl '${base}${PATHS.token}' -d '${post}'`,
    [PATHS.nearest]: `curl '${base}${PATHS.nearest}?${search}' ${token}`,
    [PATHS.store]: `curl '${base}${PATHS.store.replace('{id}', EXAMPLES.store.id)}' ${token}`,
    [PATHS.prices]: `curl '${base}${PATHS.prices}' ${token} ${type} -d '${JSON.stringify(EXAMPLES.priceRequest)}'`,
  }
}

interface Schema {
  type?: string | string[]
  $ref?: string
  const?: unknown
  enum?: unknown[]
  items?: Schema
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  description?: string
  examples?: unknown[]
  format?: string
}

/** Converts a schema to the rows of a table. */
function toTable({ description, properties = {}, required = [] }: Schema) {
  const fields = Object.entries(properties).flatMap(([name, field]) => [
    rowOf(name, field, required.includes(name)),
    // Inline objects, one level deep.
    ...Object.entries(field.properties ?? {}).map(([inner, schema]) =>
      rowOf(`${name}.${inner}`, schema, field.required?.includes(inner) ?? false),
    ),
  ])
  return { description, fields }
}

function rowOf(name: string, schema: Schema, required: boolean) {
  const { description = '', examples: [example] = [] } = schema
  return { name, required, description, example, ...typeOf(schema) }
}

/** A readable type name, and the schema that it links to. */
function typeOf(schema: Schema): { type: string; link?: string | undefined } {
  const { $ref, items, anyOf, type } = schema
  if ($ref) {
    const link = $ref.split('/').at(-1) ?? ''
    return { type: link, link }
  }
  if (items) {
    const inner = typeOf(items)
    return { type: `array of ${inner.type}`, link: inner.link }
  }
  if (anyOf) return { type: anyOf.map((option) => typeOf(option).type).join(' or ') }
  if (schema.enum) return { type: schema.enum.map(String).join(', ') }
  if (schema.const !== undefined) return { type: String(schema.const) }
  return { type: [type ?? 'any'].flat().join(' or ') + (schema.format ? ` (${schema.format})` : '') }
}
