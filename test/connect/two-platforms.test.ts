import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Connect, createConnect, type EncryptionKey, platform } from '../../src/connect/index.ts'
import { type KeyValueStore, openSqlite } from '../../src/connect/stores.ts'
import { oauthError, startTokenEndpoint, type TokenEndpoint, tokens } from '../support/token-endpoint.ts'
import { consent, newKey, REF } from '../support/vault.ts'

function connectTo(name: string, url: string, store: KeyValueStore, keys: EncryptionKey[]): Connect {
  const addresses = { appUrl: url, authUrl: url, apiUrl: url }
  const registration = { clientId: 'client', clientSecret: 'secret', scopes: [], pkce: true }
  const request = { authorizePath: '/authorize', authorizeParams: {} }
  return createConnect({
    store,
    keys,
    platform: { ...platform, name },
    client: { ...addresses, ...registration, ...request },
    log: pino({ level: 'silent' }),
  })
}

describe('two platforms in one process, on one store', () => {
  let store: KeyValueStore
  let endpoints: TokenEndpoint[]
  let first: Connect
  let second: Connect

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    store = openSqlite({ file: ':memory:' })
    const [one, two] = [await startTokenEndpoint(), await startTokenEndpoint()]
    endpoints = [one, two]
    const keys = [newKey()]
    first = connectTo('alpha', one.authUrl, store, keys)
    second = connectTo('beta', two.authUrl, store, keys)
  })
  afterEach(async () => {
    vi.useRealTimers()
    await Promise.all([first.vault.close(0), second.vault.close(0)])
    for (const endpoint of endpoints) await endpoint.close()
    await store.close()
  })

  const later = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000)

  test('keep the same user and bxcontext apart', async () => {
    await consent(first.vault, { accessToken: 'of-alpha' })
    expect(await second.vault.find(REF)).toBeNull()
    await consent(second.vault, { accessToken: 'of-beta' })
    expect(await first.vault.accessToken(REF)).toBe('of-alpha')
    await first.vault.disconnect(REF)
    expect(await second.vault.accessToken(REF)).toBe('of-beta')
  })

  test('refresh their tokens apart: a pause of one does not affect the other', async () => {
    await consent(first.vault)
    await consent(second.vault)
    later(301)
    endpoints[0]?.answers({ status: 503, json: {} })
    await expect(first.vault.accessToken(REF)).rejects.toMatchObject({ code: 'platform_unavailable' })
    endpoints[1]?.answers(tokens({ access_token: 'refreshed' }))
    expect(await second.vault.accessToken(REF)).toBe('refreshed')
    expect(await first.vault.find(REF)).toMatchObject({ view: { state: 'degraded' } })
    expect(await second.vault.find(REF)).toMatchObject({ view: { state: 'active' } })
  })

  test('report their events to their own listeners only', async () => {
    const heard: string[] = []
    first.vault.onChange((_ref, events) => void heard.push(...events.map(({ type }) => `alpha ${type}`)))
    second.vault.onChange((_ref, events) => void heard.push(...events.map(({ type }) => `beta ${type}`)))
    await consent(second.vault)
    later(301)
    endpoints[1]?.answers(oauthError('invalid_grant'))
    await second.vault.accessToken(REF).catch(() => {})
    expect(heard).toEqual(['beta connected', 'beta revoked'])
  })

  test('share no connect flow', async () => {
    const browser = { userId: REF.userId, session: 'session' }
    await first.flows.start(browser)
    await expect(second.flows.arrive(browser, 'ctx')).rejects.toMatchObject({
      code: 'missing_authorization_request',
    })
  })
})

test('a name that could be part of another key is refused', () => {
  const create = () =>
    connectTo('platform-connection', 'http://localhost', openSqlite({ file: ':memory:' }), [newKey()])
  expect(create).toThrow('lower-case letters')
})
