import { expect, test } from 'vitest'
import { rejectedIn } from '../../../src/features/price-files/rejected-items.ts'

test.each([
  [{ errors: [{ code: 'A1', message: 'no' }, { code: 'A2' }] }, 2],
  [{ accepted: 998, rejectedItems: ['A1', 'A2'] }, 2],
  [{ result: { failedCount: 3 } }, 3],
  [{ data: { failed: 2, succeeded: 998 } }, 2],
  [{ errors: { A1: 'no price' } }, 1],
  [
    [
      { code: 'A1', success: true },
      { code: 'A2', success: false },
    ],
    1,
  ],
  [
    {
      items: [
        { code: 'A1', status: 'Rejected' },
        { code: 'A2', status: 'Accepted' },
      ],
    },
    1,
  ],
  [{ success: false, message: 'no' }, 1],
])('%j lists %d rejected items', (answer, count) => {
  expect(rejectedIn(answer).count).toBe(count)
})

test.each([
  undefined,
  '',
  {},
  { batchId: 'b', status: 'Receiving', itemsReceived: 1000 },
  { errors: [], rejected: 0, failedCount: 0 },
  { errors: null },
  { items: [{ code: 'E1', name: 'Error-proof latch', status: 'ok', error: null }] },
])('%j lists none', (answer) => {
  expect(rejectedIn(answer)).toMatchObject({ count: 0 })
})

test('the reasons are what the platform says, shortened', () => {
  const { reasons } = rejectedIn({ errors: [{ code: 'A1', message: 'x'.repeat(500) }, 'A2: no price'] })
  expect(reasons[0]).toMatch(/A1/)
  expect(reasons[0]?.length).toBe(200)
  expect(reasons[1]).toBe('A2: no price')
})
