import { describe, expect, test } from 'vitest'
import { PlatformUnavailableError } from '../../../../../src/connect/errors.ts'
import { itemsOfRows, supplierOfEachTest } from '../support.ts'

// Shorter than in production, for the fault that stalls.
const { platform, items, send } = supplierOfEachTest({ uploadMs: 600 })

describe('a platform that fails in the middle', () => {
  test.each(['500', '429', 'garbage', 'drop', 'stall', 'expired'])(
    'with %s is asked again, and no item is missing',
    async (fault) => {
      // A second 401 in a row would be final.
      const times = fault === 'expired' ? 1 : 3
      const fail = () => platform().fault('items', fault, times, 1)
      await send(4_000, { save: async ({ batches }) => (batches === 1 ? fail() : undefined) })
      expect((await platform().statusesOf('items')).length).toBeGreaterThanOrEqual(4 + times)
      expect(await items()).toEqual(itemsOfRows(4_000))
    },
  )

  test('without end is reported when retrying has timed out', async () => {
    await platform().fault('items', '500')
    await expect(send(3_000, { retryTimeoutMs: 300 })).rejects.toBeInstanceOf(PlatformUnavailableError)
  })
})
