import { afterEach, describe, expect, test } from 'vitest'
import { oauthError, type Scripted, tokens } from '../../support/token-endpoint.ts'
import {
  connectedSetup,
  eventsDuring,
  expiredSetup,
  GRANTED,
  REF,
  type VaultSetup,
} from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const EMPTY_400: Scripted = { status: 400, text: '' }
const OK = { result: 'ok', call: 'GET leads', scope: 'leads' } as const
const REVOKED = { code: 'connection_revoked', status: 409 }
const OUTAGE = { code: 'platform_unavailable', status: 503 }

/** What the API client does after a 401. */
const after401 = (rejected = 'access-0') => setup.vault.tokenSource(REF).refresh(rejected)
const shown = () => setup.vault.find(REF)

describe('a refresh that is refused without invalid_grant', () => {
  test.each<[what: string, answer: Scripted]>([
    ['400 with an empty body', EMPTY_400],
    ['404 with a page', { status: 404, text: '<h1>Not found</h1>' }],
    ['401 with an empty body', { status: 401, text: '' }],
    ['a code of its own', oauthError('E_TOKEN_REVOKED', 400)],
    ['unauthorized_client', oauthError('unauthorized_client', 400)],
    ['invalid_request', oauthError('invalid_request', 401)],
  ])('ends access at once if the API rejects the token as well: %s', async (_what, answer) => {
    setup = await connectedSetup()
    setup.endpoint.answers(answer)
    await expect(after401()).rejects.toMatchObject(REVOKED)
    expect(await shown()).toMatchObject({ status: 'active', refusedAt: expect.any(Number) })
  })

  test('that counts as the end of access is announced once, as a revocation', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(EMPTY_400)
    const events = await eventsDuring(async () => {
      for (let time = 0; time < 3; time++) await after401().catch(() => {})
    })
    expect(events.filter((type) => type === 'revoked')).toEqual(['revoked'])
  })

  test('changes nothing while the API accepts the token', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(EMPTY_400)
    for (let minute = 0; minute < 4; minute++) {
      setup.later(60)
      await setup.vault.refresh(REF).catch(() => {})
      await setup.vault.tokenSource(REF).noteCall(OK)
      expect(await setup.token()).toBe('access-0')
    }
    expect(await shown()).toMatchObject({ status: 'active', refusedAt: null, problem: null })
  })

  test('ends access at the second refusal, 30 s apart, once the token has expired', async () => {
    setup = await expiredSetup()
    setup.endpoint.answers(EMPTY_400)
    await expect(setup.token()).rejects.toMatchObject(OUTAGE)
    setup.later(29)
    await expect(setup.token()).rejects.toMatchObject(OUTAGE)
    setup.later(2)
    await expect(setup.token()).rejects.toMatchObject(REVOKED)
    expect(setup.sent()).toHaveLength(3)
  })

  test.each([
    ['XML', { status: 400, text: '<?xml version="1.0"?><Error>InvalidToken</Error>' }],
    ['a page of the token endpoint', { status: 404, text: '<html>No such grant</html>' }],
  ])('is also one in %s', async (_what, answer) => {
    setup = await expiredSetup()
    setup.endpoint.answers(answer)
    await expect(setup.token()).rejects.toMatchObject(OUTAGE)
    setup.later(31)
    await expect(setup.token()).rejects.toMatchObject(REVOKED)
  })

  test('that counts as the end of access does not hide an outage', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(EMPTY_400)
    await expect(after401()).rejects.toMatchObject(REVOKED)
    setup.later(301)
    setup.endpoint.answers({ status: 500, text: '' })
    await expect(setup.token()).rejects.toMatchObject({ ...OUTAGE, reason: expect.stringContaining('500') })
  })

  test('is not confirmed by time alone: the platform must be asked again', async () => {
    setup = await expiredSetup()
    setup.endpoint.answers({ status: 400, text: '', headers: { 'retry-after': '120' } })
    await setup.token().catch(() => {})
    setup.later(60)
    await expect(setup.token()).rejects.toMatchObject(OUTAGE)
    expect(setup.sent()).toHaveLength(1)
    expect(await shown()).toMatchObject({ refusedAt: null })
  })

  test.each<[what: string, answer: Scripted]>([
    ['the page of a firewall', { status: 403, text: '\n<!DOCTYPE html><title>Blocked</title>' }],
    ['a page without a doctype', { status: 403, text: '<html>Blocked</html>' }],
    ['temporarily_unavailable', oauthError('temporarily_unavailable', 400)],
    ['408', { status: 408, text: '' }],
    ['425', { status: 425, text: '' }],
    ['429', { status: 429, json: {} }],
    ['503', { status: 503, text: '' }],
  ])('is not meant by %s, which is temporary', async (_what, answer) => {
    setup = await expiredSetup()
    setup.endpoint.answers(answer)
    for (let time = 0; time < 5; time++) {
      await expect(setup.token()).rejects.toMatchObject(OUTAGE)
      await expect(after401()).rejects.toMatchObject(OUTAGE)
      setup.later(31)
    }
    expect(await shown()).toMatchObject({ refusedAt: null })
  })

  test('is not meant by invalid_client, which is an error of this app', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(oauthError('invalid_client', 401))
    await expect(after401()).rejects.toMatchObject({ code: 'misconfigured' })
    expect(await shown()).toMatchObject({ refusedAt: null, problem: 'misconfigured' })
  })

  test('is confirmed by a 401 of the API that comes while refreshing is paused', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(EMPTY_400)
    setup.later(250)
    await setup.token()
    await setup.vault.idle()
    await expect(after401()).rejects.toMatchObject(REVOKED)
    expect(setup.sent()).toHaveLength(1)
  })
})

describe('a connection whose access is refused', () => {
  const refused = async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(EMPTY_400)
    await after401().catch(() => {})
  }

  test('is the same in every process, and costs the token endpoint no more than its backoff', async () => {
    await refused()
    const other = setup.anotherVault()
    for (let call = 0; call < 20; call++)
      await expect(other.tokenSource(REF).refresh('access-0')).rejects.toMatchObject(REVOKED)
    expect(setup.sent()).toHaveLength(1)
  })

  test('recovers when a refresh succeeds: its tokens were kept', async () => {
    await refused()
    setup.later(301)
    setup.endpoint.answers(tokens({ access_token: 'again' }))
    expect(await setup.token()).toBe('again')
    expect(setup.sent()).toEqual(['refresh-0', 'refresh-0'])
    expect(await shown()).toMatchObject({ refusedAt: null, problem: null })
  })

  test('recovers when the API accepts its token again', async () => {
    await refused()
    await setup.vault.tokenSource(REF).noteCall(OK)
    expect(await shown()).toMatchObject({ refusedAt: null, problem: null })
  })

  test('is tried again by the check of unused connections, which counts it as revoked', async () => {
    await refused()
    setup.later(3600)
    expect(await setup.vault.refreshUnused(REF.userId, 60_000)).toMatchObject({ revoked: 1, failures: [] })
    setup.later(60)
    setup.endpoint.answers(tokens())
    expect(await setup.vault.refreshUnused(REF.userId, 60_000)).toMatchObject({ active: 1, refreshed: 1 })
  })

  test('becomes healthy by a new consent, also if the refusal arrives after it', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(async (res) => {
      await setup.anotherVault().connect(REF, { ...GRANTED, accessToken: 'new' })
      res.writeHead(400).end()
    })
    expect(await after401()).toBe('new')
    expect(await shown()).toMatchObject({ refusedAt: null })
  })

  test('of an earlier grant neither marks nor delays the new one', async () => {
    setup = await expiredSetup()
    setup.endpoint.answers(
      async (res) => {
        await setup.anotherVault().connect(REF, { ...GRANTED, accessToken: 'new' })
        res.writeHead(400).end()
      },
      tokens({ access_token: 'newer' }),
    )
    expect(await setup.token()).toBe('new')
    expect(await shown()).toMatchObject({ refusedAt: null, problem: null })
    expect(await after401('new')).toBe('newer')
  })

  test('is not confirmed again by the answer to an earlier request, once the API has accepted the token', async () => {
    await refused()
    await setup.vault.tokenSource(REF).noteCall(OK)
    await expect(after401()).rejects.toMatchObject(OUTAGE)
    expect(await shown()).toMatchObject({ refusedAt: null })
    setup.later(2)
    await expect(after401()).rejects.toMatchObject(REVOKED)
    expect(setup.sent()).toHaveLength(2)
  })

  test('publishes recovered when the API accepts its token again', async () => {
    await refused()
    const seen = await eventsDuring(async () => {
      for (let call = 0; call < 3; call++) await setup.vault.tokenSource(REF).noteCall(OK)
    })
    expect(seen).toEqual(['recovered'])
  })

  test('publishes revoked once, also if the platform says invalid_grant later', async () => {
    setup = await connectedSetup()
    const seen = await eventsDuring(async () => {
      setup.endpoint.answers(EMPTY_400)
      for (let call = 0; call < 5; call++) await after401().catch(() => {})
      setup.endpoint.answers(oauthError('invalid_grant'))
      setup.later(60)
      await after401().catch(() => {})
    })
    expect(seen.filter((type) => type !== 'refreshFailed')).toEqual(['revoked'])
  })
})
