/** `npm run load-prices`: makes the CSV files of a folder the price list that live pricing answers from. */
import '../../runtime/env-file.ts'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fail } from '../../runtime/serve.ts'
import { PRICE_LISTS } from '../../services.ts'
import { FILES } from './csv-price-provider/files.ts'
import { loadPriceList } from './csv-price-provider/load.ts'

const USAGE = `Usage: npm run load-prices -- FOLDER [--staging]
  FOLDER      CSV files with headings: ${Object.values(FILES)
    .map(({ file }) => file)
    .join(', ')}; all but stores.csv and items.csv may be missing
  --staging   for the staging base instead of production`

try {
  const { folder, staging } = readArguments()
  const into = join(process.env.DATA_DIR || '.data', PRICE_LISTS[staging ? 'staging' : 'production'])
  const { counts, notes } = await loadPriceList(folder, into)
  const parts = Object.entries(counts).map(([what, count]) => `${count.toLocaleString('en-AU')} ${what}`)
  console.log(`Loaded ${parts.join(', ')}${staging ? ' for staging' : ''}. They are live now.`)
  for (const note of notes) console.log(`Note: ${note}`)
} catch (error) {
  fail(error)
}

function readArguments() {
  try {
    const flag = { type: 'boolean', default: false } as const
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { staging: flag, help: flag },
    })
    if (values.help) {
      console.log(USAGE)
      process.exit(0)
    }
    const [folder, ...more] = positionals
    if (!folder || more.length > 0) throw new Error('Name one folder.')
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`There is no folder ${folder}.`)
    return { folder, staging: values.staging }
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${USAGE}`)
  }
}
