import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { checkFile } from '../../../src/features/price-files/check-file.ts'
import { tempDir } from '../../support/env.ts'
import { forkWorker } from '../../support/process.ts'
import { itemOf, startPlatform, writePriceFile } from './support.ts'

const ROWS = 1_000_000
const MB = 1_048_576

describe.skipIf(!process.env.LONG_TESTS)('an import of a million rows', () => {
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

test.skipIf(!process.env.LONG_TESTS)(
  'a file of 300,000 rows is compared with the last one within the limits of a check',
  async () => {
    const { dir, remove } = tempDir()
    const path = await writePriceFile(dir, 300_000)
    const results = { pricesPath: `${dir}/prices`, itemsPath: `${dir}/items` }
    await checkFile({ path, ...results })
    const { comparison } = await checkFile({ path, ...results, lastPricesPath: results.pricesPath })
    expect(comparison).toEqual({ added: 0, missing: 0, changed: 0, changedMuch: 0, largest: [] })
    remove()
  },
)
