import { Router } from 'express'
import type * as z from 'zod'
import { ITEM_ERRORS, PATHS } from '../api/contract.ts'
import { EXAMPLES } from './examples.ts'
import { openApi } from './openapi.ts'

/** Serves the OpenAPI document at `openapi.json`, and an HTML page of it at the base URL, with a command for each endpoint. */
export function livePricingDocs(baseUrl: string): Router {
  const document = openApi(baseUrl)
  return Router()
    .get('/openapi.json', (_req, res) => {
      res.json(document)
    })
    .get('/', (_req, res) => {
      const page = {
        title: document.info.title,
        baseUrl,
        document,
        curl: commands(baseUrl),
        fieldsOf,
        itemErrors: ITEM_ERRORS,
      }
      res.page('supplier/live-pricing/live-pricing', page)
    })
}

/** The command lines that call the endpoints, by path. */
function commands(base: string): Record<string, string> {
  const post = new URLSearchParams(EXAMPLES.tokenRequest)
  const search = Object.entries(EXAMPLES.search).map(([name, value]) => `${name}=${value}`)
  const token = "-H 'Authorization: Bearer ACCESS_TOKEN'"
  const type = "-H 'Content-Type: application/json'"
  return {
    [PATHS.token]: `curl '${base}${PATHS.token}' -d '${post}'`,
    [PATHS.nearest]: `curl '${base}${PATHS.nearest}?${search.join('&')}' ${token}`,
    [PATHS.store]: `curl '${base}${PATHS.store.replace('{id}', EXAMPLES.store.id)}' ${token}`,
    [PATHS.prices]: `curl '${base}${PATHS.prices}' ${token} ${type} -d '${JSON.stringify(EXAMPLES.priceRequest)}'`,
  }
}

type Schema = z.core.JSONSchema.BaseSchema

/** The rows of a table with the fields of a schema, which are values or references to other schemas. */
const fieldsOf = ({ properties = {}, required = [] }: Schema) =>
  Object.entries(properties).map(([name, field]) => {
    const { description = '', examples: [example] = [] }: Schema = Object(field)
    return { name, required: required.includes(name), description, example, ...typeOf(field) }
  })

/** A readable type name, and the schema that it links to. */
function typeOf(schema: unknown): { type: string; link?: string | undefined } {
  const { $ref, items, anyOf, type, format, enum: values, const: constant }: Schema = Object(schema)
  const link = $ref?.split('/').at(-1)
  if (link) return { type: link, link }
  if (items) return { ...typeOf(items), type: `array of ${typeOf(items).type}` }
  if (anyOf) return { type: anyOf.map((option) => typeOf(option).type).join(' or ') }
  if (values ?? constant) return { type: [values ?? constant].flat().join(', ') }
  return { type: [type ?? 'any'].flat().join(' or ') + (format ? ` (${format})` : '') }
}
