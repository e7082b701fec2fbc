import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import { PRICE_LIST_FOLDERS } from '../../../src/features/live-pricing/csv-price-provider/price-list.ts'
import { EXAMPLES } from '../../../src/features/live-pricing/examples.ts'
import { openApi } from '../../../src/features/live-pricing/openapi.ts'
import { type Running, startAll } from '../../support/app.ts'
import { createVisitor } from '../../support/visitor.ts'
import { PRICING_CLIENT } from './pricing-client.ts'
import { SAMPLE } from './support.ts'

let app: Running
beforeAll(async () => {
  app = await startAll({ LIVE_PRICING_STAGING_CLIENTS: 'platform:another-secret-0123' })
})
afterAll(() => app.close())

const get = (path: string) => createVisitor().get(app.url + path)

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1, according to an independent validator', async () => {
    const document = (await get('/live-pricing/openapi.json')).json()
    expect(document.openapi).toMatch(/^3\.1/)
    expect(await new Validator().validate(document)).toEqual({ valid: true })
  })

  test('has the base URL that it is read from, staging or production', async () => {
    for (const base of ['/live-pricing', '/live-pricing-staging'])
      expect((await get(`${base}/openapi.json`)).json().servers).toEqual([{ url: app.url + base }])
  })

  test('has the four endpoints, every schema of the contract, and no broken reference', () => {
    const { paths, components } = openApi('http://x')
    const endpoints = ['/connect/token', '/stores/nearest', '/stores/{id}', '/request-prices']
    expect(Object.keys(paths)).toEqual(endpoints)
    const schemas = Object.keys(components.schemas)
    const hours = ['TradingHours', 'DailyTradingHours', 'OpeningHours', 'PublicHoliday']
    const text = JSON.stringify({ paths, components })
    const references = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name)
    expect(schemas).toEqual(
      expect.arrayContaining(['Store', ...hours, 'PriceItemRequest', 'PriceItem', ...references]),
    )
  })
})

/** Every media type of the document that has a schema, with where it is. */
function bodies() {
  const { paths, components } = openApi('http://x')
  const found: { name: string; schema: object; example: unknown }[] = []
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries<Operation>(methods)) {
      const parts = { request: operation.requestBody, ...operation.responses }
      for (const [part, body] of Object.entries(parts))
        for (const [type, media] of Object.entries(body?.content ?? {}))
          found.push({ name: `${method} ${path} ${part} ${type}`, ...media })
    }
  return { found, schemas: components.schemas }
}
interface Body {
  content: Record<string, { schema: object; example: unknown }>
}
interface Operation {
  requestBody?: Body
  responses: Record<string, Body>
}

describe('the examples of the OpenAPI document', () => {
  const { found, schemas } = bodies()
  // JSON Schema has definitions where OpenAPI has components.
  const local = (schema: object) =>
    JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/'))

  test.each(found)('$name has one that matches its schema', ({ schema, example }) => {
    expect(example).toBeDefined()
    const checked = z.fromJSONSchema({ ...local(schema), $defs: local(schemas) })
    expect(checked.safeParse(example).error).toBeUndefined()
    // A schema that accepts anything would accept the example as well.
    expect(checked.safeParse('text').success).toBe(false)
  })

  test('of prices have totals that add up', () => {
    for (const { unitPrice, quantity, discount, totalPrice } of EXAMPLES.prices)
      if (unitPrice !== null)
        expect(totalPrice).toBeCloseTo(unitPrice * (quantity ?? 0) - (discount ?? 0), 10)
  })
})

test('each operation describes 405, 408 and 500, and clients may not rely on a closed list of fields', () => {
  const { paths, components } = openApi('http://x')
  for (const methods of Object.values(paths))
    for (const operation of Object.values<Operation>(methods))
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['405', '408', '500']))
  expect(JSON.stringify(components)).not.toContain('additionalProperties')
})

test('its page has a command for each call, and they work as they are shown', async () => {
  const decode = (html: string) =>
    html.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&')
  const commandsOf = (page: string) =>
    [...page.matchAll(/<code>(curl [^<]+)<\/code>/g)].map(([, command]) => decode(command ?? ''))
  /** Calls what a command of the page calls, with credentials in place of its placeholders. */
  const run = (command: string, token: string) => {
    const [, url = ''] = /^curl '([^']+)'/.exec(command) ?? []
    const [, body] = / -d '([^']+)'/.exec(command) ?? []
    const { clientId, clientSecret } = PRICING_CLIENT
    const headers = [...command.matchAll(/-H '([^:]+): ([^']+)'/g)].map(
      ([, name = '', value = '']): [string, string] => [name, value.replace('ACCESS_TOKEN', token)],
    )
    return fetch(url, {
      headers: headers.length > 0 ? headers : [['content-type', 'application/x-www-form-urlencoded']],
      ...(body && {
        method: 'POST',
        body: body.replace('CLIENT_ID', clientId).replace('CLIENT_SECRET', clientSecret),
      }),
    })
  }

  await loadPriceList(SAMPLE, join(app.config.dataDir, PRICE_LIST_FOLDERS.production))
  const commands = commandsOf((await get('/live-pricing')).text)
  const paths = commands.map((command) => /live-pricing(\/[\w/-]+)/.exec(command)?.[1])
  expect(paths).toEqual(['/connect/token', '/stores/nearest', '/stores/northcote', '/request-prices'])
  const issued = (await (await run(commands[0] ?? '', '')).json()) as { access_token: string }
  const answers = []
  for (const command of commands.slice(1)) {
    const answer = await run(command, issued.access_token)
    expect([command, answer.status]).toEqual([command, 200])
    answers.push(await answer.json())
  }
  expect(answers).toMatchObject([[{ id: 'northcote' }], { id: 'northcote' }, [{ unitPrice: 5.14 }, {}]])
})

test('its page shows every endpoint and schema, without scripts or external resources', async () => {
  const { text, status, headers } = await get('/live-pricing')
  expect(status).toBe(200)
  const { paths, components } = openApi('http://x')
  for (const name of [...Object.keys(paths), ...Object.keys(components.schemas), 'price_on_application'])
    expect(text).toContain(name)
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  for (const [, address] of text.matchAll(/(?:src|href)="([^"#]+)"/g))
    expect(new URL(address ?? '', app.url).origin).toBe(app.url)
  expect(text).not.toMatch(/<style|style="|<script(?![^>]*src=)/)
  const links = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
  for (const id of links) expect(text, `#${id}`).toContain(`id="${id}"`)
})

test('the letter case of an address makes no route of its own in the log, whose routes label figures', async () => {
  const logged = app.logLines.length
  for (const base of ['live-pricing', 'LIVE-pricing', 'live-PRICING'])
    expect((await get(`/${base}/openapi.json`)).status).toBe(200)
  const routes = () =>
    app.logLines.slice(logged).flatMap((line): string[] => JSON.parse(line).route?.match(/.*openapi.*/) ?? [])
  await vi.waitFor(() => expect(routes()).toHaveLength(3))
  expect(new Set(routes()).size).toBe(1)
})

test('production or staging without clients is not served', async () => {
  const bare = await startAll({ LIVE_PRICING_CLIENTS: '' })
  for (const base of ['/live-pricing', '/live-pricing-staging/openapi.json'])
    expect((await createVisitor().get(bare.url + base)).status).toBe(404)
  await bare.close()
})
