import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { platform as contract } from '../../src/connect/index.ts'
import { type Running, startAll } from '../support/app.ts'
import { tempDir, testEnv } from '../support/env.ts'
import { connectionsOf, signedIn } from '../support/flow.ts'
import {
  ACCESS_TOKEN_SECONDS,
  BXCONTEXT,
  hideAdvice,
  type OidcPlatform,
  passPages,
  startPlatform,
} from '../support/oidc-provider.ts'
import { freePort } from '../support/ports.ts'
import type { Visitor } from '../support/visitor.ts'

const { catalogues, leads } = contract.scopes

const JSON_TYPE = { accept: 'application/json' }
const REVOKED = { status: 409, code: 'connection_revoked' }
const WITH_REFRESH_TOKEN = {
  PLATFORM_SCOPES: `${leads} ${catalogues} offline_access`,
  PLATFORM_AUTHORIZE_PARAMS: 'prompt=consent',
}

let platform: OidcPlatform
let app: Running
let visitor: Visitor
beforeEach(() => {
  hideAdvice()
  // The clock keeps running, and the app and the platform share it.
  vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true })
})
afterEach(async () => {
  await app.close()
  await platform.close()
  vi.useRealTimers()
  vi.restoreAllMocks()
})
const later = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000)

/** Presses Connect, logs in at the platform and gives consent, as far as it asks. */
async function connect() {
  const started = await visitor.post(`${app.url}/connect`)
  const callback = await passPages(visitor, started, `${app.url}/connect/callback`)
  return visitor.follow(await visitor.get(callback.url))
}

/** A connected account, with these settings of the app. */
async function connectedWith(settings: Record<string, string>, options?: { rotates: boolean }) {
  const port = await freePort()
  platform = await startPlatform(`http://localhost:${port}`, options)
  app = await startAll({ ...platform.env, ...settings }, {}, port)
  visitor = await signedIn(app)
  expect((await connect()).text).toContain(' is connected.')
}
const card = async () => (await connectionsOf(app, visitor))[0]
const at = (instance: Running, path: string) => `${instance.url}/connections/${BXCONTEXT}${path}`
/** Calls the platform's API for the connection. */
const call = () => visitor.get(at(app, '/probe'), JSON_TYPE)
const refresh = () => visitor.post(at(app, '/refresh'), JSON_TYPE)

describe('oidc-provider as the platform, without the scope offline_access', () => {
  beforeEach(() => connectedWith({}))

  test('the connection works until its access token expires, and works again after connecting again', async () => {
    expect((await call()).status).toBe(200)
    later(ACCESS_TOKEN_SECONDS)
    expect((await call()).json()).toMatchObject(REVOKED)
    await connect()
    expect((await call()).status).toBe(200)
  })

  test('three calls in as many minutes notice a revocation', async () => {
    await platform.revoke()
    for (const code of ['platform_rejected', 'platform_rejected', 'connection_revoked']) {
      expect((await call()).json()).toMatchObject({ code })
      later(61)
    }
  })
})

describe.each([
  { refreshTokens: 'the same refresh token again', rotates: false, issued: 1 },
  { refreshTokens: 'a new refresh token, and ends a grant whose old one is used', rotates: true, issued: 4 },
])('oidc-provider as the platform that returns $refreshTokens', ({ rotates, issued }) => {
  beforeEach(() => connectedWith(WITH_REFRESH_TOKEN, { rotates }))

  test('each refresh sends the refresh token of the last answer', async () => {
    expect((await refresh()).status).toBe(200)
    for (const _expiry of [1, 2]) {
      later(ACCESS_TOKEN_SECONDS)
      expect((await call()).status).toBe(200)
    }
    expect(platform.refreshes().map(({ status }) => status)).toEqual([200, 200, 200])
    expect(new Set(platform.tokenRequests.map(({ answer }) => answer.refresh_token)).size).toBe(issued)
    expect(await card()).toMatchObject({ status: 'active', missingScopes: [] })
  })

  test('the next call notices a revocation, and connecting again works', async () => {
    await platform.revoke()
    expect((await call()).json()).toMatchObject(REVOKED)
    expect(await card()).toMatchObject({ status: 'revoked' })
    await connect()
    expect((await call()).status).toBe(200)
    expect(await card()).toMatchObject({ status: 'active' })
  })
})

test('20 calls at an expiry, of two instances of the app with one store, cause one refresh of a token that rotates, and the connection outlives it', async () => {
  const { dir, remove } = tempDir()
  onTestFinished(remove)
  const { TOKEN_ENCRYPTION_KEYS = '' } = testEnv({})
  const shared = { ...WITH_REFRESH_TOKEN, DATA_DIR: dir, TOKEN_ENCRYPTION_KEYS }
  await connectedWith(shared, { rotates: true })
  const second = await startAll({ ...platform.env, ...shared })
  const sameUser = await signedIn(second)
  for (const expiry of [1, 2]) {
    later(ACCESS_TOKEN_SECONDS)
    const calls = Array.from({ length: 10 }, () => [call(), sameUser.get(at(second, '/probe'), JSON_TYPE)])
    const answers = await Promise.all(calls.flat())
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(platform.refreshes()).toHaveLength(expiry)
  }
  await second.close()
})
