import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { forkWorker } from '../../support/process.ts'
import { itemOf, startPlatform, writePriceFile } from './support.ts'

const ROWS = 500_000
const MB = 1_048_576

describe.skipIf(!process.env.LONG_TESTS)('an import of as many rows as a file may have', () => {
  test('does not use more memory after row 100,000, and ends with exactly those items', async () => {
    const platform = await startPlatform({}, { apart: true })
    const FILE = await writePriceFile(platform.dir, ROWS)
    const env = { PLATFORM_API_URL: platform.apiUrl, FILE }
    const worker = forkWorker('../features/price-files/import-worker.ts', env)
    const [result] = (await once(worker, 'message')) as [
      { catalogueId: string; sent: number; early: number; late: number },
    ]
    expect(result.sent).toBe(ROWS)
    expect((result.late - result.early) / MB).toBeLessThan(30)

    const items = await platform.items(result.catalogueId)
    expect(items.size).toBe(ROWS)
    let wrong = 0
    for (let row = 0; row < ROWS; row++) {
      const expected = itemOf(row)
      const found = items.get(expected.code)
      if (JSON.stringify(found, Object.keys(expected)) !== JSON.stringify(expected)) wrong++
    }
    expect(wrong).toBe(0)
    await platform.close()
  })
})
