import { createClient } from 'redis'
import { expect, onTestFinished, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../src/connect/errors.ts'
import { PasswordAccounts } from '../../src/web/password-accounts.ts'
import { passwordSignIn } from '../../src/web/password-sign-in.ts'
import { startAll } from '../support/app.ts'
import { signedIn } from '../support/flow.ts'
import { startOwnProvider } from '../support/openid-provider.ts'
import { REDIS, withRedis } from '../support/programs.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { createVisitor } from '../support/visitor.ts'

test('a callback without any cookie says that the browser blocks them', async () => {
  const provider = await startOwnProvider()
  const app = await startAll(provider.env)
  onTestFinished(async () => void (await Promise.all([app.close(), provider.close()])))
  const answer = await fetch(`${app.url}/sign-in/callback?code=c&state=s`)
  expect(await answer.text()).toContain('Your browser blocks cookies')
})

test.each([
  ['the demo', undefined, { name: 'ann' }],
  ['email and password', passwordSignIn, { email: 'ann@box.example', password: 'correct horse' }],
])('a browser that keeps no cookie is told so after the sign-in by %s', async (_, own, form) => {
  const app = await startAll({}, {}, undefined, undefined, own)
  onTestFinished(() => app.close())
  await new PasswordAccounts(app.services.store).create('ann@box.example', 'correct horse')
  const { headers } = await createVisitor().post(`${app.url}/sign-in`, { form })
  const answer = await createVisitor().get(app.url + headers.get('location'))
  expect(answer.status).toBe(400)
  expect(answer.text).toContain('Your browser blocks cookies')
})

test.skipIf(!REDIS)(
  `nothing is stored for visitors without a session, whatever they open or post${withRedis}`,
  async () => {
    const [redis, provider] = [await startRedis(), await startOwnProvider()]
    provider.choices.hasLogout = true
    for (const [env, own] of [[{}], [provider.env], [{}, passwordSignIn]] as const) {
      const app = await startAll({ ...env, REDIS_URL: redis.url }, {}, undefined, undefined, own)
      const { paths } = (await createVisitor().get(`${app.url}/openapi.json`)).json()
      // What is behind the sign-in is the same for each.
      const others = own ? Object.keys(paths) : []
      for (const path of ['/', '/connections', '/sign-in', '/sign-in/callback', ...others]) {
        const url = app.url + path.replaceAll(/\{\w+\}/g, 'x')
        await createVisitor().get(url)
        // The demo's sign-in takes any name.
        await createVisitor().post(url, { form: { email: 'a@b.example', password: 'x' } })
      }
      await Promise.all(Array.from({ length: 20 }, () => createVisitor().post(`${app.url}/sign-out`)))
      await app.close()
    }
    expect(await keysIn(redis)).toEqual([])
    await Promise.all([redis.close(), provider.close()])
  },
)

test.skipIf(!REDIS)(
  `nothing is stored for sign-ins that begin, nor for callbacks with a made-up code${withRedis}`,
  async () => {
    const [redis, provider] = [await startRedis(), await startOwnProvider()]
    const app = await startAll({ ...provider.env, REDIS_URL: redis.url })
    onTestFinished(async () => {
      await Promise.all([app.close(), redis.close(), provider.close()])
    })
    const signIns = Array.from({ length: 50 }, async () => {
      const visitor = createVisitor()
      const { headers } = await visitor.get(`${app.url}/sign-in`)
      const state = new URL(headers.get('location') ?? '').searchParams.get('state')
      return visitor.get(`${app.url}/sign-in/callback?code=made-up&state=${state}`)
    })
    for (const { status } of await Promise.all(signIns)) expect(status).toBe(400)
    expect(await keysIn(redis)).toEqual([])
  },
)

test.skipIf(!REDIS)(
  `of who has signed out nothing is stored, nor of the connect flows that they began${withRedis}`,
  async () => {
    const [redis, provider] = [await startRedis(), await startOwnProvider()]
    for (const [env, own] of [[{}], [provider.env], [{}, passwordSignIn]] as const) {
      // The flow inspector keeps what it shows.
      const settings = { ...env, REDIS_URL: redis.url, FLOW_INSPECTOR: 'false' }
      const app = await startAll(settings, {}, undefined, undefined, own)
      await new PasswordAccounts(app.services.store).create('ann@ridgeline.example', 'correct horse')
      const before = await keysIn(redis)
      const visitor = createVisitor()
      const form = { name: 'ann', email: 'ann@ridgeline.example', password: 'correct horse' }
      await visitor.follow(await visitor.get(`${app.url}/sign-in`))
      await visitor.post(`${app.url}/sign-in`, { form })
      await visitor.post(`${app.url}/connect`)
      expect((await keysIn(redis)).length).toBe(before.length + 2)
      await visitor.post(`${app.url}/sign-out`)
      expect(await keysIn(redis)).toEqual(before)
      expect((await visitor.get(app.url)).status).toBe(200)
      expect((await visitor.get(`${app.url}/connections`)).status).toBe(401)
      await app.close()
    }
    await Promise.all([redis.close(), provider.close()])
  },
)

test('signing out deletes the cookie of the session, as the browser has it', async () => {
  const app = await startAll({ BASE_URL: 'https://app.example.com' })
  onTestFinished(app.close)
  const visitor = await signedIn(app)
  const [deleted = ''] = (await visitor.post(`${app.url}/sign-out`)).headers.getSetCookie()
  expect(deleted).toMatch(
    /^__Host-[\w-]+=; Path=\/; Expires=Thu, 01 Jan 1970 [^;]*; HttpOnly; Secure; SameSite=Lax$/,
  )
})

test('a sign-out that the store does not accept is a 503, and the user is signed in until it does', async () => {
  const app = await startAll()
  onTestFinished(app.close)
  const visitor = await signedIn(app)
  const fault = vi.spyOn(app.services.store, 'delete').mockRejectedValue(new StoreUnavailableError('a fault'))
  expect((await visitor.post(`${app.url}/sign-out`)).status).toBe(503)
  expect((await visitor.get(`${app.url}/connections`)).status).toBe(200)
  fault.mockRestore()
  await visitor.post(`${app.url}/sign-out`)
  expect((await visitor.get(`${app.url}/connections`)).status).toBe(401)
})

/** What is in a Redis, but for the failed logins of other servers, which features count for a minute. */
async function keysIn({ url }: RedisServer): Promise<string[]> {
  const client = await createClient({ url }).connect()
  const keys = await client.keys('*')
  client.destroy()
  return keys.filter((key) => !key.startsWith('connect:failed-')).sort()
}

test.each(['a\u0000b', 'a\ud800b', '', 'x'.repeat(256)])(
  'an ID token with the subject %j signs nobody in, and the log says why',
  async (sub) => {
    const provider = await startOwnProvider()
    const app = await startAll(provider.env)
    onTestFinished(async () => void (await Promise.all([app.close(), provider.close()])))
    provider.choices.claims = { sub }
    const visitor = createVisitor()
    const page = await visitor.follow(await visitor.get(`${app.url}/sign-in`))
    expect(page.status).toBe(400)
    expect(page.text).toContain('did not say who you are')
    expect((await visitor.get(`${app.url}/connections`)).status).toBe(401)
    expect(app.logLines.join()).toMatch(/"code":"sign_in_failed","reason":"ID token: sub is/)
  },
)

test('a store that refuses a new session is asked once, and the sign-in says so', async () => {
  const app = await startAll()
  onTestFinished(() => app.close())
  const set = vi.spyOn(app.services.sessionStore, 'set').mockImplementation((_id, _session, done) => {
    done?.(new StoreUnavailableError('full'))
  })
  const answer = await createVisitor().post(`${app.url}/sign-in`, { form: { name: 'ann' } })
  expect([answer.status, set.mock.calls.length]).toEqual([503, 1])
  expect(answer.text).toContain('Service unavailable')
})

test('an error of the store after the answer is one line of the log', async () => {
  const app = await startAll()
  onTestFinished(() => app.close())
  const store = app.services.sessionStore
  const save = store.set.bind(store)
  let saved = 0
  vi.spyOn(store, 'set').mockImplementation((id, session, done) => {
    if (saved++ === 0) save(id, session, done)
    else done?.(new StoreUnavailableError('full'))
  })
  const answer = await createVisitor().post(`${app.url}/sign-in`, { form: { name: 'ann' } })
  expect(answer.status).toBe(303)
  const isError = (line: string) => JSON.parse(line).level === 'error'
  await expect.poll(() => app.logLines.filter(isError)).toHaveLength(1)
  expect(app.logLines.find(isError)).toContain('"reason":"full"')
})
