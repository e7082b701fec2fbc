import { fileURLToPath } from 'node:url'
import { loadPriceList } from './csv-price-provider/load.ts'
import { priceListFolder } from './csv-price-provider/price-list.ts'

const SAMPLE = fileURLToPath(new URL('./sample', import.meta.url))

/** Loads the sample prices, which belong to the sandbox's sample catalogues. */
export const loadSample = (dataDir: string) => loadPriceList(SAMPLE, priceListFolder(dataDir))
