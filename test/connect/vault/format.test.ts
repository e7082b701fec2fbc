import { readFileSync } from 'node:fs'
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

test('records of 1.0.0 are read: an active connection refreshes, and a revoked one is revoked', async () => {
  const records: Record<string, string> = JSON.parse(
    readFileSync(new URL('records-1.0.0.json', import.meta.url), 'utf8'),
  )
  const keys = [{ id: 'k1', secret: Buffer.from('The key of the records of 1.0.0.') }]
  setup = await vaultSetup({ keys })
  for (const [bxcontext, record] of Object.entries(records))
    await setup.store.set(connectionKey('platform', { ...REF, bxcontext }), record)
  expect(await setup.token()).toMatch(/^access-/)
  expect(setup.sent()).toEqual(['refresh-0'])
  const revoked = setup.vault.accessToken({ ...REF, bxcontext: 'revoked' })
  await expect(revoked).rejects.toMatchObject({ code: 'connection_revoked' })
})
