import { afterEach, expect, test } from 'vitest'
import { keyName } from '../../../src/connect/store/store.ts'
import { createRecordCipher } from '../../../src/connect/vault/encryption.ts'
import { connectionKey } from '../../../src/connect/vault/records.ts'
import { newKey, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup.close())

/** Stores a record as another version of the app wrote it. */
async function stored(record: object): Promise<void> {
  const keys = [newKey()]
  setup = await vaultSetup({ keys })
  const key = connectionKey('ann', 'ctx')
  await setup.store.set(key, createRecordCipher(keys).encrypt(JSON.stringify(record), keyName(key)))
}

const COMMON = { userId: 'ann', context: 'ctx', grantId: 'g', scopes: ['leads'], refreshedAt: null }

test('a connection of the first format is read and refreshed', async () => {
  const now = Date.now()
  await stored({
    ...{ ...COMMON, status: 'active', connectedAt: now, accessToken: 'old', refreshToken: 'refresh-old' },
    ...{ issuedAt: now, expiresAt: now + 300_000 },
  })
  expect(await setup.vault.accessToken('ann', 'ctx')).toBe('old')
  setup.later(301)
  await setup.vault.accessToken('ann', 'ctx')
  expect(setup.endpoint.requests).toMatchObject([{ refresh_token: 'refresh-old' }])
})

test('a revoked connection of the first format is read', async () => {
  await stored({ ...COMMON, status: 'revoked', connectedAt: 1, revokedAt: 2, revokedBecause: 'long ago' })
  expect(await setup.vault.find('ann', 'ctx')).toMatchObject({ revokedBecause: 'long ago' })
})

test('a connection of an unknown format is told as unreadable, and logged', async () => {
  await stored({ format: 99, everything: 'is different' })
  await expect(setup.vault.accessToken('ann', 'ctx')).rejects.toMatchObject({ code: 'record_unreadable' })
  expect(await setup.vault.list('ann')).toMatchObject([{ context: 'ctx', status: 'unreadable' }])
  expect(setup.logLines.join()).toContain('record_unreadable')
})
