import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Running, startAll } from '../support/app.ts'
import { freePort } from '../support/ports.ts'
import { REDIS, withRedis } from '../support/programs.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'
import { hideAdvice, passPages } from './oidc-provider-pages.ts'
import { type SignInProvider, startSignInProvider } from './oidc-provider-sign-in.ts'

const METHODS = ['client_secret_basic', 'client_secret_post'] as const

let provider: SignInProvider
let app: Running
let visitor: Visitor
beforeEach(() => {
  hideAdvice()
  visitor = createVisitor()
})
afterEach(async () => {
  await app.close()
  await provider.close()
  vi.restoreAllMocks()
})

async function start(
  options: Parameters<typeof startSignInProvider>[1] = {},
  settings: Record<string, string> = {},
) {
  const port = await freePort()
  provider = await startSignInProvider(`http://localhost:${port}`, options)
  app = await startAll({ ...provider.env, ...settings }, {}, undefined, port)
}

/** Goes through the provider's pages; resolves to the callback, not yet opened. */
const toCallback = async () =>
  (
    await passPages(visitor, await visitor.get(`${app.url}/sign-in`), {
      login: 'ann',
      stopAt: `${app.url}/sign-in/callback`,
    })
  ).url
const openCallback = async () => visitor.get(await toCallback())
const isSignedIn = async () => (await visitor.get(`${app.url}/connections`)).status === 200

describe('signing in at oidc-provider', () => {
  test('works with its defaults', async () => {
    await start()
    await openCallback()
    expect(await isSignedIn()).toBe(true)
  })

  test.each(METHODS)('works by discovery alone if it offers only %s', async (only) => {
    await start({ only })
    await openCallback()
    expect(provider.tokenRequests).toEqual([{ method: only, status: 200, error: undefined }])
    expect(await isSignedIn()).toBe(true)
  })

  test.each([undefined, ...METHODS])(
    'logs which settings to check if the secret is wrong (only %s)',
    async (only) => {
      await start({ only }, { OIDC_CLIENT_SECRET: 'wrong' })
      await openCallback()
      expect(provider.tokenRequests).toMatchObject([{ status: 401, error: 'invalid_client' }])
      const line = app.logLines.findLast((text) => text.includes('"route":"/sign-in/callback"'))
      expect(JSON.parse(line ?? '')).toMatchObject({
        code: 'sign_in_failed',
        reason: expect.stringMatching(/OIDC_CLIENT_ID.*OIDC_CLIENT_SECRET/),
      })
    },
  )
})

/** What ten callbacks at once must not break. `startWithStore` starts the app. */
function describeTenCallbacks(startWithStore: () => Promise<void>) {
  beforeEach(async () => {
    await startWithStore()
    const callback = await toCallback()
    // The first round opens ten connections, so that the requests of the second arrive together.
    for (const url of [`${app.url}/health/live`, callback])
      await Promise.all(Array.from({ length: 10 }, () => visitor.get(url)))
  })

  test('send the code once', () => {
    expect(provider.tokenRequests).toHaveLength(1)
  })

  test('leave the browser signed in', async () => {
    expect(await isSignedIn()).toBe(true)
  })
}

describe('ten callbacks at once, with sessions in SQLite', () => describeTenCallbacks(start))

describe.skipIf(!REDIS)(`ten callbacks at once, with sessions in Redis${withRedis}`, () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.close())
  describeTenCallbacks(() => start({}, { REDIS_URL: redis.url }))
})
