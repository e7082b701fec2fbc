import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { openApi } from '../../../../src/features/supplier/live-pricing/openapi.ts'
import { type Running, startAll } from '../../../support/app.ts'
import { createVisitor } from '../../../support/visitor.ts'

let app: Running
beforeAll(async () => {
  app = await startAll()
})
afterAll(() => app.close())

interface Body {
  content: Record<string, { schema: object; example: unknown }>
}
interface Operation {
  requestBody?: Body
  responses: Record<string, Body>
}
const { paths, components } = openApi('http://x')
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.values<Operation>(methods).map((operation) => ({ path, ...operation })),
)
/** Every media type of the document, with its location. */
const bodies = operations.flatMap(({ path, requestBody, responses }) =>
  Object.entries({ request: requestBody, ...responses }).flatMap(([part, body]) =>
    Object.entries(body?.content ?? {}).map(([type, media]) => ({
      name: `${path} ${part} ${type}`,
      ...media,
    })),
  ),
)

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1, according to an independent validator, with the base URL that it is read from', async () => {
    const document = (await createVisitor().get(`${app.url}/live-pricing/openapi.json`)).json()
    expect(document.openapi).toMatch(/^3\.1/)
    expect(await new Validator().validate(document)).toEqual({ valid: true })
    expect(document.servers).toEqual([{ url: `${app.url}/live-pricing` }])
  })

  test('has the four endpoints, every schema of the contract, and no broken reference', () => {
    const endpoints = ['/connect/token', '/stores/nearest', '/stores/{id}', '/request-prices']
    expect(Object.keys(paths)).toEqual(endpoints)
    const hours = ['TradingHours', 'DailyTradingHours', 'OpeningHours', 'PublicHoliday']
    const text = JSON.stringify({ paths, components })
    const references = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name)
    expect(Object.keys(components.schemas)).toEqual(
      expect.arrayContaining(['Store', ...hours, 'PriceItemRequest', 'PriceItem', ...references]),
    )
  })

  test('describes 405 and 500 of each operation, and no closed list of fields', () => {
    for (const { responses } of operations)
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['405', '500']))
    expect(JSON.stringify(components)).not.toContain('additionalProperties')
  })

  test.each(bodies)('has an example of $name that matches its schema', ({ schema, example }) => {
    // JSON Schema has definitions where OpenAPI has components.
    const local = (of: object) =>
      JSON.parse(JSON.stringify(of).replaceAll('#/components/schemas/', '#/$defs/'))
    const checked = z.fromJSONSchema({ ...local(schema), $defs: local(components.schemas) })
    expect(example).toBeDefined()
    expect(checked.safeParse(example).error).toBeUndefined()
    // A schema that accepts anything would accept the example as well.
    expect(checked.safeParse('text').success).toBe(false)
  })
})
