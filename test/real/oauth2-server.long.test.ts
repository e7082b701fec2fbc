import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Running, startAll } from '../support/app.ts'
import { tempDir, testEnv } from '../support/env.ts'
import { connectionsOf, signedIn } from '../support/flow.ts'
import { freePort } from '../support/ports.ts'
import type { Visitor } from '../support/visitor.ts'
import { ACCESS_TOKEN_SECONDS, startOAuth2Server } from './oauth2-server.ts'
import { call, later, type RealPlatform, refresh, refreshesOf, startClock } from './platform.ts'

const CALLS = 20
/** The status of each of so many calls at once, by one visitor or by several in turn. */
const callAtOnce = async (...callers: [Pick<Running, 'url'>, Visitor][]) =>
  Promise.all(
    Array.from({ length: CALLS / callers.length }, () =>
      callers.map(async ([app, visitor]) => (await call(app, visitor)).status),
    ).flat(),
  )
const ALL_ANSWERED = Array.from({ length: CALLS }, () => 200)

describe('@node-oauth/oauth2-server as the platform, which ends each refresh token that was used', () => {
  let platform: RealPlatform
  let app: Running
  let visitor: Visitor
  beforeEach(async () => {
    startClock()
    const port = await freePort()
    platform = await startOAuth2Server(`http://localhost:${port}`)
    app = await startAll(platform.env, {}, undefined, port)
    visitor = await signedIn(app)
  })
  afterEach(async () => {
    await app.close()
    await platform.close()
    vi.useRealTimers()
  })

  /** Presses Connect; the platform asks nothing. */
  const connect = async () => visitor.follow(await visitor.post(`${app.url}/connect`))

  test('connects an account, and calls the API for it', async () => {
    expect((await connect()).text).toContain(' is connected.')
    expect((await call(app, visitor)).status).toBe(200)
    expect(await connectionsOf(app, visitor)).toMatchObject([
      { status: 'active', scopes: ['catalogues', 'leads'] },
    ])
  })

  test('each refresh sends the refresh token that the last one returned', async () => {
    await connect()
    expect((await refresh(app, visitor)).status).toBe(200)
    // A user may request the next one after 5 s.
    later(6)
    expect((await refresh(app, visitor)).status).toBe(200)
    later(ACCESS_TOKEN_SECONDS)
    expect((await call(app, visitor)).status).toBe(200)
    expect(refreshesOf(platform).map(({ status }) => status)).toEqual([200, 200, 200])
    const issued = platform.tokenRequests.map(({ answer }) => answer.refresh_token)
    expect(new Set(issued).size).toBe(4)
  })

  test('20 calls at an expiry cause one refresh, and the connection outlives it', async () => {
    await connect()
    for (const expiry of [1, 2, 3]) {
      later(ACCESS_TOKEN_SECONDS)
      expect(await callAtOnce([app, visitor])).toEqual(ALL_ANSWERED)
      expect(refreshesOf(platform)).toHaveLength(expiry)
    }
  })

  test('after a revocation, the next call answers 409 connection_revoked, and connecting again works', async () => {
    await connect()
    await platform.revoke()
    const answer = await call(app, visitor)
    expect(answer.json()).toMatchObject({ status: 409, code: 'connection_revoked' })
    expect(await connectionsOf(app, visitor)).toMatchObject([{ status: 'revoked' }])
    await connect()
    expect((await call(app, visitor)).status).toBe(200)
    expect(await connectionsOf(app, visitor)).toMatchObject([{ status: 'active' }])
  })

  test('a wrong client secret is an error of the settings, although the answer is 400 and not 401', async () => {
    await app.close()
    const port = Number(new URL(app.url).port)
    app = await startAll({ ...platform.env, PLATFORM_CLIENT_SECRET: 'wrong' }, {}, undefined, port)
    visitor = await signedIn(app)
    await connect()
    expect(platform.tokenRequests).toMatchObject([{ status: 400, answer: { error: 'invalid_client' } }])
    const failed = app.logLines.find((line) => line.includes('connect failed'))
    expect(JSON.parse(failed ?? '')).toMatchObject({
      code: 'misconfigured',
      reason: expect.stringContaining('invalid_client'),
    })
  })
})

describe('two instances of the app with one store', () => {
  const { dir, remove } = tempDir()
  const { TOKEN_ENCRYPTION_KEYS = '' } = testEnv({})
  let platform: RealPlatform
  let first: Running
  let second: Running
  beforeEach(async () => {
    startClock()
    const port = await freePort()
    platform = await startOAuth2Server(`http://localhost:${port}`)
    const env = { ...platform.env, DATA_DIR: dir, TOKEN_ENCRYPTION_KEYS }
    first = await startAll(env, {}, undefined, port)
    second = await startAll(env)
  })
  afterEach(async () => {
    await Promise.all([first.close(), second.close()])
    await platform.close()
    vi.useRealTimers()
    remove()
  })

  test('20 calls at an expiry cause one refresh, and the connection outlives it', async () => {
    const [visitor, sameUser] = [await signedIn(first), await signedIn(second)]
    await visitor.follow(await visitor.post(`${first.url}/connect`))
    for (const expiry of [1, 2, 3]) {
      later(ACCESS_TOKEN_SECONDS)
      expect(await callAtOnce([first, visitor], [second, sameUser])).toEqual(ALL_ANSWERED)
      expect(refreshesOf(platform)).toHaveLength(expiry)
    }
  })
})
