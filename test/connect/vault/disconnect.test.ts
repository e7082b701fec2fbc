import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { NotConnectedError, StoreUnavailableError } from '../../../src/connect/errors.ts'
import type { Tokens } from '../../../src/connect/index.ts'
import { type KeyValueStore, openSqlite } from '../../../src/connect/stores.ts'
import { oauthError, startTokenEndpoint, type TokenEndpoint, tokens } from '../../support/token-endpoint.ts'
import {
  eventsDuring,
  GRANTED,
  newKey,
  oauthFor,
  REF,
  refusingStore,
  vaultWithRevocation as setUp,
  type VaultSetup,
  vaultSetup,
} from '../../support/vault.ts'

let endpoint: TokenEndpoint
beforeEach(async () => {
  endpoint = await startTokenEndpoint()
  endpoint.answers({ status: 200, text: '' })
})
afterEach(() => endpoint.close())

const revokingOAuth = () => oauthFor(endpoint.authUrl, { revocationUrl: `${endpoint.authUrl}/oauth/revoke` })

describe('disconnecting', () => {
  test('revokes the refresh token on the platform, once, and deletes the connection', async () => {
    const { vault, close } = await setUp(endpoint)
    const both = await Promise.all([vault.disconnect(REF), vault.disconnect(REF)])
    expect(both.toSorted()).toEqual([null, 'withdrawn'])
    expect(endpoint.requests).toEqual([
      {
        token: 'refresh-0',
        token_type_hint: 'refresh_token',
        client_id: 'client',
        client_secret: 'client secret',
      },
    ])
    expect(await vault.find(REF)).toBeNull()
    expect(await vault.disconnect(REF)).toBeNull()
    await close()
  })

  test('revokes each grant: the stored one, and a later one that could not be stored', async () => {
    const { store, refuses } = refusingStore()
    const setup = await vaultSetup({
      store,
      oauth: revokingOAuth(),
    })
    await setup.vault.connect(REF, GRANTED)
    refuses.connections = true
    setup.later(1)
    expect(await setup.vault.connect(REF, { ...GRANTED, refreshToken: 'refresh-1' })).toBe('unsaved')
    refuses.connections = false
    expect(await setup.vault.disconnect(REF)).toBe('withdrawn')
    expect(endpoint.requests.map(({ token }) => token).toSorted()).toEqual(['refresh-0', 'refresh-1'])
    await setup.close()
  })

  test('revokes the access token if there is no refresh token', async () => {
    const setup = await setUp(endpoint)
    await setup.vault.connect(REF, { ...GRANTED, refreshToken: undefined })
    expect(await setup.vault.disconnect(REF)).toBe('withdrawn')
    expect(endpoint.requests).toMatchObject([{ token: 'access-0', token_type_hint: 'access_token' }])
    await setup.close()
  })

  test.each([
    ['is down', { status: 503, text: 'down' }],
    ['redirects', { status: 302, text: '', headers: { location: '/' } }],
    ['rejects this app', oauthError('invalid_client', 401)],
    ['does not support the token', oauthError('unsupported_token_type')],
  ])(
    'deletes the connection all the same if the revocation endpoint %s, and says so',
    async (_name, answer) => {
      endpoint.answers(answer)
      const { vault, logLines, close } = await setUp(endpoint)
      expect(await vault.disconnect(REF)).toBe('unknown')
      expect(await vault.find(REF)).toBeNull()
      expect(logLines.join('')).toContain('was not revoked')
      expect(logLines.join('')).not.toMatch(/refresh-0|access-0|client secret/)
      await close()
    },
  )

  test('also deletes tokens that are stored while it runs, after the store had refused them', async () => {
    const { store, refuses } = refusingStore()
    const setup = await vaultSetup({ store })
    refuses.connections = true
    expect(await setup.vault.connect(REF, GRANTED)).toBe('unsaved')
    // They are stored while the record that was not there is looked for.
    const { get } = store
    let isFirst = true
    store.get = async (key) => {
      const value = await get(key)
      if (key.kind === 'platform-connection' && isFirst) {
        isFirst = false
        refuses.connections = false
        await vi.waitFor(async () => expect(await get(key)).not.toBeNull(), { timeout: 20_000 })
      }
      return value
    }
    await setup.vault.disconnect(REF)
    await setup.vault.idle()
    expect(await setup.vault.find(REF)).toBeNull()
    expect(await store.get({ kind: 'platform-connection', owner: 'ann', id: 'ctx' })).toBeNull()
    await setup.close()
  })

  test('while a refresh is under way also revokes the tokens that the refresh gets', async () => {
    const setup = await setUp(endpoint)
    const { oauth } = setup
    let answerRefresh = (_tokens: Tokens) => {}
    const sent = new Promise<void>((resolve) => {
      vi.spyOn(oauth, 'refresh').mockImplementation(() => {
        resolve()
        return new Promise((answer) => {
          answerRefresh = answer
        })
      })
    })
    const refreshed = setup.vault.refresh(REF).catch((error: unknown) => error)
    await sent
    expect(await setup.anotherVault().disconnect(REF)).toBe('withdrawn')
    answerRefresh({ ...GRANTED, accessToken: 'access-1', refreshToken: 'refresh-1' })
    expect(await refreshed).toMatchObject({ code: 'not_connected' })
    expect(endpoint.requests.map(({ token }) => token)).toEqual(['refresh-0', 'refresh-1'])
    expect(await setup.vault.find(REF)).toBeNull()
    await setup.close()
  })

  test.each([
    ['a refresh', 'refresh-1'],
    ['a new consent', 'refresh-2'],
  ])(
    'also deletes and revokes the tokens of %s that another process stores meanwhile',
    async (_by, stored) => {
      const setup = await setUp(endpoint)
      const { oauth, store } = setup
      const received = { ...GRANTED, accessToken: 'access-1', refreshToken: stored }
      vi.spyOn(oauth, 'refresh').mockResolvedValue(received)
      const other = setup.anotherVault()
      const { compareAndSet } = store
      vi.spyOn(store, 'compareAndSet').mockImplementationOnce(async (...args) => {
        if (stored === 'refresh-1') await other.refresh(REF)
        else await other.connect(REF, received)
        return compareAndSet(...args)
      })
      expect(await setup.vault.disconnect(REF)).toBe('withdrawn')
      expect(endpoint.requests.map(({ token }) => token)).toEqual([stored])
      expect(await setup.vault.find(REF)).toBeNull()
      await setup.close()
    },
  )

  /** Deletes the record once, and loses the answer. */
  function loseTheAnswer({ store }: Pick<VaultSetup, 'store'>, onDeleted = () => {}) {
    const { compareAndSet } = store
    vi.spyOn(store, 'compareAndSet').mockImplementation(async (...args) => {
      const isDone = await compareAndSet(...args)
      if (args[0].kind !== 'platform-connection') return isDone
      onDeleted()
      throw new StoreUnavailableError('no answer')
    })
  }

  test('is complete if the store deletes the record and its answer is lost', async () => {
    const setup = await setUp(endpoint)
    loseTheAnswer(setup)
    const announced = await eventsDuring(async () =>
      expect(await setup.vault.disconnect(REF)).toBe('withdrawn'),
    )
    expect(announced).toEqual(['disconnected'])
    expect(endpoint.requests).toMatchObject([{ token: 'refresh-0' }])
    await setup.close()
  })

  test('revokes the grant also if the store fails before it confirms that the record is deleted', async () => {
    const setup = await setUp(endpoint)
    const { get } = setup.store
    loseTheAnswer(setup, () => {
      setup.store.get = async () => Promise.reject(new StoreUnavailableError('down'))
    })
    await expect(setup.vault.disconnect(REF)).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(endpoint.requests).toMatchObject([{ token: 'refresh-0' }])
    setup.store.get = get
    expect(await setup.vault.disconnect(REF)).toBeNull()
    await setup.close()
  })

  test('that the store refuses revokes nothing: the user can try again', async () => {
    const setup = await setUp(endpoint)
    const { compareAndSet } = setup.store
    setup.store.compareAndSet = async () => Promise.reject(new StoreUnavailableError('read-only'))
    await expect(setup.vault.disconnect(REF)).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(endpoint.requests).toEqual([])
    setup.store.compareAndSet = compareAndSet
    expect(await setup.vault.disconnect(REF)).toBe('withdrawn')
    await setup.close()
  })

  test('revokes a grant by its latest tokens, although this process has earlier ones that are not stored', async () => {
    const setup = await vaultSetup({ oauth: revokingOAuth() })
    const { store } = setup
    let isLost = false
    const losing = setup.anotherVault({
      store: {
        ...store,
        async compareAndSet(...args) {
          if (isLost) throw new StoreUnavailableError('down')
          const isDone = await store.compareAndSet(...args)
          isLost = args[0].kind === 'platform-connection'
          if (isLost) throw new StoreUnavailableError('no answer')
          return isDone
        },
      },
    })
    expect(await losing.connect(REF, GRANTED)).toBe('unsaved')
    endpoint.answers(tokens({ refresh_token: 'refresh-1' }))
    setup.later(1)
    await setup.vault.refresh(REF)
    endpoint.answers({ status: 200, text: '' })
    isLost = false
    expect(await losing.disconnect(REF)).toBe('withdrawn')
    expect(endpoint.requests.at(-1)).toMatchObject({ token: 'refresh-1' })
    await setup.close()
  })

  test('works in a store that is full: it refuses to write, and deletes', async () => {
    const setup = await setUp(endpoint)
    const { compareAndSet } = setup.store
    const full = async () => Promise.reject(new StoreUnavailableError('full'))
    setup.store.set = full
    setup.store.compareAndSet = (...args) => (args[2] === null ? compareAndSet(...args) : full())
    expect(await setup.vault.disconnect(REF)).toBe('withdrawn')
    expect(await setup.vault.find(REF)).toBeNull()
    await expect(setup.vault.disconnect(REF)).rejects.toMatchObject({ code: 'store_unavailable' })
    await setup.close()
  })

  test('in a store that is full is noted as soon as there is room, for consents that wait for that', async () => {
    const setup = await setUp(endpoint)
    const { compareAndSet } = setup.store
    let isFull = true
    setup.store.compareAndSet = async (...args) => {
      if (isFull && args[2] !== null) throw new StoreUnavailableError('full')
      return compareAndSet(...args)
    }
    const elsewhere = setup.anotherVault()
    setup.later(1)
    expect(await elsewhere.connect(REF, { ...GRANTED, refreshToken: 'refresh-1' })).toBe('unsaved')
    setup.later(1)
    expect(await setup.vault.disconnect(REF)).toBe('withdrawn')
    await vi.waitFor(
      async () => {
        isFull = false
        expect(await setup.store.get({ kind: 'platform-disconnected', owner: 'ann', id: '' })).not.toBeNull()
      },
      { timeout: 20_000 },
    )
    await elsewhere.idle()
    await setup.close()
  })

  test('of an account with unsaved tokens revokes the stored grant too, although the store fails in between', async () => {
    const { store, refuses } = refusingStore()
    const setup = await vaultSetup({ store, oauth: revokingOAuth() })
    await setup.vault.connect(REF, GRANTED)
    refuses.connections = true
    setup.later(1)
    await setup.vault.connect(REF, { ...GRANTED, refreshToken: 'refresh-1' })
    refuses.connections = false
    const { compareAndSet, get } = store
    store.compareAndSet = async (...args) => {
      const isDone = await compareAndSet(...args)
      // The first record is deleted now.
      if (args[0].kind === 'platform-connection' && args[2] === null)
        store.get = async () => Promise.reject(new StoreUnavailableError('down'))
      return isDone
    }
    expect(await setup.vault.disconnect(REF)).toBe('withdrawn')
    Object.assign(store, { compareAndSet, get })
    expect(endpoint.requests.map(({ token }) => token).toSorted()).toEqual(['refresh-0', 'refresh-1'])
    await setup.vault.idle()
    expect(await setup.vault.find(REF)).toBeNull()
    await setup.close()
  })

  test('leaves a user who connects the account again meanwhile among those of the business', async () => {
    const setup = await setUp(endpoint)
    const { store } = setup
    const other = setup.anotherVault()
    const remove = store.delete
    vi.spyOn(store, 'delete').mockImplementation(async (key) => {
      if (key.kind === 'platform-users') await other.connect(REF, GRANTED)
      return remove(key)
    })
    await setup.vault.disconnect(REF)
    expect(await setup.vault.find(REF)).toMatchObject({ status: 'active' })
    expect(await setup.vault.usersOf(REF.bxcontext)).toEqual([REF.userId])
    await setup.close()
  })

  test('in another process outlives a consent that could not be stored at first, and revokes it', async () => {
    const store = openSqlite({ file: ':memory:' })
    let isCutOff = false
    const reaching =
      <A extends unknown[], T>(operation: (...args: A) => Promise<T>) =>
      async (...args: A): Promise<T> => {
        if (isCutOff) throw new StoreUnavailableError('down')
        return operation(...args)
      }
    const { get, set, compareAndSet } = store
    const setup = await vaultSetup({
      store: { ...store, get: reaching(get), set: reaching(set), compareAndSet: reaching(compareAndSet) },
      oauth: revokingOAuth(),
    })
    await setup.vault.connect(REF, GRANTED)
    isCutOff = true
    expect(await setup.vault.connect(REF, { ...GRANTED, refreshToken: 'refresh-1' })).toBe('unsaved')
    setup.later(1)
    expect(await setup.anotherVault({ store }).disconnect(REF)).toBe('withdrawn')
    isCutOff = false
    await setup.vault.idle()
    expect(await setup.vault.find(REF)).toBeNull()
    expect(endpoint.requests.map(({ token }) => token).toSorted()).toEqual(['refresh-0', 'refresh-1'])
    await setup.close()
  })

  test('in another process ends a first consent that could not be stored yet', async () => {
    const { store, refuses } = refusingStore()
    const setup = await vaultSetup({
      store,
      oauth: revokingOAuth(),
    })
    const announced = await eventsDuring(async () => {
      refuses.connections = true
      expect(await setup.vault.connect(REF, GRANTED)).toBe('unsaved')
      setup.later(1)
      expect(await setup.anotherVault().disconnect(REF)).toBeNull()
      refuses.connections = false
      await setup.vault.idle()
    })
    expect(await setup.vault.find(REF)).toBeNull()
    expect(endpoint.requests).toMatchObject([{ token: 'refresh-0' }])
    expect(announced).toEqual(['connected', 'disconnected'])
    await setup.close()
  })

  test('in another process ends a consent that is written between its reading and its answer', async () => {
    const setup = await vaultSetup({ oauth: revokingOAuth() })
    const { store } = setup
    const { read, goOn } = { read: Promise.withResolvers<void>(), goOn: Promise.withResolvers<void>() }
    const slow: KeyValueStore = {
      ...store,
      async get(key) {
        const value = await store.get(key)
        if (key.kind === 'platform-connection') {
          read.resolve()
          await goOn.promise
        }
        return value
      },
    }
    const sentAt = Date.now() - 60_000
    const disconnecting = setup.anotherVault({ store: slow }).disconnect(REF)
    await read.promise
    await expect(setup.vault.connect(REF, GRANTED, sentAt)).rejects.toThrow(NotConnectedError)
    goOn.resolve()
    expect(await disconnecting).toBeNull()
    expect(await setup.vault.find(REF)).toBeNull()
    expect(endpoint.requests).toMatchObject([{ token: 'refresh-0' }])
    await setup.close()
  })

  test('leaves one note for each user, whatever is disconnected, and for 15 minutes', async () => {
    const setup = await vaultSetup()
    for (let i = 0; i < 150; i++)
      await setup.vault.disconnect({ userId: 'ann', bxcontext: `${'x'.repeat(5_000)}${i}` })
    const stored = await setup.store.ofOwner('ann')
    expect(stored).toHaveLength(1)
    expect(stored[0]?.value.length).toBeLessThan(10_000)
    setup.later(900)
    expect(await setup.store.ofOwner('ann')).toEqual([])
    await setup.close()
  })

  test('of a connection that cannot be decrypted deletes it, and says that the consent may remain', async () => {
    const setup = await setUp(endpoint)
    const other = { ...REF, bxcontext: 'other' }
    await setup.anotherVault({ keys: [newKey('other')] }).connect(other, GRANTED)
    expect(await setup.vault.disconnect(other)).toBe('unknown')
    expect(await setup.vault.find(other)).toBeNull()
    expect(endpoint.requests).toEqual([])
    await setup.close()
  })

  test('deletes nothing that it could not read because the store failed', async () => {
    const setup = await setUp(endpoint)
    const { get } = setup.store
    setup.store.get = () => Promise.reject(new StoreUnavailableError('down'))
    await expect(setup.vault.disconnect(REF)).rejects.toMatchObject({ code: 'store_unavailable' })
    setup.store.get = get
    expect(await setup.vault.find(REF)).toMatchObject({ status: 'active' })
    expect(endpoint.requests).toEqual([])
    await setup.close()
  })

  test('of an unreadable record and unsaved tokens revokes those, and says that a consent may remain', async () => {
    const { store, refuses } = refusingStore()
    const setup = await vaultSetup({ store, oauth: revokingOAuth() })
    await setup.anotherVault({ keys: [newKey('other')] }).connect(REF, GRANTED)
    refuses.connections = true
    await setup.vault.connect(REF, { ...GRANTED, refreshToken: 'refresh-1' })
    refuses.connections = false
    expect(await setup.vault.disconnect(REF)).toBe('unknown')
    expect(endpoint.requests).toMatchObject([{ token: 'refresh-1' }])
    await setup.close()
  })

  test('of a grant that the platform has ended says that the consent has ended', async () => {
    const { vault, close, later } = await setUp(endpoint)
    later(301)
    endpoint.answers(oauthError('invalid_grant'))
    await vault.accessToken(REF).catch(() => {})
    expect(await vault.disconnect(REF)).toBe('withdrawn')
    await close()
  })

  test('of an access token that has expired does not say that the consent has ended', async () => {
    const { vault, close, later } = await setUp(endpoint)
    await vault.connect(REF, { ...GRANTED, refreshToken: undefined })
    later(301)
    await expect(vault.accessToken(REF)).rejects.toMatchObject({ code: 'connection_revoked' })
    expect(await vault.disconnect(REF)).toBe('unknown')
    expect(endpoint.requests).toEqual([])
    await close()
  })

  test('without a revocation endpoint leaves the consent, and says so', async () => {
    const setup = await vaultSetup()
    await setup.vault.connect(REF, GRANTED)
    expect(await setup.vault.disconnect(REF)).toBe('remains')
    await setup.close()
  })
})
