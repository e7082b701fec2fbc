import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openApi } from '../../../src/features/live-pricing/openapi.ts'
import { type Running, startAll } from '../../support/app.ts'
import { createVisitor } from '../../support/visitor.ts'

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
    expect(Object.keys(paths)).toEqual([
      '/connect/token',
      '/stores/nearest',
      '/stores/{id}',
      '/request-prices',
    ])
    const schemas = Object.keys(components.schemas)
    expect(schemas).toEqual(
      expect.arrayContaining([
        'Store',
        'TradingHours',
        'DailyTradingHours',
        'OpeningHours',
        'PublicHoliday',
        'PriceItemRequest',
        'PriceItem',
      ]),
    )
    const references = [
      ...JSON.stringify({ paths, components }).matchAll(/"#\/components\/schemas\/(\w+)"/g),
    ].map(([, name]) => name)
    expect(schemas).toEqual(expect.arrayContaining([...new Set(references)]))
  })
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

test('production or staging without clients is not served', async () => {
  const bare = await startAll({ LIVE_PRICING_CLIENTS: '' })
  for (const base of ['/live-pricing', '/live-pricing-staging/openapi.json'])
    expect((await createVisitor().get(bare.url + base)).status).toBe(404)
  await bare.close()
})
