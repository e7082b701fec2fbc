import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/store/store.ts'
import { connectionKey } from '../../../src/connect/vault/connection-repository.ts'
import { oauthError, tokens, tokensAfter } from '../../support/token-endpoint.ts'
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

describe('a store that refuses writes temporarily', () => {
  test('does not leave the connection locked when a refresh fails at that time', async () => {
    const { store, refuses } = refusingStore()
    setup = await vaultSetup({ store, leaseMs: 200, interruptedMs: 300, now: Date.now })
    await setup.vault.connect(REF, { ...GRANTED, expiresIn: 0 })
    setup.endpoint.answers(
      (res) => {
        refuses.all = true
        res.writeHead(500).end()
      },
      tokens({ access_token: 'next' }),
    )
    await setup.token().catch(() => {})
    refuses.all = false
    await vi.waitFor(async () => expect(await setup.token()).toBe('next'), { timeout: 5_000 })
  })

  test('keeps an unsaved new consent when a refresh of the previous grant ends in the meantime', async () => {
    const { store, refuses } = refusingStore()
    setup = await connectedSetup({ store, now: Date.now }, { expiresIn: 0 })
    let answer = () => {}
    const asked = new Promise<void>((resolve) => {
      setup.endpoint.answers(async (res) => {
        resolve()
        await new Promise<void>((release) => (answer = release))
        res.writeHead(200, { 'content-type': 'application/json' })
        res.end(JSON.stringify({ access_token: 'of-the-old-grant', expires_in: 300 }))
      })
    })
    const refreshing = setup.token()
    await asked
    refuses.connections = true
    const consent = { ...GRANTED, accessToken: 'newer' }
    expect(await setup.vault.connect(REF, consent)).toBe('unsaved')
    refuses.connections = false
    answer()
    await refreshing
    await setup.vault.idle()
    expect(await setup.token()).toBe('newer')
    expect(await setup.anotherVault().accessToken(REF)).toBe('newer')
  })

  test('keeps a new consent although an unsaved refresh of the previous grant was requested later', async () => {
    const { store, refuses } = refusingStore()
    let time = Date.now()
    setup = await vaultSetup({ store, now: () => time })
    await setup.vault.connect(REF, { ...GRANTED, expiresIn: 0 })
    const codeSentAt = time + 1_000
    time += 2_000
    setup.endpoint.answers(
      tokensAfter(() => Object.assign(refuses, { connections: true }), { access_token: 'older' }),
    )
    expect(await setup.token()).toBe('older')
    const consent = { ...GRANTED, accessToken: 'newer' }
    expect(await setup.vault.connect(REF, consent, codeSentAt)).toBe('unsaved')
    refuses.connections = false
    await setup.vault.idle()
    expect(await setup.anotherVault().accessToken(REF)).toBe('newer')
  })

  test('for a new consent does not keep the problems of the grant before', async () => {
    const { store, refuses } = refusingStore()
    setup = await connectedSetup({ store }, { expiresIn: 0 })
    setup.endpoint.answers(oauthError('invalid_client', 401))
    await setup.token().catch(() => {})
    expect(await setup.vault.find(REF)).toMatchObject({ problem: 'misconfigured' })
    refuses.all = true
    expect(await setup.vault.connect(REF, { ...GRANTED, accessToken: 'newer' })).toBe('unsaved')
    refuses.all = false
    await vi.waitFor(async () => expect(await setup.vault.find(REF)).toMatchObject({ problem: null }), {
      timeout: 20_000,
    })
  })

  test('and does not say that it has written a consent does not forget a request of its refresh in another process', async () => {
    const { store } = refusingStore()
    const { compareAndSet } = store
    store.compareAndSet = async (...args) => {
      if (args[0].kind !== 'platform-connection') return compareAndSet(...args)
      store.compareAndSet = compareAndSet
      await compareAndSet(...args)
      throw new StoreUnavailableError('no answer')
    }
    setup = await vaultSetup({ store })
    expect(await setup.vault.connect(REF, GRANTED)).toBe('unsaved')
    const note = { kind: 'platform-refresh-unfinished', owner: 'ann', id: 'ctx' }
    await store.set(note, 'of another process', 60_000)
    await setup.vault.idle()
    expect(await store.get(note)).toBe('of another process')
  })

  test('for a consent that another one follows leaves the problems of that one', async () => {
    setup = await vaultSetup()
    const { store } = setup
    let isCutOff = true
    const elsewhere = setup.anotherVault({
      store: {
        ...store,
        async compareAndSet(...args) {
          if (isCutOff) throw new StoreUnavailableError('no answer')
          return store.compareAndSet(...args)
        },
      },
    })
    expect(await elsewhere.connect(REF, GRANTED, Date.now() - 60_000)).toBe('unsaved')
    await setup.vault.connect(REF, { ...GRANTED, accessToken: 'newer', expiresIn: 0 })
    setup.endpoint.answers(oauthError('invalid_client', 401))
    await setup.token().catch(() => {})
    isCutOff = false
    await elsewhere.idle()
    expect(await setup.vault.find(REF)).toMatchObject({ problem: 'misconfigured' })
  })

  test('of the index only does not write the consent again over newer tokens', async () => {
    const { store, refuses } = refusingStore()
    let time = Date.now()
    setup = await vaultSetup({ store, now: () => time })
    refuses.index = true
    setup.endpoint.answers(tokens({ access_token: 'next', refresh_token: 'refresh-1' }))
    expect(await setup.vault.connect(REF, { ...GRANTED, expiresIn: 60 })).toBe('saved')
    time += 61_000
    expect(await setup.anotherVault().accessToken(REF)).toBe('next')
    refuses.index = false
    await vi.waitFor(async () => expect(await setup.vault.usersOf('ctx')).toEqual(['ann']))
    expect(await setup.token()).toBe('next')
    expect(setup.sent()).toEqual(['refresh-0'])
  })

  test('of the index only does not add an account to it that was disconnected in the meantime', async () => {
    const { store, refuses } = refusingStore()
    setup = await vaultSetup({ store })
    const add = vi.spyOn(store, 'compareAndSet')
    refuses.index = true
    await setup.vault.connect(REF, GRANTED)
    await setup.vault.disconnect(REF)
    refuses.index = false
    add.mockClear()
    await pause(1_000)
    expect(add.mock.calls.filter(([key]) => key.kind === 'platform-users')).toEqual([])
    expect(await setup.vault.usersOf('ctx')).toEqual([])
  })

  test('and does not say that it has written a consent does not lose the tokens of its refresh', async () => {
    const { store, refuses } = refusingStore()
    const { compareAndSet } = store
    let time = Date.now()
    setup = await vaultSetup({
      store: Object.assign(store, {
        compareAndSet: async (...args: Parameters<typeof compareAndSet>) => {
          const written = await compareAndSet(...args)
          if (refuses.index) throw new StoreUnavailableError('the answer was lost')
          return written
        },
      }),
      now: () => time,
    })
    refuses.index = true
    setup.endpoint.answers(tokens({ access_token: 'next', refresh_token: 'refresh-1' }))
    expect(await setup.vault.connect(REF, { ...GRANTED, expiresIn: 60 })).toBe('unsaved')
    refuses.index = false
    time += 61_000
    expect(await setup.anotherVault().accessToken(REF)).toBe('next')
    await setup.vault.idle()
    expect(await setup.token()).toBe('next')
    expect(setup.sent()).toEqual(['refresh-0'])
  })

  test('repeatedly does not make another process send a used-up refresh token', async () => {
    const { store, refuses } = refusingStore()
    setup = await expiredSetup({ store, refillMs: 0, leaseMs: 50 })
    setup.endpoint.answers(
      tokensAfter(() => Object.assign(refuses, { all: true }), {
        access_token: 'next',
        refresh_token: 'refresh-1',
      }),
      oauthError('invalid_grant'),
    )
    expect(await setup.token()).toBe('next')
    const other = setup.anotherVault({ interruptedMs: 400 })
    // The other process gets the lock and can do nothing with it: writes of connections are still refused.
    refuses.connections = true
    refuses.all = false
    await setup.store.delete({ kind: 'platform-refresh-lock', owner: 'ann', id: 'ctx' })
    const waiting = other.accessToken(REF).catch(() => {})
    await pause(200)
    refuses.all = true
    await waiting
    refuses.all = false
    const key = { kind: 'platform-refresh-unfinished', owner: 'ann', id: 'ctx' }
    expect(await setup.store.get(key)).not.toBeNull()
    refuses.connections = false
    await setup.vault.idle()
    expect(await other.accessToken(REF)).toBe('next')
    expect(setup.sent()).toEqual(['refresh-0'])
  })

  test('and cannot be read either does not overwrite the record unseen', async () => {
    setup = await connectedSetup()
    const { get } = setup.store
    setup.store.get = async (key) => {
      if (key.kind !== 'platform-connection') return get(key)
      setup.store.get = get
      throw new StoreUnavailableError('gone')
    }
    expect(await setup.vault.connect(REF, { ...GRANTED, accessToken: 'newer' })).toBe('unsaved')
    await setup.vault.idle()
    expect(await setup.token()).toBe('newer')
  })

  test('makes a refresh fail at once while the tokens are not stored', async () => {
    const { store, refuses } = refusingStore()
    setup = await vaultSetup({ store })
    refuses.connections = true
    await setup.vault.connect(REF, GRANTED)
    await expect(setup.vault.refresh(REF)).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(setup.vault.tokenSource(REF).refresh('access-0')).rejects.toMatchObject({
      status: 503,
    })
    refuses.connections = false
    await setup.vault.idle()
  })

  test('does not cause a used-up refresh token to be sent when the unsaved access token expires', async () => {
    const { store, refuses } = refusingStore()
    setup = await expiredSetup({ store, refillMs: 0, leaseMs: 100 })
    setup.endpoint.answers(
      tokensAfter(() => Object.assign(refuses, { connections: true }), {
        access_token: 'next',
        refresh_token: 'refresh-1',
        expires_in: 10,
      }),
      tokens({ access_token: 'later' }),
    )
    expect(await setup.token()).toBe('next')
    setup.later(11)
    await expect(setup.token()).rejects.toMatchObject({ status: 503 })
    refuses.connections = false
    await setup.vault.idle()
    expect(await setup.token()).toBe('later')
    expect(setup.sent()).toEqual(['refresh-0', 'refresh-1'])
  })

  test('does not make another process send a used-up refresh token when the lock is lost', async () => {
    const { store, refuses } = refusingStore()
    setup = await expiredSetup({ store, refillMs: 0, leaseMs: 100 })
    setup.endpoint.answers(
      tokensAfter(() => Object.assign(refuses, { all: true }), {
        access_token: 'next',
        refresh_token: 'refresh-1',
      }),
      oauthError('invalid_grant'),
    )
    expect(await setup.token()).toBe('next')
    await pause(300)
    await setup.store.delete({ kind: 'platform-refresh-lock', owner: 'ann', id: 'ctx' }).catch(() => {})
    refuses.all = false
    const other = setup.anotherVault()
    const all = await Promise.all(Array.from({ length: 20 }, () => other.accessToken(REF)))
    expect(new Set(all)).toEqual(new Set(['next']))
    expect(setup.sent()).toEqual(['refresh-0'])
  })

  test('does not restore a connection that is disconnected while its tokens are written', async () => {
    const { store, refuses } = refusingStore()
    let release = () => {}
    const written: boolean[] = []
    const writing = new Promise<void>((begun) => {
      const { compareAndSet } = store
      store.compareAndSet = async (...args) => {
        if (args[0].kind === 'platform-connection' && args[2] !== null && !refuses.connections) {
          begun()
          await new Promise<void>((resolve) => (release = resolve))
          const stored = await compareAndSet(...args)
          written.push(stored)
          return stored
        }
        return compareAndSet(...args)
      }
    })
    setup = await vaultSetup({ store })
    refuses.connections = true
    await setup.vault.connect(REF, GRANTED)
    refuses.connections = false
    await writing
    expect(await setup.vault.disconnect(REF)).toBe('remains')
    release()
    await vi.waitFor(() => expect(written).toEqual([true]), { timeout: 5_000 })
    await vi.waitFor(async () => expect(await store.get(connectionKey('platform', REF))).toBeNull(), {
      timeout: 5_000,
    })
  })
})

describe('tokens that could never be stored', () => {
  const lost = () => setup.logLines.filter((line) => line.includes('tokens_lost'))

  test('are logged as lost when the app stops, without the tokens', async () => {
    const { store, refuses } = refusingStore()
    setup = await vaultSetup({ store })
    refuses.connections = true
    await setup.vault.connect(REF, GRANTED)
    await setup.vault.close(10)
    expect(lost()).toEqual([expect.stringContaining('the app was stopped')])
    expect(lost().join()).not.toMatch(/access-0|refresh-0/)
  })

  test('are none if the store accepts them while the vault is closed', async () => {
    const { store, refuses } = refusingStore()
    setup = await vaultSetup({ store })
    refuses.connections = true
    await setup.vault.connect(REF, GRANTED)
    refuses.connections = false
    await setup.vault.close(60_000)
    expect(lost()).toEqual([])
    expect(await setup.anotherVault().accessToken(REF)).toBe('access-0')
  })

  test('do not remove the record if they are written while the app stops', async () => {
    const { store, refuses } = refusingStore()
    const { compareAndSet } = store
    const written = Promise.withResolvers<void>()
    store.compareAndSet = async (...args) => {
      const isWrite = args[0].kind === 'platform-connection' && !refuses.connections
      if (isWrite) await setup.vault.close(10)
      const stored = await compareAndSet(...args)
      if (isWrite) written.resolve()
      return stored
    }
    setup = await vaultSetup({ store })
    refuses.connections = true
    await setup.vault.connect(REF, GRANTED)
    refuses.connections = false
    await written.promise
    // Time to remove it again.
    await pause(50)
    expect(await setup.anotherVault().accessToken(REF)).toBe('access-0')
  })

  test('are not called lost if the connection was removed meanwhile: nobody needs them', async () => {
    const { store, refuses } = refusingStore()
    setup = await expiredSetup({ store })
    const answer = { access_token: 'next' }
    setup.endpoint.answers(tokensAfter(() => Object.assign(refuses, { connections: true }), answer))
    expect(await setup.token()).toBe('next')
    refuses.connections = false
    await setup.anotherVault().disconnect(REF)
    await setup.vault.idle()
    expect(lost()).toEqual([])
    expect(await setup.vault.find(REF)).toBeNull()
  })

  test('are none when a vault with nothing to store is closed', async () => {
    setup = await connectedSetup()
    await setup.vault.close(60_000)
    expect(lost()).toEqual([])
  })
})

test('a connection that is not stored yet is listed with the stored ones, the latest first', async () => {
  const { store, refuses } = refusingStore()
  setup = await vaultSetup({ store })
  await setup.vault.connect({ ...REF, bxcontext: 'first' }, GRANTED, 1_000)
  await setup.vault.connect({ ...REF, bxcontext: 'third' }, GRANTED, 3_000)
  await setup.vault.connect({ ...REF, userId: 'ben' }, GRANTED)
  refuses.connections = true
  await setup.vault.connect({ ...REF, bxcontext: 'second' }, GRANTED, 2_000)
  const listed = await setup.vault.list('ann')
  expect(listed.map(({ bxcontext }) => bxcontext)).toEqual(['third', 'second', 'first'])
  refuses.connections = false
  await setup.vault.idle()
})
