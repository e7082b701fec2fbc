/** `npm run load-prices`: builds the live price list from the CSV files in a folder. */
import '../../runtime/env-file.ts'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createCommand } from '../../runtime/command.ts'
import { fail } from '../../runtime/serve.ts'
import { PRICE_LIST_FOLDERS } from './bases.ts'
import { FILES } from './csv-price-provider/files.ts'
import { loadPriceList } from './csv-price-provider/load.ts'

const names = Object.values(FILES).map(({ file }) => file)
const command = createCommand(
  'load-prices',
  'Builds a new price list from CSV files and swaps it in atomically.',
)
  .argument('<folder>', `folder with ${names.join(', ')}; only stores.csv and items.csv are required`)
  .option('--staging', 'load target staging instead of production', false)
  .parse()

try {
  const [folder = ''] = command.args
  const { staging } = command.opts<{ staging: boolean }>()
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`The folder ${folder} does not exist.`)
  const target = join(process.env.DATA_DIR || '.data', PRICE_LIST_FOLDERS[staging ? 'staging' : 'production'])
  const { counts, notes } = await loadPriceList(folder, target)
  const summary = Object.entries(counts).map(([name, count]) => `${count.toLocaleString('en-AU')} ${name}`)
  console.log(`Loaded ${summary.join(', ')}${staging ? ' for staging' : ''}. The price list is live.`)
  for (const note of notes) console.log(`Note: ${note}`)
} catch (error) {
  fail(error)
}
