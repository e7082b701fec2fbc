import { fileURLToPath } from 'node:url'
import { loadPriceList } from './csv-price-provider/load.ts'
import { openPriceList, priceListFolder } from './csv-price-provider/price-list.ts'

const SAMPLE = fileURLToPath(new URL('./sample', import.meta.url))

/** Loads the sample prices, unless prices are loaded already. */
export default async function prepareDemo(dataDir: string): Promise<void> {
  const folder = priceListFolder(dataDir)
  const live = openPriceList(folder)
  const isLoaded = live.loaded()
  live.close()
  if (!isLoaded) await loadPriceList(SAMPLE, folder)
}
