import { setTimeout as pause } from 'node:timers/promises'
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
    expect([new URL(page.url).pathname, page.status]).toEqual(['/connect/failed', 503])
    expect(page.url).not.toMatch(/code=|state=/)
    expect(page.text).toContain('granted access')
    await admin.configSet('maxmemory', '0')
    await app.services.connect.vault.idle()
    expect(await connectionsOf(app, visitor)).toMatchObject([
      { bxcontext: 'harbour-homes', status: 'active' },
    ])
    // Opening the callback again shows how the first visit ended.
    expect((await visitor.follow(await visitor.get(url))).text).toContain('granted access')
  })

  test('is stored by a process that stops and has no time left when the tokens arrive', async () => {
    const stopping = await startAll({ REDIS_URL: server.url }, { slowMs: 300 })
    const visitor = await signedIn(stopping, 'late')
    const url = await toCallback(stopping, visitor)
    await stopping.fault('exchange', 'slow', 1)
    const { connect, store } = stopping.services
    const sent = vi.spyOn(connect.oauth, 'exchangeCode')
    const write = store.compareAndSet
    vi.spyOn(store, 'compareAndSet').mockImplementation((...of) => pause(50).then(() => write(...of)))
    const answer = visitor.get(url)
    await vi.waitFor(() => expect(sent).toHaveBeenCalled())
    await stopping.services.close({ graceMs: 0 })
    await answer
    expect(await app.services.connect.vault.list('late')).toHaveLength(1)
    await stopping.close()
  })
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
