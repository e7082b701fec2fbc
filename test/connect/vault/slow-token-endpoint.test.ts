import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { tokens, tokensAfter } from '../../support/token-endpoint.ts'
import {
  connectedSetup,
  expiredSetup,
  GRANTED,
  REF,
  refusingStore,
  type VaultSetup,
  vaultSetup,
} from '../../support/vault.ts'

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

  test('is waited for when the app stops: the answer may be the only copy of the refresh token', async () => {
    setup = await expiredSetup()
    const [sent, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    setup.endpoint.answers(
      tokensAfter(
        () => {
          sent.resolve()
          return goOn.promise
        },
        { access_token: 'slow', refresh_token: 'refresh-1' },
      ),
    )
    void setup.token()
    await sent.promise
    let isClosed = false
    const closed = setup.vault.close(0).then(() => {
      isClosed = true
    })
    await pause(50)
    expect(isClosed).toBe(false)
    goOn.resolve()
    await closed
    expect(await setup.anotherVault().accessToken(REF)).toBe('slow')
  })

  test('is waited for when the app stops during a code exchange as well', async () => {
    setup = await connectedSetup()
    const answered = Promise.withResolvers<void>()
    const exchange = setup.vault.uninterrupted(() => answered.promise)
    let isClosed = false
    const closed = setup.vault.close(0).then(() => {
      isClosed = true
    })
    await pause(50)
    expect(isClosed).toBe(false)
    answered.reject(new Error('no tokens'))
    await expect(exchange).rejects.toThrow('no tokens')
    await closed
  })

  test('whose answer arrives after the grace has 2 s to be stored', async () => {
    const { store, refuses } = refusingStore()
    setup = await vaultSetup({ store })
    const answered = Promise.withResolvers<void>()
    const exchange = setup.vault.uninterrupted(async () => {
      await answered.promise
      refuses.connections = true
      await setup.vault.connect(REF, GRANTED)
      refuses.connections = false
    })
    const closed = setup.vault.close(0)
    answered.resolve()
    await Promise.all([exchange, closed])
    expect(await setup.anotherVault().accessToken(REF)).toBe('access-0')
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
