import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Connect, createConnect, platform } from '../../src/connect/index.ts'
import { type KeyValueStore, openRedis, openSqlite } from '../../src/connect/stores.ts'
import { REDIS } from '../support/programs.ts'
import { ready, startRedis } from '../support/redis.ts'
import { oauthError, startTokenEndpoint, type TokenEndpoint, tokens } from '../support/token-endpoint.ts'
import { GRANTED, newKey, REF } from '../support/vault.ts'

const stores = [
  { name: 'SQLite', skip: false, open: async () => ({ store: openSqlite({ file: ':memory:' }), stop() {} }) },
  {
    name: 'Redis',
    skip: !REDIS,
    async open() {
      const redis = await startRedis()
      return { store: await ready(await openRedis({ urls: [redis.url] })), stop: () => redis.close() }
    },
  },
]

describe.each(stores)('two platforms in one process, on one store ($name)', ({ skip, open }) => {
  let store: KeyValueStore
  let stop: () => unknown
  let endpoints: TokenEndpoint[]
  let first: Connect
  let second: Connect

  beforeEach(async () => {
    ;({ store, stop } = await open())
    endpoints = [await startTokenEndpoint(), await startTokenEndpoint()]
    const keys = [newKey()]
    const [one, other] = ['alpha', 'beta'].map((name, index) => {
      const url = endpoints[index]?.authUrl ?? ''
      const addresses = { appUrl: url, authUrl: url, apiUrl: url }
      const registration = { clientId: 'client', clientSecret: 'secret', scopes: [], pkce: true }
      return createConnect({
        store,
        keys,
        platform: { ...platform, name },
        client: {
          ...addresses,
          ...registration,
          authorizePath: '/authorize',
          authorizeParams: {},
        },
        log: pino({ level: 'silent' }),
      })
    })
    first = one as Connect
    second = other as Connect
  })
  afterEach(async () => {
    await Promise.all([first.vault.close(0), second.vault.close(0)])
    for (const endpoint of endpoints) await endpoint.close()
    await store.close()
    await stop()
  })

  test.skipIf(skip)('keep the same user and bxcontext apart', async () => {
    await first.vault.connect(REF, { ...GRANTED, accessToken: 'of-alpha' })
    expect(await second.vault.find(REF)).toBeNull()
    await second.vault.connect(REF, { ...GRANTED, accessToken: 'of-beta' })
    expect(await first.vault.accessToken(REF)).toBe('of-alpha')
    expect(await second.vault.accessToken(REF)).toBe('of-beta')
    await first.vault.disconnect(REF)
    expect(await first.vault.usersOf(REF.bxcontext)).toEqual([])
    expect(await second.vault.usersOf(REF.bxcontext)).toEqual([REF.userId])
    expect(await second.vault.accessToken(REF)).toBe('of-beta')
  })

  test.skipIf(skip)(
    'refresh their tokens apart: lock, pause and budget of one do not affect the other',
    async () => {
      await first.vault.connect(REF, { ...GRANTED, expiresIn: 0 })
      await second.vault.connect(REF, { ...GRANTED, expiresIn: 0 })
      endpoints[0]?.answers({ status: 503, json: {} })
      await expect(first.vault.accessToken(REF)).rejects.toMatchObject({ code: 'platform_unavailable' })
      endpoints[1]?.answers(tokens({ access_token: 'refreshed' }))
      expect(await second.vault.accessToken(REF)).toBe('refreshed')
      expect(await first.vault.find(REF)).toMatchObject({ problem: 'error' })
      expect(await second.vault.find(REF)).toMatchObject({ problem: null })
    },
  )

  test.skipIf(skip)('report their events to their own listeners only', async () => {
    const heard: string[] = []
    first.onConnectionEvent(({ type }) => heard.push(`alpha ${type}`))
    second.onConnectionEvent(({ type }) => heard.push(`beta ${type}`))
    await second.vault.connect(REF, { ...GRANTED, expiresIn: 0 })
    endpoints[1]?.answers(oauthError('invalid_grant'))
    await second.vault.accessToken(REF).catch(() => {})
    await expect.poll(() => heard).toEqual(['beta connected', 'beta revoked'])
  })

  test.skipIf(skip)('share no connect flow', async () => {
    const browser = { userId: REF.userId, session: 'session' }
    await first.authorizationRequests.start(browser)
    await expect(second.authorizationRequests.bindBxcontext(browser, 'ctx')).rejects.toMatchObject({
      code: 'missing_authorization_request',
    })
  })
})

test('a name that could be part of another key is refused', () => {
  const create = () =>
    createConnect({
      store: openSqlite({ file: ':memory:' }),
      keys: [newKey()],
      platform: { ...platform, name: 'platform-connection' },
      client: {
        appUrl: 'http://localhost',
        authUrl: 'http://localhost',
        apiUrl: 'http://localhost',
        clientId: 'client',
        clientSecret: 'secret',
        scopes: [],
        authorizePath: '/authorize',
        authorizeParams: {},
        pkce: true,
      },
    })
  expect(create).toThrow('lower-case letters')
})
