import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { loadPriceList } from './csv-price-provider/load.ts'
import { priceListFile, priceListFolder } from './csv-price-provider/price-list.ts'

const SAMPLE = fileURLToPath(new URL('./sample', import.meta.url))

/** Loads the sample prices, which belong to the sandbox's sample catalogues, unless there is a price list. */
export async function loadSample(dataDir: string): Promise<void> {
  const folder = priceListFolder(dataDir)
  if (existsSync(priceListFile(folder))) return
  await loadPriceList(SAMPLE, folder)
}
