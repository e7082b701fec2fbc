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

test('a run that was interrupted is completed by the next one, which reports progress', async () => {
  const [old, first] = [newKey('old'), newKey('first')]
  const store = openSqlite({ file: ':memory:' })
  const setup = await vaultSetup({ store, keys: [old] })
  for (let user = 0; user < 500; user++)
    await setup.vault.connect({ ...REF, userId: `user ${user}` }, GRANTED)
  const cipher = createRecordCipher([first, old])
  const interrupted = reencrypt(store, cipher, CONNECTION, () => {
    throw new Error('interrupted')
  })
  await expect(interrupted).rejects.toThrow('interrupted')
  const seen: number[] = []
  const progress = ({ reencrypted }: { reencrypted: number }) => void seen.push(reencrypted)
  const result = await reencrypt(store, cipher, CONNECTION, progress)
  expect(result).toEqual({ reencrypted: 300, current: 200, unreadable: 0, reasons: [] })
  expect(seen).toEqual([0, 200, 300])
  await setup.close()
})
