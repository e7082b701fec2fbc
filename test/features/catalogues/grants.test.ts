import { expect, test } from 'vitest'
import { createGrants } from '../../../src/features/catalogues/grants.ts'
import { createFaultyStore } from '../../support/faulty-store.ts'

const GRANT = {
  catalogueId: '1',
  catalogueName: 'Fresh',
  externalRef: 'CUST1',
  isPreApproved: true,
  by: 'sam',
  at: '2026-11-24T00:00:00.000Z',
}
const REF = { userId: 'sam', bxcontext: 'summit-supplies' }

test('grants of a business whose bxcontext begins with that of another one and a space are its own', async () => {
  const { store } = createFaultyStore()
  const grants = createGrants(store)
  await grants.note({ userId: 'sam', bxcontext: 'acme west' }, '1 CUST1', GRANT)
  expect(await grants.list({ userId: 'sam', bxcontext: 'acme' })).toEqual([])
  expect(await grants.list({ userId: 'sam', bxcontext: 'acme west' })).toEqual([GRANT])
  await store.close()
})

test('a grant, of which the platform has no list, is noted although the store fails once', async () => {
  const { store, failFirst } = createFaultyStore()
  failFirst('set', 'catalogue-grant')
  const grants = createGrants(store)
  await grants.note(REF, '1 CUST1', GRANT)
  expect(await grants.list(REF)).toHaveLength(1)
  await store.close()
})
