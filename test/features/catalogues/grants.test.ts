import { expect, test } from 'vitest'
import { createGrants } from '../../../src/features/catalogues/grants.ts'
import { createFaultyStore } from '../../support/faulty-store.ts'

const REF = { userId: 'sam', bxcontext: 'summit-supplies' }

test('a grant, of which the platform has no list, is noted although the store fails once', async () => {
  const { store, failFirst } = createFaultyStore()
  failFirst('set', 'catalogue-grant')
  const grants = createGrants(store)
  const grant = {
    catalogueId: '1',
    catalogueName: 'Fresh',
    externalRef: 'CUST1',
    isPreApproved: true,
    grantedBy: 'sam',
    grantedAt: '2026-11-24T00:00:00.000Z',
  }
  await grants.note(REF, '1 CUST1', grant)
  expect(await grants.list(REF)).toHaveLength(1)
  await store.close()
})
