import { afterEach, describe, expect, test } from 'vitest'
import { reencrypt, type Vault } from '../../../src/connect/index.ts'
import { createFaultyStore } from '../../support/faulty-store.ts'
import { turns } from '../../support/store-contract.ts'
import { oauthError } from '../../support/token-endpoint.ts'
import { consent, newKey, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const refOf = (bxcontext: string) => ({ userId: 'ann', bxcontext })
const ALL = { skip: 0, top: 100 }
const idsOf = async (listing: Parameters<Vault['page']>[1]) =>
  (await setup.vault.page('ann', listing)).items.map(({ bxcontext }) => bxcontext)
/** Notes a call that the API has accepted. */
async function use(bxcontext: string): Promise<void> {
  const source = setup.vault.tokenSource(refOf(bxcontext))
  await source.accessToken()
  await source.noteCall({ result: 'ok', call: 'GET /leads', scope: 'leads' })
}

describe('a page of connections', () => {
  test('begins with the connections that need the user, then those that were used last, on whatever page they are', async () => {
    setup = await vaultSetup()
    for (const id of ['ended', 'b', 'missing', 'z', 'a']) {
      await consent(setup.vault, { expiresIn: 36_000 }, refOf(id))
      setup.later(1)
    }
    setup.later(120)
    await use('b')
    setup.later(120)
    await use('z')
    await consent(setup.vault, { scopes: ['leads'], expiresIn: 36_000 }, refOf('missing'))
    setup.endpoint.answers(oauthError('invalid_grant'))
    await expect(setup.vault.refresh(refOf('ended'))).rejects.toThrow()
    expect(await idsOf({ skip: 0, top: 2 })).toEqual(['missing', 'ended'])
    expect(await idsOf({ skip: 2, top: 2 })).toEqual(['z', 'b'])
    expect(await idsOf({ skip: 4, top: 2 })).toEqual(['a'])
    expect(await idsOf({ ...ALL, order: 'used' })).toEqual(['missing', 'z', 'b', 'a', 'ended'])
    await consent(setup.vault, { expiresIn: 36_000 }, refOf('ended'))
    expect(await idsOf({ skip: 0, top: 2 })).toEqual(['missing', 'ended'])
  })

  test('has connections without a refresh token next, those that expire first at the top', async () => {
    setup = await vaultSetup()
    const expires = { late: 6_000, soon: 600 }
    for (const [id, expiresIn] of Object.entries(expires))
      await consent(setup.vault, { refreshToken: undefined, expiresIn }, refOf(id))
    await consent(setup.vault, { scopes: ['leads'], expiresIn: 36_000 }, refOf('missing'))
    setup.later(1)
    await consent(setup.vault, { expiresIn: 36_000 }, refOf('working'))
    for (const seconds of [0, 601]) {
      setup.later(seconds)
      expect(await idsOf({ skip: 0, top: 2 })).toEqual(['missing', 'soon'])
      expect(await idsOf({ skip: 2, top: 2 })).toEqual(['late', 'working'])
    }
  })

  test('is in the same order after a re-encryption', async () => {
    const keys = [newKey('old')]
    setup = await vaultSetup({ keys })
    for (const id of ['a', 'c', 'b']) {
      await consent(setup.vault, {}, refOf(id))
      setup.later(1)
    }
    for await (const outcome of reencrypt(setup.store, [newKey('new'), ...keys]))
      expect(outcome).toBe('reencrypted')
    expect(await idsOf(ALL)).toEqual(['b', 'c', 'a'])
  })

  test('costs the store as much for a user with hundreds of connections as for one with three', async () => {
    const { store, count } = createFaultyStore()
    setup = await vaultSetup({ store })
    const costOf = async () => {
      const before = count()
      const { total } = await setup.vault.page('ann', { skip: 0, top: 3 })
      return { total, operations: count() - before }
    }
    for (let i = 0; i < 3; i++) await consent(setup.vault, {}, refOf(`b${i}`))
    const few = await costOf()
    for (let i = 3; i < 300; i++) await consent(setup.vault, {}, refOf(`b${i}`))
    const { list } = store
    store.list = () => Promise.reject(new Error('this reads them all'))
    expect(await costOf()).toEqual({ total: 300, operations: few.operations })
    store.list = list
  })

  test('is found by a part of the label, of the business name, or of the id, and sorted by name', async () => {
    setup = await vaultSetup()
    for (const [id, businessName] of Object.entries({ c: 'élan 10', a: 'Elan 9', x9: 'Zed' }))
      await consent(setup.vault, { businessName }, refOf(id))
    await setup.vault.label(refOf('x9'), 'Bakers')
    const orders = { search: '', order: 'name' as const }
    expect(await idsOf({ ...ALL, ...orders })).toEqual(['x9', 'a', 'c'])
    expect(await idsOf({ ...ALL, search: 'LAN', order: 'name' })).toEqual(['a', 'c'])
    for (const search of ['baker', 'zed', 'X9']) expect(await idsOf({ ...ALL, search })).toEqual(['x9'])
    expect(await idsOf({ skip: 1, top: 1, ...orders })).toEqual(['a'])
    expect(await setup.vault.page('ann', { ...ALL, search: 'nobody' })).toMatchObject({ items: [], total: 0 })
  })

  test('has the number of all connections, and where the next page begins', async () => {
    setup = await vaultSetup()
    for (let i = 0; i < 7; i++) await consent(setup.vault, {}, refOf(`b${i}`))
    const seen: string[] = []
    for (let skip: number | undefined = 0; skip !== undefined; ) {
      const { items, total, next } = await setup.vault.page('ann', { skip, top: 3 })
      expect(total).toBe(7)
      seen.push(...items.map(({ bxcontext }) => bxcontext))
      skip = next?.skip
    }
    expect(seen.toSorted()).toEqual(Array.from({ length: 7 }, (_, i) => `b${i}`))
    for (const skip of [4, 7])
      expect(await setup.vault.page('ann', { skip, top: 3 })).toMatchObject({ next: null })
  })

  test('lets other requests get their turn while it is made', async () => {
    setup = await vaultSetup()
    for (let i = 0; i < 240; i++) await consent(setup.vault, {}, refOf(`b${i}`))
    const others = turns()
    await setup.vault.page('ann', { skip: 0, top: 25, order: 'name' })
    expect(others.end()).toBeGreaterThan(3)
  })

  test('begins with connections that cannot be decrypted, or lack a scope that the app asks for now, also in a search', async () => {
    setup = await vaultSetup()
    await consent(setup.vault, {}, refOf('lost'))
    setup.later(1)
    const keys = [newKey('other')]
    const { oauth } = setup
    const now = setup.anotherVault({ keys, oauth: { ...oauth, scopes: [...oauth.scopes, 'new'] } })
    await consent(now, { scopes: ['leads'] }, refOf('missing'))
    setup.later(1)
    await consent(now, { scopes: undefined }, refOf('works'))
    for (const listing of [ALL, { ...ALL, search: 's' }])
      expect((await now.page('ann', listing)).items.map(({ bxcontext }) => bxcontext).slice(-1)).toEqual([
        'works',
      ])
    expect((await now.page('ann', { ...ALL, order: 'used' })).items[0]?.bxcontext).toBe('works')
  })
})

describe('the version of the connections on a page', () => {
  const SHOWN = ['a', 'b', 'gone']
  const version = (vault = setup.vault) => vault.version('ann', SHOWN)

  test('is made of as many reads as the page has connections, however many the user has', async () => {
    const { store, count } = createFaultyStore()
    setup = await vaultSetup({ store })
    const costOf = async () => {
      const before = count()
      await version()
      return count() - before
    }
    for (const id of SHOWN) await consent(setup.vault, {}, refOf(id))
    const few = await costOf()
    for (let i = 0; i < 300; i++) await consent(setup.vault, {}, refOf(`other-${i}`))
    expect([few, await costOf()]).toEqual([SHOWN.length + 1, SHOWN.length + 1])
  })

  test('needs no key, because nothing is decrypted', async () => {
    setup = await vaultSetup()
    for (const id of SHOWN) await consent(setup.vault, {}, refOf(id))
    expect(await version(setup.anotherVault({ keys: [newKey('other')] }))).toBe(await version())
  })

  test('changes with what the page shows, and with nothing else', async () => {
    setup = await vaultSetup()
    for (const id of ['a', 'gone']) await consent(setup.vault, {}, refOf(id))
    // It has no refresh token, and its access token expires in ten minutes.
    await consent(setup.vault, { refreshToken: undefined, expiresIn: 600 }, refOf('b'))
    const changes: Record<string, () => unknown> = {
      label: () => setup.vault.label(refOf('a'), 'Mine'),
      use: () => use('a'),
      disconnect: () => setup.vault.disconnect(refOf('gone')),
      expiry: () => setup.later(601),
      'the platform refuses the app': () => setup.vault.credentials.note(true),
    }
    for (const [name, change] of Object.entries(changes)) {
      const before = await version()
      await consent(setup.vault, {}, refOf('elsewhere'))
      setup.later(1)
      expect(await version(), `before: ${name}`).toBe(before)
      await change()
      expect(await version(), name).not.toBe(before)
    }
  })
})

test('a user with 10,000 connections has no room for another business, but for those that are connected', async () => {
  const { store } = createFaultyStore()
  let total = 10_000
  setup = await vaultSetup({ store: { ...store, page: async () => ({ entries: [], total }) } })
  await consent(setup.vault, {}, refOf('b1'))
  expect(await setup.vault.hasRoom(refOf('b1'))).toBe(true)
  expect(await setup.vault.hasRoom(refOf('another'))).toBe(false)
  total--
  expect(await setup.vault.hasRoom(refOf('another'))).toBe(true)
})
