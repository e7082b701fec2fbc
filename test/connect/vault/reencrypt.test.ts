import { expect, test, vi } from 'vitest'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import { CONNECTION, createConnectionRepository } from '../../../src/connect/vault/connection-repository.ts'
import { createRecordCipher } from '../../../src/connect/vault/encryption.ts'
import { reencrypt } from '../../../src/connect/vault/reencrypt.ts'
import { connectedSetup, GRANTED, newKey, REF, vaultSetup } from '../../support/vault.ts'

test('a record that another process writes with the old key meanwhile is encrypted with the first key all the same', async () => {
  const [old, first] = [newKey('old'), newKey('first')]
  const store = openSqlite({ file: ':memory:' })
  const setup = await connectedSetup({ store, keys: [old] })
  const atOldKey = createConnectionRepository(store, createRecordCipher([old]))
  const compareAndSet = store.compareAndSet.bind(store)
  const spy = vi.spyOn(store, 'compareAndSet').mockImplementationOnce(async (...args) => {
    const stored = await atOldKey.read(REF)
    if (stored) await atOldKey.write(stored.connection)
    return compareAndSet(...args)
  })
  expect(await reencrypt(store, createRecordCipher([first, old]), CONNECTION)).toMatchObject({
    reencrypted: 1,
    current: 0,
  })
  expect(spy).toHaveBeenCalledTimes(2)
  expect(await createConnectionRepository(store, createRecordCipher([first])).read(REF)).not.toBeNull()
  await setup.close()
})

test('a run that was interrupted continues where it was, and reports progress', async () => {
  const [old, first] = [newKey('old'), newKey('first')]
  const store = openSqlite({ file: ':memory:' })
  const setup = await vaultSetup({ store, keys: [old] })
  for (let user = 0; user < 1_200; user++)
    await setup.vault.connect({ ...REF, userId: `user ${user}` }, GRANTED)
  const cipher = createRecordCipher([first, old])
  const interrupted = reencrypt(store, cipher, CONNECTION, ({ reencrypted }) => {
    if (reencrypted >= 1_000) throw new Error('interrupted')
  })
  await expect(interrupted).rejects.toThrow('interrupted')
  const read = vi.spyOn(store, 'list')
  const seen: number[] = []
  const result = await reencrypt(store, cipher, CONNECTION, ({ reencrypted }) => void seen.push(reencrypted))
  // The page that was not confirmed is read again.
  expect(result).toEqual({ reencrypted: 700, current: 500, unreadable: 0, reasons: [] })
  expect(read).toHaveBeenCalledTimes(700)
  expect(seen).toEqual([500, 700])
  await setup.close()
})

test('a position that another key has left is not used', async () => {
  const [old, first, second] = [newKey('old'), newKey('first'), newKey('second')]
  const store = openSqlite({ file: ':memory:' })
  const setup = await vaultSetup({ store, keys: [old] })
  for (let user = 0; user < 600; user++)
    await setup.vault.connect({ ...REF, userId: `user ${user}` }, GRANTED)
  const stop = () => {
    throw new Error('interrupted')
  }
  let pages = 0
  const interrupted = reencrypt(store, createRecordCipher([first, old]), CONNECTION, () => {
    if (++pages === 2) stop()
  })
  await expect(interrupted).rejects.toThrow('interrupted')
  const result = await reencrypt(store, createRecordCipher([second, first, old]), CONNECTION)
  expect(result).toMatchObject({ reencrypted: 600, unreadable: 0 })
  await setup.close()
})
