import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import { texts } from '../../../src/web/texts.ts'
import { type Running, sharedApp, startAll } from '../../support/app.ts'
import { newUser, signedIn } from '../../support/flow.ts'
import { startOwnProvider } from '../../support/openid-provider.ts'
import { shown } from '../../support/pages.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { createClient, type RedisServer, startRedis } from '../../support/redis.ts'
import { browserPaths } from '../../support/routes.ts'
import { createVisitor } from '../../support/visitor.ts'

const shared = await sharedApp()

describe.skipIf(!REDIS)(`with Redis${withRedis}`, () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis?.close())

  /** The entries in the store, except the failed logins of other servers, which features count for a minute. */
  async function storedKeys(): Promise<string[]> {
    const client = await createClient({ url: redis.url }).connect()
    const keys = await client.keys('*')
    client.destroy()
    return keys.filter((key) => !key.startsWith('connect:failed-')).sort()
  }

  describe.each(['the demo', 'OpenID Connect'])('and the sign-in by %s, nothing is stored', (name) => {
    let app: Running
    let provider: Awaited<ReturnType<typeof startOwnProvider>>
    beforeAll(async () => {
      provider = await startOwnProvider()
      provider.choices.hasLogout = true
      const env = name === 'OpenID Connect' ? provider.env : {}
      // The flow inspector keeps what it shows.
      const settings = { ...env, REDIS_URL: redis.url, FLOW_INSPECTOR: 'false' }
      app = await startAll(settings)
    })
    afterAll(async () => {
      await app.close()
      await provider.close()
    })

    test('for visitors without a session, whatever they open or post, or if their callback has a made-up code', async () => {
      const before = await storedKeys()
      // Everything after the sign-in is the same for each.
      const others = name === 'the demo' ? [] : browserPaths(app.services, 'x')
      for (const path of ['/', '/connections', '/sign-in', '/sign-in/callback', '/sign-out', ...others]) {
        const url = app.url + path
        await createVisitor().get(url)
        // The demo's sign-in takes any name.
        await createVisitor().post(url, { form: { bxcontext: 'x' } })
      }
      const visitor = createVisitor()
      const { headers } = await visitor.get(`${app.url}/sign-in`)
      const state = URL.parse(headers.get('location') ?? '')?.searchParams.get('state')
      expect((await visitor.get(`${app.url}/sign-in/callback?code=made-up&state=${state}`)).status).not.toBe(
        303,
      )
      expect(await storedKeys()).toEqual(before)
    })

    test('of users who have signed out, nor of the connect flows that they began', async () => {
      const before = await storedKeys()
      const visitor = createVisitor()
      await visitor.follow(await visitor.get(`${app.url}/sign-in`))
      await visitor.post(`${app.url}/sign-in`, { form: { name: 'ann' } })
      await visitor.post(`${app.url}/connect`)
      expect((await storedKeys()).length).toBeGreaterThan(before.length)
      await visitor.post(`${app.url}/sign-out`)
      expect(await storedKeys()).toEqual(before)
      expect((await visitor.get(app.url)).status).toBe(200)
      expect((await visitor.get(`${app.url}/connections`)).status).toBe(401)
    })
  })
})

test('a browser that keeps no cookie is told so after the sign-in', async () => {
  const { headers } = await createVisitor().post(`${shared.url}/sign-in`, { form: { name: newUser() } })
  const answer = await createVisitor().get(shared.url + headers.get('location'))
  expect(answer.status).toBe(400)
  expect(answer.text).toContain(shown(texts.signIn.cookiesBlocked))
})

test('a sign-out that the store does not accept is a 503, and the user is signed in until it does', async () => {
  const visitor = await signedIn(shared, newUser())
  const { store } = shared.services
  const fault = vi.spyOn(store, 'delete').mockRejectedValue(new StoreUnavailableError('a fault'))
  expect((await visitor.post(`${shared.url}/sign-out`)).status).toBe(503)
  expect((await visitor.get(`${shared.url}/connections`)).status).toBe(200)
  fault.mockRestore()
  await visitor.post(`${shared.url}/sign-out`)
  expect((await visitor.get(`${shared.url}/connections`)).status).toBe(401)
})

test('a store that refuses a new session is asked once, and the sign-in says so', async () => {
  const set = vi.spyOn(shared.services.sessionStore, 'set').mockImplementation((_id, _session, done) => {
    done?.(new StoreUnavailableError('full'))
  })
  const answer = await createVisitor().post(`${shared.url}/sign-in`, { form: { name: newUser() } })
  expect([answer.status, set.mock.calls.length]).toEqual([503, 1])
  expect(answer.text).toContain(shown(texts.coreErrors.store_unavailable.title))
  expect(answer.text).not.toContain('full')
  expect(shared.logLines.join()).toContain('"reason":"full"')
})

test('an error of the store after the answer is one line of the log', async () => {
  const store = shared.services.sessionStore
  const save = store.set.bind(store)
  let saved = 0
  vi.spyOn(store, 'set').mockImplementation((id, session, done) => {
    if (saved++ === 0) save(id, session, done)
    else done?.(new StoreUnavailableError('full after all'))
  })
  const answer = await createVisitor().post(`${shared.url}/sign-in`, { form: { name: newUser() } })
  expect(answer.status).toBe(303)
  const about = () => shared.logLines.filter((line) => line.includes('full after all'))
  await expect.poll(about).toHaveLength(1)
  expect(about()[0]).toContain('"level":"error"')
})
