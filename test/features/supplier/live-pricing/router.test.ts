import { expect, test, vi } from 'vitest'
import { line, type Supplier, testSupplier } from './support.ts'

/** The log lines of requests so far, without the one for the access token. */
const requestsOf = (supplier: Supplier) =>
  supplier.logLines.map((logged) => JSON.parse(logged)).filter(({ route }) => route && !/token$/.test(route))

test('every call has an id and a line in the log, with its route but not its query or its path', async () => {
  const supplier = await testSupplier()
  const answers = [
    await supplier.call('/stores/nearest?latitude=-37.8&longitude=145&radius=10'),
    await supplier.call('/stores/S9'),
    await supplier.call('/request-prices', { items: [line('A')] }),
    await supplier.call('/request-prices', '{'),
    await supplier.call('/request-prices'),
  ]
  for (const { headers } of answers) {
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
  await vi.waitFor(() => expect(requestsOf(supplier)).toHaveLength(5))
  const logged = requestsOf(supplier)
  expect(logged.map(({ method, route, status, code }) => [method, route, status, code])).toEqual([
    ['GET', '/live-pricing/stores/nearest', 200, undefined],
    ['GET', '/live-pricing/stores/:id', 404, 'not_found'],
    ['POST', '/live-pricing/request-prices', 200, undefined],
    ['POST', '/live-pricing/request-prices', 400, 'invalid_input'],
    ['GET', '/live-pricing/request-prices', 405, 'method_not_allowed'],
  ])
  const ids = answers.map(({ headers }) => headers.get('x-request-id'))
  expect(logged.map(({ requestId }) => requestId)).toEqual(ids)
  expect(logged.every(({ ms }) => typeof ms === 'number')).toBe(true)
})
