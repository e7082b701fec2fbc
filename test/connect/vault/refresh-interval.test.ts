import { afterEach, describe, expect, test } from 'vitest'
import { oauthError, tokens } from '../../support/token-endpoint.ts'
import { connectedSetup, expiredSetup, REF, type VaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

describe('refreshes of one connection', () => {
  const refreshRejected = (rejected: string) => setup.vault.tokenSource(REF).refresh(rejected)

  const call = async () => refreshRejected(await setup.token()).catch((error: unknown) => error)

  test('are limited to three at once and then one in 30 s, however often the API answers 401', async () => {
    setup = await connectedSetup()
    for (let time = 0; time < 40; time++) await call()
    expect(setup.sent()).toHaveLength(3)
    expect(await call()).toMatchObject({ code: 'platform_unavailable', retryAfterMs: 30_000 })
    for (let minute = 1; minute <= 3; minute++) {
      setup.later(30)
      for (let time = 0; time < 40; time++) await call()
      expect(setup.sent()).toHaveLength(3 + minute)
    }
  })

  test('may be three at once again after 90 s', async () => {
    setup = await connectedSetup()
    for (let time = 0; time < 40; time++) await call()
    setup.later(90)
    for (let time = 0; time < 40; time++) await call()
    expect(setup.sent()).toHaveLength(6)
  })

  test('share their limit among processes, also if the clock of one is 10 minutes ahead', async () => {
    setup = await connectedSetup()
    const ahead = setup.anotherVault({ now: () => Date.now() + 600_000 })
    for (let time = 0; time < 10; time++)
      await ahead.accessToken(REF).then((token) =>
        ahead
          .tokenSource(REF)
          .refresh(token)
          .catch(() => {}),
      )
    for (let time = 0; time < 10; time++) await call()
    expect(setup.sent()).toHaveLength(3)
    setup.later(31)
    await call()
    expect(setup.sent()).toHaveLength(4)
  })

  test('are limited with expires_in 0 as well; the token is used in the meantime', async () => {
    setup = await connectedSetup({}, { expiresIn: 0 })
    setup.endpoint.answers(tokens({ access_token: 'short', expires_in: 0 }))
    for (let time = 0; time < 40; time++) expect(await setup.token()).toBe('short')
    expect(setup.sent()).toHaveLength(3)
    setup.later(31)
    await setup.token()
    expect(setup.sent()).toHaveLength(4)
  })

  test('do not hide a revocation that comes right after one', async () => {
    setup = await connectedSetup()
    await setup.vault.refresh(REF)
    setup.endpoint.answers(oauthError('invalid_grant'))
    expect(await call()).toMatchObject({ code: 'connection_revoked' })
  })

  test('are limited to one in 5 s for a user, and the error says when the next one is possible', async () => {
    setup = await connectedSetup()
    await setup.vault.refresh(REF)
    for (let press = 0; press < 20; press++)
      await expect(setup.vault.refresh(REF)).rejects.toMatchObject({
        code: 'refresh_too_soon',
        status: 429,
        retryAfterMs: 5_000,
      })
    expect(await setup.vault.find(REF)).toMatchObject({ refreshableInMs: 5_000 })
    setup.later(5.1)
    await setup.vault.refresh(REF)
    expect(setup.sent()).toHaveLength(2)
  })

  test('are limited for a user also by a machine whose clock is ahead', async () => {
    setup = await connectedSetup()
    await setup.vault.refresh(REF)
    const ahead = setup.anotherVault({ now: () => Date.now() + 600_000 })
    await expect(ahead.refresh(REF)).rejects.toMatchObject({ code: 'refresh_too_soon' })
  })

  test('wait at most 5 minutes for a Retry-After, and 5 s for a user', async () => {
    setup = await expiredSetup()
    setup.endpoint.answers({ status: 429, json: {}, headers: { 'retry-after': '86400' } })
    await expect(setup.token()).rejects.toMatchObject({ retryAfterMs: 300_000 })
    setup.later(5.1)
    setup.endpoint.answers(tokens({ access_token: 'manual' }))
    await expect(setup.token()).rejects.toMatchObject({ code: 'platform_unavailable' })
    await setup.vault.refresh(REF)
    expect(await setup.token()).toBe('manual')
    setup.later(301)
    setup.endpoint.answers({ status: 429, json: {}, headers: { 'retry-after': '86400' } })
    await setup.token().catch(() => {})
    setup.later(301)
    setup.endpoint.answers(tokens({ access_token: 'automatic' }))
    expect(await setup.token()).toBe('automatic')
  })
})

test('a user’s refresh and an API call’s refresh do not share their errors', async () => {
  setup = await connectedSetup({ refillMs: 3_600_000 })
  for (let time = 0; time < 3; time++) await setup.vault.tokenSource(REF).refresh(await setup.token())
  const access = await setup.token()
  const [manual, automatic] = await Promise.allSettled([
    setup.vault.refresh(REF),
    setup.vault.tokenSource(REF).refresh(access),
  ])
  expect(manual).toMatchObject({ reason: { code: 'refresh_too_soon' } })
  expect(automatic).toMatchObject({ reason: { code: 'platform_unavailable' } })
})
