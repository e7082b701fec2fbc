import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { loadPriceList } from '../../../../src/features/supplier/live-pricing/csv-price-provider/load.ts'
import { PRICE_LIST_FOLDERS } from '../../../../src/features/supplier/live-pricing/csv-price-provider/price-list.ts'
import { openApi } from '../../../../src/features/supplier/live-pricing/openapi.ts'
import { type Running, startAll } from '../../../support/app.ts'
import { createVisitor } from '../../../support/visitor.ts'
import { PRICING_CLIENT } from './pricing-client.ts'
import { SAMPLE } from './support.ts'

let app: Running
beforeAll(async () => {
  app = await startAll({ LIVE_PRICING_STAGING_CLIENTS: 'platform:another-secret-0123' })
})
afterAll(() => app.close())

const get = (path: string) => createVisitor().get(app.url + path)

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
/** Every media type of the document, with where it is. */
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
    for (const base of ['/live-pricing', '/live-pricing-staging']) {
      const document = (await get(`${base}/openapi.json`)).json()
      expect(document.openapi).toMatch(/^3\.1/)
      expect(await new Validator().validate(document)).toEqual({ valid: true })
      expect(document.servers).toEqual([{ url: app.url + base }])
    }
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

  test('describes 405, 408 and 500 of each operation, and no closed list of fields', () => {
    for (const { responses } of operations)
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['405', '408', '500']))
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

test('its page has a command for each call, and they work as they are shown', async () => {
  const decode = (html: string) =>
    html.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&')
  /** Calls what a command of the page calls, with credentials in place of its placeholders. */
  const run = async (command: string, token: string) => {
    const [, url = ''] = /^curl '([^']+)'/.exec(command) ?? []
    const [, sent] = / -d '([^']+)'/.exec(command) ?? []
    const { clientId, clientSecret } = PRICING_CLIENT
    const body = sent?.replace('CLIENT_ID', clientId).replace('CLIENT_SECRET', clientSecret)
    const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' })
    for (const [, name = '', value = ''] of command.matchAll(/-H '([^:]+): ([^']+)'/g))
      headers.set(name, value.replace('ACCESS_TOKEN', token))
    const answer = await fetch(url, { headers, ...(body !== undefined && { method: 'POST', body }) })
    expect([command, answer.status]).toEqual([command, 200])
    return answer.json()
  }

  await loadPriceList(SAMPLE, join(app.config.dataDir, PRICE_LIST_FOLDERS.production))
  const page = (await get('/live-pricing')).text
  const [token = '', ...commands] = [...page.matchAll(/<code>(curl [^<]+)<\/code>/g)].map(([, command]) =>
    decode(command ?? ''),
  )
  const issued = (await run(token, '')) as { access_token: string }
  const answers = []
  for (const command of commands) answers.push(await run(command, issued.access_token))
  expect(answers).toMatchObject([[{ id: 'northcote' }], { id: 'northcote' }, [{ unitPrice: 5.14 }, {}]])
})

test('its page shows every endpoint and schema, without scripts or external resources', async () => {
  const { text, status, headers } = await get('/live-pricing')
  expect(status).toBe(200)
  for (const name of [...Object.keys(paths), ...Object.keys(components.schemas), 'price_on_application'])
    expect(text).toContain(name)
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  for (const [, address] of text.matchAll(/(?:src|href)="([^"#]+)"/g))
    expect(new URL(address ?? '', app.url).origin).toBe(app.url)
  expect(text).not.toMatch(/<style|style="|<script(?![^>]*src=)|undefined|\[object/)
  for (const [, id] of text.matchAll(/href="#([^"]+)"/g)) expect(text, `#${id}`).toContain(`id="${id}"`)
})
