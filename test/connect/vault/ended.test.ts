/** What ends access to an account, and what only looks like it. */
import { afterEach, describe, expect, test } from 'vitest'
import { oauthError, type Scripted } from '../../support/token-endpoint.ts'
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
/** What the API client does after a 401. */
const after401 = () => setup.vault.tokenSource(REF).refresh('access-0')
test.each([200, 400])(
  'invalid_grant (%i) ends access: the record keeps when and why, and no tokens',
  async (status) => {
    setup = await expiredSetup()
    setup.endpoint.answers(oauthError('invalid_grant', status))
    for (let time = 0; time < 2; time++) await expect(setup.token()).rejects.toMatchObject(REVOKED)
    expect(await view()).toEqual({ state: 'revoked', at: expect.any(Number), reason: 'invalid_grant' })
    expect(await setup.vault.find(REF)).toMatchObject({ tokens: null })
    expect(setup.sent()).toHaveLength(1)
  },
)

describe('a refusal of the token endpoint', () => {
  const EMPTY_400: Scripted = { status: 400, text: '' }
  const REFUSED = { state: 'revoked', reason: 'refused' }

  /** A connection whose refresh was refused after the API had rejected its token. */
  async function refused() {
    setup = await connectedSetup()
    setup.endpoint.answers(EMPTY_400)
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
    setup.endpoint.answers(EMPTY_400)
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
  setup.endpoint.answers({ status: 400, text: '' })
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

describe('a connection without a refresh token', () => {
  const connect = async (expiresIn?: number) => {
    setup = await vaultSetup()
    await consent(setup.vault, { refreshToken: undefined, expiresIn })
  }

  test('is used until its access token expires, also if a person asks for a refresh, and ends then', async () => {
    await connect(300)
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
})
