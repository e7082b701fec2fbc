import { expect, test, vi } from 'vitest'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import { GRANTED, REF, vaultSetup } from '../../support/vault.ts'

test('a connection that ends with its access token is logged with a warning that says when, and no other one', async () => {
  const setup = await vaultSetup()
  await setup.vault.connect(REF, GRANTED)
  expect(setup.logLines.join()).not.toContain('ends with its access token')
  await setup.vault.connect(REF, { ...GRANTED, refreshToken: undefined })
  const warnings = setup.logLines.filter((line) => line.includes('ends with its access token'))
  expect(warnings).toEqual([expect.stringMatching(/"endsAt":"\d{4}-/)])
  await setup.close()
})

test('an expired grant that a new consent replaces while it is being ended releases the refresh lock', async () => {
  let time = Date.now()
  const now = () => time
  const store = openSqlite({ file: ':memory:', now })
  const setup = await vaultSetup({ store, now })
  const { refreshToken: _, ...withoutRefresh } = GRANTED
  await setup.vault.connect(REF, { ...withoutRefresh, refreshToken: undefined })
  time += 301_000
  // The new consent arrives right before the old grant is marked as revoked.
  const compareAndSet = store.compareAndSet.bind(store)
  const spy = vi.spyOn(store, 'compareAndSet').mockImplementation(async (key, ...rest) => {
    if (key.kind !== 'platform-connection') return compareAndSet(key, ...rest)
    spy.mockRestore()
    await setup.anotherVault().connect(REF, { ...GRANTED, accessToken: 'newer' })
    return compareAndSet(key, ...rest)
  })
  expect(await setup.token()).toBe('newer')
  expect(await store.get({ kind: 'platform-refresh-lock', owner: REF.userId, id: REF.bxcontext })).toBeNull()
  await setup.close()
})
