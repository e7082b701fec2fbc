import { createHash } from 'node:crypto'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { connectionsOf, signedIn, toCallback } from '../../support/flow.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'

describe.skipIf(!REDIS)(`a consent while the store refuses writes${withRedis}`, () => {
  let server: RedisServer
  let app: Running
  let admin: ReturnType<typeof createClient>
  beforeAll(async () => {
    server = await startRedis()
    admin = createClient({ url: server.url })
    await admin.connect()
    app = await startAll({ REDIS_URL: server.url })
    await vi.waitFor(async () => expect((await fetch(`${app.url}/health/ready`)).status).toBe(200), 5_000)
  })
  afterAll(async () => {
    await app.close()
    admin.destroy()
    await server.close()
  })

  test('ends on a page that explains it, without the code in its address, and the account is connected once the store accepts it', async () => {
    const visitor = await signedIn(app)
    const url = await toCallback(app, visitor)
    const { oauth } = app.services.connect
    const exchange = oauth.exchangeCode.bind(oauth)
    const full = vi.spyOn(oauth, 'exchangeCode').mockImplementation(async (flow) => {
      const tokens = await exchange(flow)
      await admin.configSet('maxmemory', '1')
      return tokens
    })
    const page = await visitor.follow(await visitor.get(url))
    full.mockRestore()
    expect([page.url, page.status]).toEqual([`${app.url}/connect/failed`, 503])
    expect(page.text).toContain('granted access')
    // The store could not remember it, so the browser does.
    const again = await visitor.get(page.url, { accept: 'application/json' })
    expect(again.json()).toMatchObject({ code: 'not_saved_yet' })
    expect(await connectionsOf(app, visitor)).toMatchObject([
      { bxcontext: 'harbour-homes', status: 'active' },
    ])
    await admin.configSet('maxmemory', '0')
    await app.services.connect.vault.idle()
    // Opening the callback again shows how the first visit ended, without waiting for an exchange that is over.
    const startedAt = performance.now()
    expect((await visitor.follow(await visitor.get(url))).url).toBe(`${app.url}/connect/failed`)
    expect(performance.now() - startedAt).toBeLessThan(30_000)
    expect(
      await app.services.store.get({ kind: 'platform-connection', owner: 'ann', id: 'harbour-homes' }),
    ).not.toBeNull()
  })

  test.each([
    ['is connected', undefined],
    ['is denied', { answer: 'deny' }],
  ])('is forgotten when the next one %s', async (_how, form) => {
    const visitor = await signedIn(app, 'bob')
    const jar = visitor.cookies.get(new URL(app.url).host)
    jar?.set('connect_failed', 'not_saved_yet.x')
    await visitor.get(await toCallback(app, visitor, form && { form }))
    expect(jar?.has('connect_failed')).toBe(false)
  })
})

test('a failure that another session has left in the browser is not shown', async () => {
  const app = await startAll()
  const visitor = await signedIn(app)
  const jar = visitor.cookies.get(new URL(app.url).host)
  jar?.set(
    'connect_failed',
    `not_saved_yet.${createHash('sha256').update('another session').digest('base64url')}`,
  )
  const answer = await visitor.get(`${app.url}/connect/failed`)
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/connections'])
  await app.close()
})

test('a code exchange that takes longer than any API call may take connects the account', async () => {
  const app = await startAll({}, { slowMs: 1_000 }, { apiTimeoutMs: 300, tokenTimeoutMs: 32_000 })
  const visitor = await signedIn(app)
  const url = await toCallback(app, visitor)
  const { oauth } = app.services.connect
  const sent = vi.spyOn(oauth, 'exchangeCode')
  await app.fault('exchange', 'slow', 1)
  const page = await visitor.follow(await visitor.get(url))
  expect(page.url).toBe(`${app.url}/connections`)
  expect(sent).toHaveBeenCalledTimes(1)
  expect(await connectionsOf(app, visitor)).toMatchObject([{ status: 'active' }])
  await app.close()
})
