import { afterEach, describe, expect, test } from 'vitest'
import { tokens } from '../../support/token-endpoint.ts'
import { connectedSetup, expiredSetup, REF, type VaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

describe('refreshes of one connection', () => {
  const refreshRejected = (rejected: string) => setup.vault.tokenSource(REF).refresh(rejected)

  test('are limited to one in 30 s, however often the API answers 401', async () => {
    setup = await connectedSetup()
    const call = async () => refreshRejected(await setup.token()).catch((error: unknown) => error)
    await call()
    for (let time = 0; time < 50; time++)
      expect(await call()).toMatchObject({ code: 'platform_unavailable', retryAfterMs: expect.any(Number) })
    expect(setup.sent()).toHaveLength(1)
    setup.later(31)
    await call()
    for (let time = 0; time < 50; time++) await call()
    expect(setup.sent()).toHaveLength(2)
  })

  test('are limited to one in 30 s with expires_in 0; the token is used in the meantime', async () => {
    setup = await connectedSetup({}, { expiresIn: 0 })
    setup.endpoint.answers(tokens({ access_token: 'short', expires_in: 0 }))
    for (let call = 0; call < 40; call++) expect(await setup.token()).toBe('short')
    expect(setup.sent()).toHaveLength(1)
    setup.later(31)
    await setup.token()
    expect(setup.sent()).toHaveLength(2)
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
  setup = await connectedSetup()
  await setup.vault.refresh(REF)
  const access = await setup.token()
  const [manual, automatic] = await Promise.allSettled([
    setup.vault.refresh(REF),
    setup.vault.tokenSource(REF).refresh(access),
  ])
  expect(manual).toMatchObject({ reason: { code: 'refresh_too_soon' } })
  expect(automatic).toMatchObject({ reason: { code: 'platform_unavailable' } })
})
