import { expect, test } from 'vitest'
import { listTenants } from '../../../src/features/first-party/first-party.ts'
import { CREDENTIALS } from '../first-party/support.ts'
import { openSupplier, startPlatform } from './support.ts'

test('an API key acts for one of its tenants: the catalogue belongs only to that tenant', async () => {
  const platform = await startPlatform()
  const own = openSupplier(platform.apiUrl)
  const [, second] = await listTenants(own.api, own.source)
  const coast = openSupplier(platform.apiUrl, {
    credentials: { ...CREDENTIALS, tenantId: second?.tenantId },
  })
  const { id } = await coast.catalogues.create(coast.source, { name: 'Coast only', scope: 'Managed' })
  expect((await coast.catalogues.get(coast.source, id)).name).toBe('Coast only')
  const { items } = await own.catalogues.list(own.source, { top: 100 })
  expect(items.some(({ name }) => name === 'Coast only')).toBe(false)
  await Promise.all([own.close(), coast.close()])
  await platform.close()
})
