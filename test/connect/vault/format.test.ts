import { afterEach, expect, test } from 'vitest'
import { keyName } from '../../../src/connect/store/store.ts'
import { FORMAT } from '../../../src/connect/vault/connection.ts'
import { connectionKey } from '../../../src/connect/vault/connection-repository.ts'
import { createRecordCipher } from '../../../src/connect/vault/encryption.ts'
import { newKey, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup | undefined
afterEach(() => setup?.close())

const key = connectionKey('platform', REF)

/** A vault whose store holds this record, as some other program wrote it. */
async function setupWith(record: object): Promise<VaultSetup> {
  const keys = [newKey()]
  const cipher = createRecordCipher(keys)
  const created = await vaultSetup({ keys })
  setup = created
  await created.store.set(key, cipher.encrypt(JSON.stringify(record), keyName(key)))
  return created
}

test('the key of a connection has the name of its platform', () => {
  expect(keyName(key)).toBe('connect:platform-connection:{ann}:ctx')
})

test.each([
  ['an unknown format', { format: 99, everything: 'is different' }],
  [
    'the current format without its tokens',
    { format: FORMAT, userId: 'ann', bxcontext: 'ctx', status: 'active' },
  ],
  ['no known shape', [1, 2]],
])('a record of %s is listed as unreadable and logged', async (_name, record) => {
  const { vault, logLines } = await setupWith(record)
  await expect(vault.accessToken(REF)).rejects.toMatchObject({ code: 'record_decryption_failed' })
  expect(await vault.list('ann')).toMatchObject([{ bxcontext: 'ctx', status: 'unreadable' }])
  expect(logLines.join()).toContain('record_decryption_failed')
})
