/** `npm run load-prices`: turns the CSV files of a folder into the price list that live pricing answers from. */
import '../../runtime/env-file.ts'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createCommand } from '../../runtime/command.ts'
import { fail } from '../../runtime/serve.ts'
import { PRICE_LISTS } from './bases.ts'
import { FILES } from './csv-price-provider/files.ts'
import { loadPriceList } from './csv-price-provider/load.ts'

const names = Object.values(FILES).map(({ file }) => file)
const command = createCommand(
  'load-prices',
  'Builds a new price list from CSV files and swaps it in atomically.',
)
  .argument('<folder>', `folder with ${names.join(', ')}; all but stores.csv and items.csv are optional`)
  .option('--staging', 'for the staging base instead of production', false)
  .parse()

try {
  const [folder = ''] = command.args
  const { staging } = command.opts<{ staging: boolean }>()
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`The folder ${folder} does not exist.`)
  const into = join(process.env.DATA_DIR || '.data', PRICE_LISTS[staging ? 'staging' : 'production'])
  const { counts, notes } = await loadPriceList(folder, into)
  const parts = Object.entries(counts).map(([what, count]) => `${count.toLocaleString('en-AU')} ${what}`)
  console.log(`Loaded ${parts.join(', ')}${staging ? ' for staging' : ''}. They are live now.`)
  for (const note of notes) console.log(`Note: ${note}`)
} catch (error) {
  fail(error)
}
