/** `npm run feature -- live-pricing load-prices`: replaces the live price list by the CSV files in a folder. */
import '../../../runtime/env-file.ts'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createCommand } from '../../../runtime/command.ts'
import { print } from '../../../runtime/print.ts'
import { fail } from '../../../runtime/serve.ts'
import { givenOf } from '../../../settings/read.ts'
import { FILES } from './csv-price-provider/files.ts'
import { loadPriceList } from './csv-price-provider/load.ts'
import { PRICE_LIST_FOLDERS } from './csv-price-provider/price-list.ts'

const command = createCommand(
  'npm run feature -- live-pricing load-prices',
  'Replaces the whole live price list by the CSV files in a folder.',
)
  .argument('<folder>', `folder with ${FILES.join(', ')}; only stores.csv and items.csv are required`)
  .option('--staging', 'load the prices of the staging address', false)
  .parse()

try {
  const [folder = ''] = command.args
  const { staging } = command.opts<{ staging: boolean }>()
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`The folder ${folder} does not exist.`)
  const name = PRICE_LIST_FOLDERS[staging ? 'staging' : 'production']
  const loaded = await loadPriceList(folder, join(givenOf(process.env).DATA_DIR ?? '.data', name))
  const counts = Array.from(loaded, ([file, rows]) => `${rows.toLocaleString('en-AU')} rows of ${file}`)
  print(`Loaded ${counts.join(', ')}${staging ? ' for staging' : ''}. The price list is live.`)
} catch (error) {
  fail(error)
}
