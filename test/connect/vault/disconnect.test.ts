import { afterEach, describe, expect, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import type { Tokens, VaultOptions } from '../../../src/connect/index.ts'
import { createFaultyStore } from '../../support/faulty-store.ts'
import { oauthError, type Scripted, tokensAfter } from '../../support/token-endpoint.ts'
import {
  connectedSetup,
  consent,
  eventsDuring,
  GRANTED,
  newKey,
  REF,
  refusingStore,
  type VaultSetup,
} from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const DONE: Scripted = { text: '' }

const full = async (): Promise<never> => {
  throw new StoreUnavailableError('full')
}

/** A connection to a platform with a revocation endpoint. */
async function revocableSetup(options: Partial<VaultOptions> = {}, granted: Partial<Tokens> = {}) {
  setup = await connectedSetup({ canRevoke: true, ...options }, granted)
  setup.endpoint.answers(DONE)
}
/** The tokens that the revocation endpoint has received. */
const revoked = () => setup.endpoint.requests.flatMap(({ token }) => token ?? [])

describe('a disconnect', () => {
  test('revokes the refresh token on the platform, once, and deletes the connection', async () => {
    await revocableSetup()
    const both = await Promise.all([setup.vault.disconnect(REF), setup.anotherVault().disconnect(REF)])
    expect(both.toSorted()).toEqual([null, 'revoked'])
    const request = { token: 'refresh-0', token_type_hint: 'refresh_token', client_id: 'client' }
    expect(setup.endpoint.requests).toEqual([{ ...request, client_secret: 'client secret' }])
    expect(await setup.vault.list(REF.userId)).toEqual([])
  })

  test('revokes the access token if there is no refresh token', async () => {
    await revocableSetup({}, { refreshToken: undefined })
    expect(await setup.vault.disconnect(REF)).toBe('revoked')
    expect(setup.endpoint.requests).toMatchObject([{ token: 'access-0', token_type_hint: 'access_token' }])
  })

  test.each<[what: string, answer: Scripted]>([
    ['is down', { status: 503, text: 'down' }],
    ['redirects', { status: 302, text: '', headers: { location: '/' } }],
    ['rejects this app', oauthError('invalid_client', 401)],
    ['does not support the token', oauthError('unsupported_token_type')],
  ])('deletes the connection also if the revocation endpoint %s, and says so', async (_what, answer) => {
    await revocableSetup()
    setup.endpoint.answers(answer)
    expect(await setup.vault.disconnect(REF)).toBe('unknown')
    expect(await setup.vault.find(REF)).toBeNull()
    expect(setup.logLines.join('')).toContain('was not revoked')
    expect(setup.logLines.join('')).not.toMatch(/refresh-0|access-0|client secret/)
  })

  test('without a revocation endpoint says that the consent remains', async () => {
    setup = await connectedSetup()
    expect(await setup.vault.disconnect(REF)).toBe('remains')
  })

  test.each([
    ['the platform has ended', {}, oauthError('invalid_grant'), 'revoked'],
    ['has no refresh token and has expired', { refreshToken: undefined }, DONE, 'unknown'],
  ])('of a grant that %s sends nothing', async (_what, granted, answer, outcome) => {
    await revocableSetup({}, granted)
    setup.endpoint.answers(answer)
    for (const seconds of [301, 60]) {
      setup.later(seconds)
      await setup.token().catch(() => {})
    }
    expect(await setup.vault.disconnect(REF)).toBe(outcome)
    expect(revoked()).toEqual([])
  })

  test('of a token that the API has rejected for good sends nothing, and does not claim that the consent has ended', async () => {
    await revocableSetup({}, { refreshToken: undefined, expiresIn: 36_000 })
    for (let call = 0; call < 3; call++) {
      await expect(setup.vault.tokenSource(REF).refresh('access-0')).rejects.toThrow()
      setup.later(61)
    }
    expect(await setup.vault.find(REF)).toMatchObject({ view: { state: 'revoked', reason: 'rejected' } })
    expect(await setup.vault.disconnect(REF)).toBe('unknown')
    expect(revoked()).toEqual([])
  })

  test('revokes a grant that the platform has refused only once: that may have been a mistake', async () => {
    await revocableSetup()
    setup.later(301)
    setup.endpoint.answers(oauthError('invalid_grant'), DONE)
    await setup.token().catch(() => {})
    expect(await setup.vault.disconnect(REF)).toBe('revoked')
    expect(revoked()).toEqual(['refresh-0'])
  })

  test.each<[what: string, damage: () => Promise<unknown>]>([
    ['whose key is missing', async () => consent(setup.anotherVault({ keys: [newKey('other')] }))],
    [
      'of another format',
      async () => {
        for (const { key } of await setup.store.ofOwner(REF.userId)) await setup.store.set(key, 'of old')
      },
    ],
  ])('deletes a record %s, and does not say that the consent has ended', async (_what, damage) => {
    await revocableSetup()
    await damage()
    expect(await setup.vault.list(REF.userId)).toMatchObject([{ view: { state: 'unreadable' } }])
    expect(await setup.vault.disconnect(REF)).toBe('unknown')
    expect(await setup.vault.list(REF.userId)).toEqual([])
    expect(revoked()).toEqual([])
  })

  test('that the store refuses changes and revokes nothing', async () => {
    const { store, refuses } = refusingStore()
    await revocableSetup({ store })
    Object.assign(refuses, { writes: true, deletes: true })
    await expect(setup.vault.disconnect(REF)).rejects.toThrow(StoreUnavailableError)
    expect(await setup.vault.find(REF)).toMatchObject({ view: { state: 'active' } })
    expect(revoked()).toEqual([])
  })

  test('that the store refuses deletes no consent that began later', async () => {
    const faulty = createFaultyStore()
    await revocableSetup({ store: faulty.store })
    vi.spyOn(faulty.store, 'compareAndSet')
      .mockImplementationOnce(full)
      .mockImplementationOnce(async () => {
        await consent(setup.anotherVault(), { accessToken: 'access-later' })
        return full()
      })
    await expect(setup.vault.disconnect(REF)).rejects.toThrow(StoreUnavailableError)
    expect(await setup.token()).toBe('access-later')
    expect(revoked()).toEqual([])
  })

  test('is complete, and announced once, although the store’s answer is lost', async () => {
    const faulty = createFaultyStore()
    await revocableSetup({ store: faulty.store })
    faulty.failBy((operation) => (operation === 'compareAndSet' ? 'after' : undefined))
    const events = await eventsDuring(setup.vault, async () =>
      expect(await setup.vault.disconnect(REF)).toBe('revoked'),
    )
    expect(events).toEqual(['disconnected'])
    expect(revoked()).toEqual(['refresh-0'])
  })
})

describe('tokens that are received when the account has been disconnected are revoked', () => {
  test('if they are those of a refresh', async () => {
    await revocableSetup()
    const disconnect = async () => {
      setup.endpoint.answers(DONE)
      await setup.anotherVault().disconnect(REF)
    }
    setup.endpoint.answers(tokensAfter(disconnect, { refresh_token: 'refresh-1' }))
    setup.later(301)
    await expect(setup.token()).rejects.toMatchObject({ code: 'not_connected' })
    await setup.vault.idle()
    expect(revoked()).toEqual(['refresh-0', 'refresh-1'])
  })

  test('if they are those of a consent that the store did not accept at once', async () => {
    const { store, refuses } = refusingStore()
    await revocableSetup({ store })
    const outcome = await setup.vault.connect(REF, async () => {
      refuses.writes = true
      return { ...GRANTED, refreshToken: 'refresh-1' }
    })
    expect(outcome).toBe('pending')
    refuses.writes = false
    await setup.anotherVault().disconnect(REF)
    await setup.vault.idle()
    expect(await setup.vault.find(REF)).toBeNull()
    expect(revoked()).toEqual(['refresh-0', 'refresh-1'])
  })
})
