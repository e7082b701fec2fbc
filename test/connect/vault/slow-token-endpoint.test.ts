import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { tokens, tokensAfter } from '../../support/token-endpoint.ts'
import { expiredSetup, type VaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

describe('a slow token endpoint', () => {
  test('may take 6 s: the caller gets the token, and later refreshes use the rotated refresh token', async () => {
    setup = await expiredSetup()
    setup.endpoint.answers(
      tokensAfter(() => pause(6_000), { access_token: 'slow', refresh_token: 'refresh-1' }),
    )
    expect(await setup.token()).toBe('slow')
    setup.later(301)
    setup.endpoint.answers(tokens())
    await setup.token()
    expect(setup.sent()).toEqual(['refresh-0', 'refresh-1'])
  })

  test('has its answer stored even if every caller has timed out', async () => {
    setup = await expiredSetup({ waitMs: 100 })
    setup.endpoint.answers(
      tokensAfter(() => pause(500), { access_token: 'slow', refresh_token: 'refresh-1' }),
    )
    await expect(setup.token()).rejects.toMatchObject({ code: 'platform_unavailable' })
    await setup.vault.idle()
    expect(await setup.token()).toBe('slow')
    expect(setup.sent()).toEqual(['refresh-0'])
  })
})
