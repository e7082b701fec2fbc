import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConfigurationError, PlatformUnavailableError } from '../../../src/connect/platform/errors.ts'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import { FIRST_PARTY } from '../../../src/features/first-party/access.ts'
import { listTenants } from '../../../src/features/first-party/first-party.ts'
import { tempDir } from '../../support/app.ts'
import { serve } from '../../support/ports.ts'
import { newKey } from '../../support/vault.ts'
import {
  CREDENTIALS,
  openSupplier,
  type Supplier,
  type SupplierPlatform,
  startPlatform,
} from '../price-files/support.ts'

let platform: SupplierPlatform
let opened: Supplier[]
beforeEach(async () => {
  platform = await startPlatform()
  opened = []
})
afterEach(async () => {
  await Promise.all(opened.map((supplier) => supplier.close()))
  await platform.close()
})

const open = (options?: Parameters<typeof openSupplier>[1]) => {
  const supplier = openSupplier(platform.apiUrl, options)
  opened.push(supplier)
  return supplier
}
const called = async (endpoint: string) =>
  (await platform.calls()).filter((call) => call.endpoint === endpoint).map(({ status }) => status)

describe('first-party access', () => {
  test('logs in once for 1000 calls at the same time, and not again', async () => {
    const { catalogues, source } = open()
    await Promise.all(Array.from({ length: 1000 }, () => source.accessToken()))
    await catalogues.list(source)
    expect(await called('login')).toEqual([200])
  })

  test('refreshes an expired token once, however many calls find it expired, and logs in no more', async () => {
    const { catalogues, source } = open()
    await catalogues.list(source)
    await platform.post('/sandbox/expire')
    await Promise.all(Array.from({ length: 50 }, () => catalogues.list(source)))
    expect(await called('login')).toEqual([200])
    expect(await called('first-party refresh')).toEqual([200])
  })

  test('replaces the refresh token at each refresh', async () => {
    const { catalogues, source } = open()
    await catalogues.list(source)
    for (let time = 0; time < 3; time++) {
      await platform.post('/sandbox/expire')
      await catalogues.list(source)
    }
    expect(await called('first-party refresh')).toEqual([200, 200, 200])
    expect(await called('login')).toEqual([200])
  })

  test('logs in once when its refresh token was deactivated', async () => {
    const { catalogues, source } = open()
    await catalogues.list(source)
    await platform.post('/sandbox/expire')
    await platform.post('/sandbox/expire-refresh-tokens')
    await Promise.all(Array.from({ length: 50 }, () => catalogues.list(source)))
    expect(await called('first-party refresh')).toEqual([401])
    expect(await called('login')).toEqual([200, 200])
  })

  test('keeps its tokens for the next run, encrypted', async () => {
    const { dir, remove } = tempDir()
    const keys = [newKey()]
    const first = open({ store: openSqlite({ file: `${dir}/s` }), keys })
    const token = await first.source.accessToken()
    const second = open({ store: openSqlite({ file: `${dir}/s` }), keys })
    expect(await second.source.accessToken()).toBe(token)
    expect(await called('login')).toEqual([200])
    const stored = []
    for await (const { value } of second.store.scan(FIRST_PARTY)) stored.push(value)
    expect(stored).toEqual([expect.stringMatching(/^v1\./)])
    expect(stored.join()).not.toContain(token)
    remove()
  })

  test('starts anew when its stored tokens cannot be opened any more', async () => {
    const store = openSqlite({ file: ':memory:' })
    await open({ store }).source.accessToken()
    await openSupplier(platform.apiUrl, { store, keys: [newKey()] }).source.accessToken()
    expect(await called('login')).toEqual([200, 200])
  })

  test.each([
    ['API key', { apiKey: 'wrong' }],
    ['subscription key', { subscriptionKey: 'wrong' }],
    ['email', { email: 'nobody@example.com' }],
    ['tenant', { tenantId: '00000000-0000-0000-0000-000000000000' }],
  ])('with a wrong %s says so at once and does not retry', async (name, wrong) => {
    const { catalogues, source } = open({ credentials: { ...CREDENTIALS, ...wrong } })
    const error = await catalogues.list(source).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(ConfigurationError)
    expect((error as ConfigurationError).reason).toContain(name)
    expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain(CREDENTIALS.apiKey)
    await catalogues.list(source).catch(() => {})
    expect(await called('login')).toEqual([401])
  })

  test('while login fails for a moment is unavailable, and works again afterwards', async () => {
    await platform.fault('login', '500', 1)
    const { source } = open()
    await expect(source.accessToken()).rejects.toBeInstanceOf(PlatformUnavailableError)
    await new Promise((resolve) => setTimeout(resolve, 1100))
    expect(await source.accessToken()).toMatch(/^fp_/)
  })

  test('sends the subscription key with every call, login and refresh included', async () => {
    const seen: [string, unknown, unknown][] = []
    const { port, close } = await serve((req, res) => {
      const { 'ocp-apim-subscription-key': key, 'content-type': type } = req.headers
      seen.push([`${req.method} ${req.url?.split('?')[0]}`, key, type])
      res.setHeader('content-type', 'application/json')
      if (req.url === '/accounts/auth/login')
        res.end('{"accessToken":"a","refreshToken":"r","expiresIn":0,"isSuccessful":true}')
      else if (req.url?.endsWith('refresh-token'))
        res.end('{"accessToken":"b","refreshToken":"r2","expiresIn":60}')
      else if (req.method === 'POST') res.writeHead(201).end('{"id":1,"batchId":"b","status":"Started"}')
      else res.end(req.url?.includes('/import/') ? '{"status":"Completed"}' : '[]')
    })
    const { api, catalogues, source } = openSupplier(`http://127.0.0.1:${port}`)
    await source.accessToken()
    await catalogues.list(source)
    await catalogues.create(source, { name: 'x', scope: 'Public' })
    await catalogues.startImport(source, '1', 'b')
    await catalogues.uploadItems(source, '1', 'b', [{ code: 'A', price: 1 }])
    await catalogues.getImport(source, '1', 'b')
    await listTenants(api, source)
    expect(seen.map(([call]) => call)).toEqual([
      ...[
        'POST /accounts/auth/login',
        'POST /accounts/auth/refresh-token',
        'GET /catalogues',
        'POST /catalogues',
      ],
      ...[
        'POST /catalogues/1/import/start',
        'POST /catalogues/1/import/b/items',
        'GET /catalogues/1/import/b',
      ],
      'GET /accounts/tenants',
    ])
    for (const [call, key, type] of seen) {
      expect(key, call).toBe(CREDENTIALS.subscriptionKey)
      expect(type, call).toBe('application/json')
    }
    await close()
  })

  test('lists the tenants of the key, and acts for one of them', async () => {
    const { api, source } = open()
    const tenants = await listTenants(api, source)
    expect(tenants.map(({ name }) => name)).toEqual([
      'Summit Building Supplies',
      'Summit Coast',
      'Summit Ranges',
    ])
    const coast = open({ credentials: { ...CREDENTIALS, tenantId: tenants[1]?.tenantId } })
    const { id } = await coast.catalogues.create(coast.source, { name: 'Coast only', scope: 'Managed' })
    expect((await coast.catalogues.get(coast.source, String(id))).name).toBe('Coast only')
    const own = await open().catalogues.list(source, { top: 100 })
    expect(own.items.some(({ name }) => name === 'Coast only')).toBe(false)
  })
})
