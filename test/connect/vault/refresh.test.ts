import { afterEach, describe, expect, test } from 'vitest'
import { PlatformError } from '../../../src/connect/errors.ts'
import { platform } from '../../../src/connect/index.ts'
import { createFaultyStore } from '../../support/faulty-store.ts'
import { oauthError, type Scripted, tokens, tokensAfter } from '../../support/token-endpoint.ts'
import {
  connectedSetup,
  expiredSetup,
  REF,
  refusingStore,
  type VaultSetup,
  vaultSetup,
} from '../../support/vault.ts'

const { catalogues, leads } = platform.scopes

let setup: VaultSetup
afterEach(() => setup?.close())

const found = () => setup.vault.find(REF)
const OUTAGE = { code: 'platform_unavailable', status: 503 }

describe('an access token', () => {
  test('is returned without a request until its last minute, and then refreshed in the background', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(oauthError('server_error', 500), tokens({ access_token: 'next' }))
    for (const [seconds, requests] of [
      [239, 0],
      [1, 1],
      [1, 2],
    ] as const) {
      setup.later(seconds)
      expect(await setup.token()).toBe('access-0')
      await setup.vault.idle()
      expect(setup.sent()).toHaveLength(requests)
    }
    expect(await setup.token()).toBe('next')
  })

  test('that a refresh returned again is not refreshed before its end', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(tokens({ access_token: 'access-0' }))
    await setup.vault.refresh(REF)
    for (const requests of [1, 2]) {
      setup.later(299 + requests - 1)
      expect(await setup.token()).toBe('access-0')
      await setup.vault.idle()
      expect(setup.sent()).toHaveLength(requests)
    }
  })

  test('without a connection is an error: not_connected', async () => {
    setup = await vaultSetup()
    await expect(setup.token()).rejects.toMatchObject({ code: 'not_connected', status: 404 })
  })
})

describe('a refresh', () => {
  test('sends the same refresh token, the same bxcontext and the client credentials in the form body', async () => {
    setup = await expiredSetup()
    await setup.token()
    const sent = { grant_type: 'refresh_token', refresh_token: 'refresh-0', bxcontext: 'ctx' }
    expect(setup.endpoint.requests).toEqual([
      { ...sent, client_id: 'client', client_secret: 'client secret' },
    ])
  })

  test.each([
    ['no refresh token', {}, 'refresh-0'],
    ['a new refresh token', { refresh_token: 'refresh-1' }, 'refresh-1'],
    [
      'a new refresh token, and nothing else that can be read',
      { refresh_token: 'refresh-1', expires_in: -1, scope: 7 },
      'refresh-1',
    ],
    ['empty texts', { refresh_token: '', token_type: ' ', scope: '' }, 'refresh-0'],
    [
      'null for absent fields',
      { refresh_token: null, expires_in: null, token_type: null, scope: null },
      'refresh-0',
    ],
    ['a lifetime as a text', { expires_in: '300' }, 'refresh-0'],
    ['neither lifetime nor token type', { expires_in: undefined, token_type: undefined }, 'refresh-0'],
    ['unknown fields', { new_field: { a: 1 } }, 'refresh-0'],
  ])(
    'accepts an answer with %s, for about five minutes, and sends the latest refresh token',
    async (_what, fields, next) => {
      setup = await expiredSetup()
      setup.endpoint.answers(tokens({ access_token: 'next', ...fields }))
      expect(await setup.token()).toBe('next')
      setup.later(299)
      expect(await setup.token()).toBe('next')
      setup.later(2)
      await setup.token()
      expect(setup.sent()).toEqual(['refresh-0', next])
    },
  )

  test.each([
    ['kept if the answer does not name them', undefined, [catalogues, leads]],
    ['those that the answer names', leads, [leads]],
    ['kept if the answer names thousands', `${leads} `.repeat(1_000), [catalogues, leads]],
  ])('decides the scopes: they are %s', async (_what, scope, scopes) => {
    setup = await expiredSetup()
    setup.endpoint.answers(tokens({ scope }))
    await setup.token()
    expect(await found()).toMatchObject({ scopes })
  })

  test.each([
    ['no access token', 'access_token', undefined],
    ['a line break in the access token', 'access_token', 'a\nb'],
    ['a refresh token that is not ASCII', 'refresh_token', 'tökén'],
    ['a refresh token of seven megabytes', 'refresh_token', 'x'.repeat(7_000_000)],
  ])('whose answer has %s is rejected with the field, and changes no token', async (_what, field, value) => {
    setup = await connectedSetup()
    setup.endpoint.answers(tokens({ [field]: value }))
    await expect(setup.vault.refresh(REF)).rejects.toMatchObject({ code: 'platform_rejected', field })
    expect(await setup.token()).toBe('access-0')
    expect(await found()).toMatchObject({ view: { state: 'degraded', lastError: 'unreadable' } })
    await expect(setup.vault.refresh(REF)).rejects.toMatchObject(OUTAGE)
    expect(setup.sent()).toHaveLength(1)
  })

  test.each<[answer: Scripted, kind: string]>([
    [oauthError('server_error', 500), 'paused'],
    [oauthError('invalid_request'), 'refused'],
  ])('that failed is repeated after a pause, whose error repeats a refusal (%o)', async (answer, kind) => {
    setup = await expiredSetup()
    setup.endpoint.answers(answer)
    await expect(setup.token()).rejects.toMatchObject(OUTAGE)
    await expect(setup.token()).rejects.toMatchObject({ ...OUTAGE, kind })
    expect(setup.sent()).toHaveLength(1)
  })

  test.each([
    [oauthError('server_error', 500), 'platform_unavailable'],
    [oauthError('invalid_grant'), 'store_unavailable'],
  ])('whose failure cannot be stored throws it, unless it is an end of access (%o)', async (answer, code) => {
    const faulty = createFaultyStore()
    setup = await connectedSetup({ store: faulty.store })
    setup.later(301)
    setup.endpoint.answers(answer)
    faulty.failBy(() => (setup.endpoint.requests.length > 0 ? 'before' : undefined))
    await expect(setup.token()).rejects.toMatchObject({ code })
    faulty.heal()
    await setup.vault.idle()
  })

  test('is finished and stored although every caller has timed out', async () => {
    setup = await expiredSetup({ waitMs: 20 })
    const answered = Promise.withResolvers<void>()
    setup.endpoint.answers(tokensAfter(() => answered.promise, { access_token: 'slow' }))
    await expect(setup.token()).rejects.toMatchObject(OUTAGE)
    answered.resolve()
    await setup.vault.idle()
    expect(await setup.token()).toBe('slow')
  })

  test('is waited for when the app stops: its answer may be the only copy of the new tokens', async () => {
    setup = await expiredSetup()
    const [sent, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const answer = () => {
      sent.resolve()
      return answered.promise
    }
    setup.endpoint.answers(tokensAfter(answer, {}))
    void setup.token()
    await sent.promise
    const closed = setup.vault.close(1_000)
    answered.resolve()
    await closed
    expect(await found()).toMatchObject({ tokens: { refreshes: 1 } })
  })

  test.each([true, false])(
    'is logged as lost if the store does not accept its answer before the app stops, and only then (%s)',
    async (isLost) => {
      const { store, refuses } = refusingStore()
      setup = await connectedSetup({ store })
      const refuse = async () => {
        refuses.writes = true
      }
      setup.endpoint.answers(tokensAfter(refuse, {}))
      await setup.vault.refresh(REF).catch(() => {})
      refuses.writes = isLost
      await setup.vault.close(isLost ? 1 : 60_000)
      const lost = setup.logLines.filter((line) => line.includes('is lost'))
      expect(lost).toHaveLength(isLost ? 1 : 0)
      refuses.writes = false
      await setup.vault.idle()
    },
  )
})

describe('a refresh that fails', () => {
  test.each<[what: string, answer: Scripted, lastError: string]>([
    ['500', oauthError('server_error', 500), 'error'],
    ['a redirect, which is not followed', { status: 307, text: '', headers: { location: '/' } }, 'error'],
    ['a page', { status: 200, text: '<!doctype html>' }, 'unreadable'],
    ['no answer', (res) => void res.destroy(), 'no_answer'],
  ])(
    'by %s: 503 and one request, and the connection is degraded until the next',
    async (_what, answer, lastError) => {
      setup = await expiredSetup()
      setup.endpoint.answers(answer, tokens({ access_token: 'next' }))
      for (const vault of [setup.vault, setup.vault, setup.anotherVault()]) {
        await expect(vault.accessToken(REF)).rejects.toMatchObject(OUTAGE)
        expect(await found()).toMatchObject({ view: { state: 'degraded', lastError, canReconnect: false } })
      }
      expect(setup.sent()).toHaveLength(1)
      setup.later(1)
      expect(await setup.token()).toBe('next')
      expect(await found()).toMatchObject({ view: { state: 'active' } })
    },
  )

  test('is followed by a pause as long as the platform asks for, which binds people and scripts too', async () => {
    setup = await expiredSetup()
    const busy = { status: 429, json: {}, headers: { 'retry-after': '300' } }
    setup.endpoint.answers(busy, tokens({ access_token: 'next' }))
    await expect(setup.token()).rejects.toMatchObject({ retryAfterMs: 300_000 })
    for (const [seconds, leftMs] of [
      [1, 299_000],
      [199, 100_000],
      [99, 1_000],
    ] as const) {
      setup.later(seconds)
      for (let press = 0; press < 20; press++)
        await expect(setup.vault.refresh(REF)).rejects.toMatchObject({ ...OUTAGE, retryAfterMs: leftMs })
      expect(await found()).toMatchObject({ tokens: { refreshableInMs: leftMs } })
    }
    expect(setup.sent()).toHaveLength(1)
    setup.later(1)
    expect(await setup.vault.refresh(REF)).toBe(true)
    expect(await setup.token()).toBe('next')
  })

  test('is followed by a pause that a person ends, also while a call of the app runs into it', async () => {
    setup = await expiredSetup()
    setup.endpoint.answers(...Array(5).fill(oauthError('server_error', 500)), tokens())
    for (let failure = 0; failure < 5; failure++) {
      await expect(setup.vault.refresh(REF)).rejects.toMatchObject(OUTAGE)
      setup.later(5)
    }
    const results = Promise.allSettled([setup.token(), setup.vault.refresh(REF)])
    expect(await results).toMatchObject([{ reason: OUTAGE }, { value: true }])
  })

  test.each<[what: string, answer: Scripted]>([
    ['an outage', oauthError('server_error', 500)],
    ['a refusal', oauthError('invalid_request')],
    ['invalid_grant', oauthError('invalid_grant')],
    ['wrong credentials', oauthError('invalid_client', 401)],
    ['no answer', (res) => void res.destroy()],
  ])('by %s is repeated by a button at most once in 5 s, in all processes', async (_what, answer) => {
    setup = await expiredSetup()
    setup.endpoint.answers(answer)
    for (let interval = 1; interval < 4; interval++) {
      for (const vault of [setup.vault, setup.vault, setup.anotherVault()])
        await expect(vault.refresh(REF)).rejects.toBeInstanceOf(PlatformError)
      expect(setup.sent()).toHaveLength(interval)
      setup.later(5)
    }
  })
})
