/** Answers that end access to an account, and answers that only look as if they did. */
import { afterEach, describe, expect, test } from 'vitest'
import { oauthError, type Scripted, tokens } from '../../support/token-endpoint.ts'
import {
  connectedSetup,
  consent,
  eventsDuring,
  expiredSetup,
  REF,
  type VaultSetup,
  vaultSetup,
} from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const REVOKED = { code: 'connection_revoked', status: 409 }

const view = async () => (await setup.vault.find(REF))?.view
/** Does the same as the API client after a 401. */
const after401 = () => setup.vault.tokenSource(REF).refresh('access-0')

describe('invalid_grant', () => {
  test.each([200, 400])(
    '(%i) is the end at once; the platform is asked once more a minute later, and then the tokens go',
    async (status) => {
      setup = await expiredSetup()
      setup.endpoint.answers(oauthError('invalid_grant', status))
      const at = setup.now()
      const ended = { state: 'revoked', at, reason: 'invalid_grant' }
      for (const [seconds, requests] of [
        [0, 1],
        [59, 1],
        [1, 2],
        [60, 2],
      ] as const) {
        setup.later(seconds)
        for (const vault of [setup.vault, setup.anotherVault()])
          await expect(vault.accessToken(REF)).rejects.toMatchObject(REVOKED)
        expect(await view()).toEqual(ended)
        expect(setup.sent()).toHaveLength(requests)
      }
      expect(await setup.vault.find(REF)).toMatchObject({ tokens: null })
    },
  )
})

// A maintenance host, a gateway, or a firewall instead of the token endpoint.
test.each<[what: string, answer: Scripted]>([
  ['404 with a page', { status: 404, text: '<!doctype html><title>Not found</title>' }],
  ['405 with text', { status: 405, text: 'Method Not Allowed' }],
  ['421 with no text', { status: 421, text: '' }],
  ['401 of a gateway', { status: 401, json: { message: 'no API key' } }],
])('for 75 s, %s ends nothing', async (_what, answer) => {
  setup = await expiredSetup()
  setup.endpoint.answers(answer)
  for (let seconds = 0; seconds < 75; seconds += 5) {
    await expect(setup.token()).rejects.toMatchObject({ code: 'platform_unavailable' })
    expect(await view()).toMatchObject({ state: 'degraded', canReconnect: false })
    setup.later(5)
  }
  setup.later(30)
  setup.endpoint.answers(tokens({ access_token: 'next' }))
  expect(await setup.token()).toBe('next')
})

describe('a refusal of the token endpoint', () => {
  const REFUSAL = oauthError('invalid_request')
  const REFUSED = { state: 'revoked', reason: 'refused' }

  /** A connection whose refresh was refused after the API had rejected its token. */
  async function refused() {
    setup = await connectedSetup()
    setup.endpoint.answers(REFUSAL)
    await expect(after401()).rejects.toMatchObject(REVOKED)
  }

  test.each<[what: string, answer: Scripted]>([
    ['an outage', { status: 500, text: '' }],
    ['wrong credentials of this app', oauthError('invalid_client', 401)],
  ])('that counts as the end does so for every reader, also during %s', async (_what, answer) => {
    await refused()
    setup.endpoint.answers(answer)
    setup.later(60)
    for (let time = 0; time < 2; time++) {
      await expect(setup.token()).rejects.toMatchObject(REVOKED)
      expect(await view()).toMatchObject(REFUSED)
    }
    expect(setup.sent()).toHaveLength(2)
  })

  test('that counts as the end is healed by a call that the API accepts, and both are announced once', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(REFUSAL)
    const source = setup.vault.tokenSource(REF)
    const rejected = await source.accessToken()
    const events = await eventsDuring(setup.vault, async () => {
      for (let time = 0; time < 3; time++) await source.refresh(rejected).catch(() => {})
      for (let time = 0; time < 3; time++)
        await source.noteCall({ result: 'ok', call: 'GET leads', scope: 'leads' })
    })
    expect(events).toEqual(['refreshFailed', 'revoked', 'recovered'])
    expect(await setup.token()).toBe('access-0')
  })
})

test('a refresh after a refusal keeps a refresh token that its answer does not repeat', async () => {
  setup = await expiredSetup()
  setup.endpoint.answers(oauthError('invalid_grant'), tokens({ access_token: 'next' }), tokens())
  await expect(setup.token()).rejects.toMatchObject(REVOKED)
  setup.later(61)
  expect(await setup.token()).toBe('next')
  setup.later(61)
  expect(await setup.vault.refresh(REF)).toBe(true)
  expect(setup.sent()).toEqual(['refresh-0', 'refresh-0', 'refresh-0'])
})

test('a consent whose answer names no scopes does not keep those of the former one', async () => {
  setup = await connectedSetup()
  await consent(setup.vault, { scopes: undefined })
  expect(await setup.vault.find(REF)).toMatchObject({ scopes: null })
})

test('a consent without a refresh token keeps that of the connection', async () => {
  setup = await connectedSetup()
  await consent(setup.vault, { accessToken: 'newer', refreshToken: undefined })
  expect(await setup.token()).toBe('newer')
  setup.later(301)
  await setup.token()
  expect(setup.sent()).toEqual(['refresh-0'])
})

test('a consent without a refresh token does not keep one that the platform has refused', async () => {
  setup = await connectedSetup()
  setup.endpoint.answers(oauthError('unauthorized_client'))
  const source = setup.vault.tokenSource(REF)
  const rejected = await source.accessToken()
  for (let time = 0; time < 3; time++) await source.refresh(rejected).catch(() => {})
  const refusals = setup.sent().length
  await consent(setup.vault, { accessToken: 'newer', refreshToken: undefined })
  expect(await setup.token()).toBe('newer')
  setup.later(301)
  await expect(setup.token()).rejects.toMatchObject(REVOKED)
  expect(await view()).toMatchObject({ state: 'revoked', reason: 'expired' })
  expect(setup.sent()).toHaveLength(refusals)
})

test('a connection without a refresh token is used until its access token expires, also if a person asks for a refresh, and ends then', async () => {
  setup = await vaultSetup()
  await consent(setup.vault, { refreshToken: undefined, expiresIn: 300 })
  const at = (await setup.vault.find(REF))?.tokens?.expiresAt
  setup.later(299)
  expect(await setup.vault.refresh(REF)).toBe(false)
  expect(await setup.token()).toBe('access-0')
  // The API rejects it a second too early.
  await expect(after401()).rejects.toMatchObject({ code: 'platform_rejected' })
  setup.later(1)
  for (const call of [setup.token, after401]) {
    await expect(call()).rejects.toMatchObject(REVOKED)
    expect(await view()).toEqual({ state: 'revoked', at, reason: 'expired' })
  }
  expect(setup.sent()).toEqual([])
})
