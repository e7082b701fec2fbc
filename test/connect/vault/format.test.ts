import { afterEach, describe, expect, test } from 'vitest'
import { keyName } from '../../../src/connect/store/store.ts'
import { FORMAT, parseConnection } from '../../../src/connect/vault/connection.ts'
import { connectionKey } from '../../../src/connect/vault/connection-repository.ts'
import { createRecordCipher } from '../../../src/connect/vault/encryption.ts'
import { tokens } from '../../support/token-endpoint.ts'
import { GRANTED, newKey, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup | undefined
afterEach(() => setup?.close())

const key = connectionKey(REF)

/** A vault whose store holds this record, as another version of the app wrote it. */
async function setupWith(record: object): Promise<VaultSetup & { stored(): Promise<unknown> }> {
  const keys = [newKey()]
  const cipher = createRecordCipher(keys)
  const created = await vaultSetup({ keys })
  setup = created
  await created.store.set(key, cipher.encrypt(JSON.stringify(record), keyName(key)))
  const stored = async () => JSON.parse(cipher.decrypt((await created.store.get(key)) ?? '', keyName(key)))
  return { ...created, stored }
}

/** The fields of formats 1 and 2 that all connections have. */
const OLD = { userId: 'ann', context: 'ctx', grantId: 'g', scopes: ['leads'], refreshedAt: null }
const now = Date.now()
const OLD_ACTIVE = {
  ...OLD,
  status: 'active',
  connectedAt: now,
  accessToken: 'old',
  refreshToken: 'refresh-old',
  issuedAt: now,
  expiresAt: now + 300_000,
}
const OLD_REVOKED = {
  ...OLD,
  status: 'revoked',
  connectedAt: 1,
  revokedAt: 2,
  revokedReason: 'long ago',
}

describe.each([
  ['the first format', {}, now],
  ['format 2', { format: 2, requestedAt: now - 5_000 }, now - 5_000],
])('a connection of %s', (_name, added, requestedAt) => {
  test('is read, and is refreshed into the current format', async () => {
    const { vault, endpoint, later, stored } = await setupWith({ ...OLD_ACTIVE, ...added })
    expect(await vault.accessToken(REF)).toBe('old')
    expect(await vault.list('ann')).toMatchObject([{ bxcontext: 'ctx', status: 'active' }])
    later(301)
    endpoint.answers(tokens({ access_token: 'next' }))
    expect(await vault.accessToken(REF)).toBe('next')
    expect(endpoint.requests).toMatchObject([{ refresh_token: 'refresh-old', bxcontext: 'ctx' }])
    expect(await stored()).toMatchObject({ format: FORMAT, bxcontext: 'ctx', accessToken: 'next' })
    expect(await stored()).not.toHaveProperty('context')
  })

  test('has the same fields as one of the current format', () => {
    const { context, ...rest } = OLD_ACTIVE
    const current = { ...rest, bxcontext: context, format: FORMAT, requestedAt }
    expect(parseConnection(JSON.stringify({ ...OLD_ACTIVE, ...added }))).toEqual(current)
    expect(parseConnection(JSON.stringify(current))).toEqual(current)
  })

  test('that is revoked is read with its reason, and can be reconnected', async () => {
    const { vault } = await setupWith({ ...OLD_REVOKED, ...added })
    expect(await vault.find(REF)).toMatchObject({ bxcontext: 'ctx', revokedReason: 'long ago' })
    await vault.connect(REF, GRANTED)
    expect(await vault.accessToken(REF)).toBe('access-0')
  })
})

test('a connection is stored under the same key as in earlier versions, which its encryption is bound to', () => {
  expect(keyName(key)).toBe('connect:connection:{ann}:ctx')
})

test.each([
  ['an unknown format', { format: 99, everything: 'is different' }],
  ['the current format with the old names', { ...OLD_ACTIVE, format: FORMAT, requestedAt: 1 }],
  ['no known shape', [1, 2]],
])('a record of %s is listed as unreadable and logged', async (_name, record) => {
  const { vault, logLines } = await setupWith(record)
  await expect(vault.accessToken(REF)).rejects.toMatchObject({ code: 'record_decryption_failed' })
  expect(await vault.list('ann')).toMatchObject([{ bxcontext: 'ctx', status: 'unreadable' }])
  expect(logLines.join()).toContain('record_decryption_failed')
})
