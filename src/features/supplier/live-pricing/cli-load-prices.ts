/** `npm run feature -- live-pricing load-prices`: replaces the live price list with the CSV files in a folder. */
import '../../../runtime/env-file.ts'
import { statSync } from 'node:fs'
import { createCommand } from '../../../runtime/command.ts'
import { print } from '../../../runtime/print.ts'
import { fail } from '../../../runtime/serve.ts'
import { givenOf } from '../../../settings/read.ts'
import { FILES } from './csv-price-provider/files.ts'
import { loadPriceList } from './csv-price-provider/load.ts'
import { priceListFolder } from './csv-price-provider/price-list.ts'

const command = createCommand(
  'npm run feature -- live-pricing load-prices',
  'Replaces the whole live price list with the CSV files in a folder.',
)
  .argument('<folder>', `folder with ${FILES.join(', ')}; only stores.csv and items.csv are required`)
  .parse()

try {
  const [folder = ''] = command.args
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`The folder ${folder} does not exist.`)
  const loaded = await loadPriceList(folder, priceListFolder(givenOf(process.env).DATA_DIR ?? '.data'))
  const counts = Array.from(loaded, ([file, rows]) => `${rows.toLocaleString('en-AU')} rows of ${file}`)
  print(`Loaded ${counts.join(', ')}. The price list is live.`)
} catch (error) {
  fail(error)
}
