import { afterEach, describe, expect, test } from 'vitest'
import { oauthError, type Scripted, tokens } from '../../support/token-endpoint.ts'
import {
  connectedSetup,
  consent,
  eventsDuring,
  expiredSetup,
  REF,
  type VaultSetup,
} from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const EMPTY_400: Scripted = { status: 400, text: '' }
const OUTAGE: Scripted = { status: 500, text: '' }
const REVOKED = { code: 'connection_revoked', status: 409 }
const UNAVAILABLE = { code: 'platform_unavailable', status: 503 }

/** What the API client does after a 401. */
const after401 = () => setup.vault.tokenSource(REF).refresh('access-0')
const view = async () => (await setup.vault.find(REF))?.view

/** A call with the token that the API accepts. */
async function accept() {
  const source = setup.vault.tokenSource(REF)
  await source.accessToken().catch(() => {})
  await source.noteCall({ result: 'ok', call: 'GET leads', scope: 'leads' })
}

/** A connection whose refresh was refused, and whose token the API rejected as well. */
async function refusedSetup() {
  setup = await connectedSetup()
  setup.later(5)
  setup.endpoint.answers(EMPTY_400)
  await after401().catch(() => {})
}

describe('a refusal of the token endpoint', () => {
  test.each<[what: string, answer: Scripted]>([
    ['invalid_request', oauthError('invalid_request')],
    ['unauthorized_client', oauthError('unauthorized_client')],
    ['invalid_scope', oauthError('invalid_scope')],
    ['a code of its own', oauthError('E_TOKEN_REVOKED')],
    ['400 with an empty body', EMPTY_400],
    ['401 with an empty body', { status: 401, text: '' }],
    ['404 with a page', { status: 404, text: '<h1>Not found</h1>' }],
  ])('(%s) counts as the end of access if the API rejects the token as well', async (_what, answer) => {
    setup = await connectedSetup()
    setup.later(5)
    setup.endpoint.answers(answer)
    await expect(after401()).rejects.toMatchObject(REVOKED)
    expect(await view()).toMatchObject({ state: 'revoked', reason: 'refused' })
    await expect(setup.token()).rejects.toMatchObject(REVOKED)
  })

  test('counts as the end of access if the API rejects the token while refreshing is paused', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(EMPTY_400)
    setup.later(250)
    await setup.token()
    await setup.vault.idle()
    await expect(after401()).rejects.toMatchObject(REVOKED)
    expect(setup.sent()).toHaveLength(1)
  })

  test('counts as the end of access if it comes again 30 s after the token has expired', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(EMPTY_400)
    for (const seconds of [300, 29]) {
      setup.later(seconds)
      await expect(setup.token()).rejects.toMatchObject(UNAVAILABLE)
      expect(await view()).toEqual({ state: 'degraded', trouble: 'refused', canReconnect: false })
    }
    setup.later(2)
    await expect(setup.token()).rejects.toMatchObject(REVOKED)
    expect(await view()).toMatchObject({ state: 'revoked', reason: 'refused' })
  })

  test('does not count by time alone: the platform must be asked again', async () => {
    setup = await expiredSetup()
    setup.endpoint.answers({ ...EMPTY_400, headers: { 'retry-after': '120' } })
    await setup.token().catch(() => {})
    setup.later(60)
    await expect(setup.token()).rejects.toMatchObject(UNAVAILABLE)
    expect(setup.sent()).toHaveLength(1)
  })

  test('does not count while the API accepts the token', async () => {
    setup = await connectedSetup({}, { expiresIn: 3_600 })
    setup.endpoint.answers(EMPTY_400)
    for (let minute = 0; minute < 4; minute++) {
      setup.later(60)
      await setup.vault.refresh(REF).catch(() => {})
      expect(await view()).toMatchObject({ state: 'degraded' })
      await accept()
      expect(await view()).toEqual({ state: 'active' })
    }
    expect(setup.sent()).toHaveLength(4)
  })
})

describe('a connection whose access is refused', () => {
  test('is the same in every process, and costs the token endpoint no more than its pauses', async () => {
    await refusedSetup()
    const other = setup.anotherVault()
    for (let call = 0; call < 20; call++) {
      await expect(other.accessToken(REF)).rejects.toMatchObject(REVOKED)
      await expect(after401()).rejects.toMatchObject(REVOKED)
    }
    expect(setup.sent()).toHaveLength(1)
  })

  test.each<[what: string, answer: Scripted]>([
    ['an outage', OUTAGE],
    ['wrong credentials of this app', oauthError('invalid_client', 401)],
  ])('stays so during %s, for every reader', async (_what, answer) => {
    await refusedSetup()
    setup.endpoint.answers(answer)
    setup.later(60)
    for (let time = 0; time < 2; time++) {
      await expect(setup.token()).rejects.toMatchObject(REVOKED)
      expect(await view()).toMatchObject({ state: 'revoked', reason: 'refused' })
    }
    expect(setup.sent()).toHaveLength(2)
  })

  test('recovers when a refresh succeeds: its tokens were kept', async () => {
    await refusedSetup()
    setup.later(60)
    setup.endpoint.answers(tokens({ access_token: 'again' }))
    expect(await setup.token()).toBe('again')
    expect(setup.sent()).toEqual(['refresh-0', 'refresh-0'])
    expect(await view()).toEqual({ state: 'active' })
  })

  test('recovers when the API accepts its token again', async () => {
    setup = await connectedSetup()
    setup.later(5)
    setup.endpoint.answers(EMPTY_400)
    const source = setup.vault.tokenSource(REF)
    const rejected = await source.accessToken()
    await expect(source.refresh(rejected)).rejects.toMatchObject(REVOKED)
    const events = await eventsDuring(setup.vault, () =>
      source.noteCall({ result: 'ok', call: 'GET leads', scope: 'leads' }),
    )
    expect(events).toEqual(['recovered'])
    expect(await setup.token()).toBe('access-0')
  })

  test('recovers by a new consent', async () => {
    await refusedSetup()
    await consent(setup.vault, { accessToken: 'new' })
    expect(await setup.token()).toBe('new')
    expect(await view()).toEqual({ state: 'active' })
  })

  test('is announced once, also if the platform says invalid_grant later', async () => {
    setup = await connectedSetup()
    const events = await eventsDuring(setup.vault, async () => {
      for (const answer of [EMPTY_400, EMPTY_400, oauthError('invalid_grant')]) {
        setup.endpoint.answers(answer)
        setup.later(60)
        await after401().catch(() => {})
      }
    })
    expect(events.filter((type) => type !== 'refreshFailed')).toEqual(['revoked'])
    expect(await view()).toMatchObject({ state: 'revoked', reason: 'invalid_grant' })
  })
})
