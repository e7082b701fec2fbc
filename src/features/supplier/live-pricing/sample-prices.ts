import { fileURLToPath } from 'node:url'
import { loadPriceList } from './csv-price-provider/load.ts'
import { openPriceList, priceListFolder } from './csv-price-provider/price-list.ts'

const SAMPLE = fileURLToPath(new URL('./sample', import.meta.url))

/** Loads the sample prices for the sandbox's builders, unless prices are loaded already. */
export async function loadSamples(dataDir: string): Promise<void> {
  const folder = priceListFolder(dataDir)
  const live = openPriceList(folder)
  const isLoaded = live.loaded()
  live.close()
  if (!isLoaded) await loadPriceList(SAMPLE, folder)
}
