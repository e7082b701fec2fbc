import { expect, test, vi } from 'vitest'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import { CONNECTION, createConnectionRepository } from '../../../src/connect/vault/connection-repository.ts'
import { createRecordCipher } from '../../../src/connect/vault/encryption.ts'
import { reencrypt } from '../../../src/connect/vault/reencrypt.ts'
import { connectedSetup, newKey, REF } from '../../support/vault.ts'

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
