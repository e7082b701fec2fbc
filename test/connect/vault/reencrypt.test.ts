import { expect, test, vi } from 'vitest'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import { StoreUnavailableError } from '../../../src/connect/store/store.ts'
import {
  connectionKind,
  createConnectionRepository,
} from '../../../src/connect/vault/connection-repository.ts'
import { createRecordCipher } from '../../../src/connect/vault/encryption.ts'
import { reencrypt } from '../../../src/connect/vault/reencrypt.ts'
import { connectedSetup, GRANTED, newKey, REF, vaultSetup } from '../../support/vault.ts'

const KIND = connectionKind('platform')

test('a record that another process writes with the old key meanwhile is encrypted with the first key all the same', async () => {
  const [old, first] = [newKey('old'), newKey('first')]
  const store = openSqlite({ file: ':memory:' })
  const setup = await connectedSetup({ store, keys: [old] })
  const atOldKey = createConnectionRepository(store, createRecordCipher([old]), 'platform')
  const compareAndSet = store.compareAndSet.bind(store)
  const spy = vi.spyOn(store, 'compareAndSet').mockImplementationOnce(async (...args) => {
    const stored = await atOldKey.read(REF)
    if (stored) await atOldKey.write(stored.connection)
    return compareAndSet(...args)
  })
  expect(await reencrypt(store, createRecordCipher([first, old]), KIND)).toMatchObject({
    reencrypted: 1,
    current: 0,
  })
  expect(spy).toHaveBeenCalledTimes(2)
  expect(
    await createConnectionRepository(store, createRecordCipher([first]), 'platform').read(REF),
  ).not.toBeNull()
  await setup.close()
})

test('a run that was interrupted is completed by the next one, which reports progress', async () => {
  const [old, first] = [newKey('old'), newKey('first')]
  const store = openSqlite({ file: ':memory:' })
  const setup = await vaultSetup({ store, keys: [old] })
  for (let user = 0; user < 500; user++)
    await setup.vault.connect({ ...REF, userId: `user ${user}` }, GRANTED)
  const cipher = createRecordCipher([first, old])
  const interrupted = reencrypt(store, cipher, KIND, () => {
    throw new Error('interrupted')
  })
  await expect(interrupted).rejects.toThrow('interrupted')
  const seen: number[] = []
  const progress = ({ reencrypted }: { reencrypted: number }) => void seen.push(reencrypted)
  const result = await reencrypt(store, cipher, KIND, progress)
  expect(result).toEqual({ reencrypted: 300, current: 200, unreadable: 0, reasons: [] })
  expect(seen).toEqual([0, 200, 300])
  await setup.close()
})

test('a record that has the first key is not read a second time', async () => {
  const key = newKey()
  const setup = await connectedSetup({ keys: [key] })
  const get = vi.spyOn(setup.store, 'get')
  expect(await reencrypt(setup.store, createRecordCipher([key]), KIND)).toMatchObject({ current: 1 })
  expect(get).not.toHaveBeenCalled()
  await setup.close()
})

test('the reasons why records cannot be decrypted are listed once each, and twenty at most', async () => {
  const store = openSqlite({ file: ':memory:' })
  for (let user = 0; user < 30; user++) {
    const cipher = createRecordCipher([newKey(`lost-${Math.floor(user / 2)}`)])
    await store.set({ kind: KIND, owner: `user ${user}`, id: 'ctx' }, cipher.encrypt('x', 'anywhere'))
  }
  const first = createRecordCipher([newKey('first')])
  const half = await reencrypt(store, first, KIND)
  expect(half).toMatchObject({ reencrypted: 0, current: 0, unreadable: 30 })
  expect(half.reasons).toHaveLength(15)
  expect(half.reasons.sort()[0]).toContain('lost-0')
  for (let user = 30; user < 60; user++) {
    const cipher = createRecordCipher([newKey(`lost-${user}`)])
    await store.set({ kind: KIND, owner: `user ${user}`, id: 'ctx' }, cipher.encrypt('x', 'anywhere'))
  }
  expect((await reencrypt(store, first, KIND)).reasons).toHaveLength(20)
  await store.close()
})

test('a record that is removed meanwhile stays removed', async () => {
  const [old, first] = [newKey('old'), newKey('first')]
  const setup = await connectedSetup({ keys: [old] })
  const { store } = setup
  const { list } = store
  store.list = async (kind, owner) => {
    const entries = await list(kind, owner)
    for (const { key } of entries) await store.delete(key)
    return entries
  }
  const result = await reencrypt(store, createRecordCipher([first, old]), KIND)
  expect(result).toMatchObject({ reencrypted: 0, unreadable: 0 })
  expect(await store.get({ kind: KIND, owner: REF.userId, id: REF.bxcontext })).toBeNull()
  await setup.close()
})

test('a store that fails ends the run: its records do not count as unreadable', async () => {
  const [old, first] = [newKey('old'), newKey('first')]
  const setup = await connectedSetup({ keys: [old] })
  setup.store.compareAndSet = () => Promise.reject(new StoreUnavailableError('gone'))
  await expect(reencrypt(setup.store, createRecordCipher([first, old]), KIND)).rejects.toMatchObject({
    code: 'store_unavailable',
  })
  await setup.close()
})

test('a record that is encrypted again while a refresh begins is no newer one: the refresh is sent', async () => {
  const [old, first] = [newKey('old'), newKey('first')]
  const setup = await connectedSetup({ keys: [first, old] })
  const token = await setup.token()
  const { store } = setup
  const compareAndSet = store.compareAndSet.bind(store)
  const spy = vi.spyOn(store, 'compareAndSet').mockImplementation(async (...args) => {
    if (args[0].kind === 'platform-refresh-lock') {
      spy.mockRestore()
      await reencrypt(store, createRecordCipher([old, first]), KIND)
    }
    return compareAndSet(...args)
  })
  expect(await setup.vault.tokenSource(REF).refresh(token)).toMatch(/^access-[1-9]/)
  expect(setup.sent()).toEqual(['refresh-0'])
  await setup.close()
})
