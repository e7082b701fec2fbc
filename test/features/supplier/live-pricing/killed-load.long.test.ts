import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { loadPriceList } from '../../../../src/features/supplier/live-pricing/csv-price-provider/load.ts'
import {
  openPriceList,
  priceListFolder,
} from '../../../../src/features/supplier/live-pricing/csv-price-provider/price-list.ts'
import { tempDir } from '../../../support/env.ts'
import { command, run } from '../../../support/process.ts'
import { SAMPLE, SMALL, writeFiles } from './support.ts'

const LOAD = 'src/features/supplier/live-pricing/cli-load-prices.ts'

test('npm run feature -- live-pricing load-prices killed at eight moments of a load leaves the prices unchanged, and the next load works', async () => {
  const { dir, remove } = tempDir()
  const [csv, lists] = [writeFiles(join(dir, 'csv'), SMALL), priceListFolder(dir)]
  await loadPriceList(csv, lists)
  const list = openPriceList(lists)
  const line = { itemId: 'A', storeId: 'S1', quantity: 1 }
  const priced = async () => {
    const [price] = await list.prices([line], null, new AbortController().signal)
    return price && ('error' in price ? price.error : Number(price.unitPrice))
  }
  for (let kill = 0; kill < 8; kill++) {
    const load = run(LOAD, { DATA_DIR: dir }, { args: [SAMPLE] })
    // A whole load takes about a second, most of it the start of the program.
    await sleep(50 + kill * 70)
    await load.kill()
    // The old list, or, if it was killed too late, the sample, which has no such item: never anything in between.
    expect([12.5, 'item_unknown']).toContain(await priced())
  }
  expect((await command(LOAD, { DATA_DIR: dir }, { args: [csv] })).code).toBe(0)
  expect(await priced()).toBe(12.5)
  list.close()
  remove()
})
