import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Running, startAll } from '../support/app.ts'
import { connectionsOf, signedIn } from '../support/flow.ts'
import { freePort } from '../support/ports.ts'
import type { Visitor } from '../support/visitor.ts'
import { hideAdvice, passPages } from './oidc-provider-pages.ts'
import { ACCESS_TOKEN_SECONDS, startOidcProviderPlatform } from './oidc-provider-platform.ts'
import { call, later, type RealPlatform, refresh, refreshesOf, startClock } from './platform.ts'

let platform: RealPlatform
let app: Running
let visitor: Visitor
beforeEach(() => {
  hideAdvice()
  startClock()
})
afterEach(async () => {
  await app.close()
  await platform.close()
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Presses Connect, logs in at the platform and gives consent, as far as it asks. */
async function connect() {
  const started = await visitor.post(`${app.url}/connect`)
  const callback = await passPages(visitor, started, { stopAt: `${app.url}/connect/callback` })
  return visitor.follow(await visitor.get(callback.url))
}

/** A connected account, with these settings of the app. */
async function connectedWith(settings: Record<string, string>) {
  const port = await freePort()
  platform = await startOidcProviderPlatform(`http://localhost:${port}`)
  app = await startAll({ ...platform.env, ...settings }, {}, undefined, port)
  visitor = await signedIn(app)
  await connect()
}
const card = async () => (await connectionsOf(app, visitor))[0]

describe('oidc-provider as the platform, without the scope offline_access', () => {
  beforeEach(() => connectedWith({}))

  test('the connection works until its access token expires, and works again after connecting again', async () => {
    expect((await call(app, visitor)).status).toBe(200)
    later(ACCESS_TOKEN_SECONDS)
    expect((await call(app, visitor)).json()).toMatchObject({ status: 409, code: 'connection_revoked' })
    await connect()
    expect((await call(app, visitor)).status).toBe(200)
  })

  test('the card says when the connection ends, and that it cannot be renewed', async () => {
    const { summary } = await card()
    expect(summary).toMatch(/does not let the app renew this access/)
    expect(summary).toMatch(/\d{1,2}:\d{2}/)
  })

  test('the log says at once when the connection ends, and that the platform issued no refresh token', async () => {
    const { expiresAt } = await card()
    const line = app.logLines.find((text) => /no refresh token/i.test(text))
    expect(line).toMatch(new RegExp(`${Date.parse(expiresAt)}|${expiresAt}`))
  })

  test('three calls in as many minutes notice a revocation', async () => {
    await platform.revoke()
    for (const code of ['platform_rejected', 'platform_rejected', 'connection_revoked']) {
      expect((await call(app, visitor)).json()).toMatchObject({ code })
      later(61)
    }
  })
})

describe('oidc-provider as the platform, with offline_access and prompt=consent', () => {
  beforeEach(() =>
    connectedWith({
      PLATFORM_SCOPES: 'leads catalogues offline_access',
      PLATFORM_AUTHORIZE_PARAMS: 'prompt=consent',
    }),
  )

  test('the same refresh token works for every refresh', async () => {
    expect((await refresh(app, visitor)).status).toBe(200)
    for (const _expiry of [1, 2]) {
      later(ACCESS_TOKEN_SECONDS)
      expect((await call(app, visitor)).status).toBe(200)
    }
    expect(refreshesOf(platform).map(({ status }) => status)).toEqual([200, 200, 200])
    const issued = platform.tokenRequests.map(({ answer }) => answer.refresh_token)
    expect(new Set(issued).size).toBe(1)
    expect(await card()).toMatchObject({ status: 'active', missingScopes: [] })
  })

  test('the next call notices a revocation, and connecting again works', async () => {
    await platform.revoke()
    expect((await call(app, visitor)).json()).toMatchObject({ status: 409, code: 'connection_revoked' })
    expect(await card()).toMatchObject({ status: 'revoked' })
    await connect()
    expect((await call(app, visitor)).status).toBe(200)
    expect(await card()).toMatchObject({ status: 'active' })
  })
})

describe('oidc-provider as the platform, with offline_access but without prompt=consent', () => {
  beforeEach(() => connectedWith({ PLATFORM_SCOPES: 'leads catalogues offline_access' }))

  test('the card does not call offline_access a missing permission, which nobody could grant, and says when it ends', async () => {
    expect(await card()).toMatchObject({
      status: 'active',
      missingScopes: [],
      summary: expect.stringMatching(/does not let the app renew this access/),
    })
  })
})
