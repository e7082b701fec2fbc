import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PRICE_LIST_FOLDERS } from './bases.ts'
import { loadPriceList } from './csv-price-provider/load.ts'
import { hasPriceList } from './csv-price-provider/price-lists.ts'

const SAMPLE = fileURLToPath(new URL('./sample', import.meta.url))

/** Loads the sample prices, unless there are some. */
export default async function prepareDemo(dataDir: string): Promise<void> {
  const folder = join(dataDir, PRICE_LIST_FOLDERS.production)
  if (!hasPriceList(folder)) await loadPriceList(SAMPLE, folder)
}
