/** `npm run feature -- live-pricing load-prices`: replaces the live price list by that of the CSV files in a folder. */
import '../../runtime/env-file.ts'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Option } from 'commander'
import { createCommand } from '../../runtime/command.ts'
import { print } from '../../runtime/print.ts'
import { fail } from '../../runtime/serve.ts'
import { DECIMALS, type Decimal } from '../../tables/prices.ts'
import { FILES } from './csv-price-provider/files.ts'
import { loadPriceList } from './csv-price-provider/load.ts'
import { PRICE_LIST_FOLDERS } from './csv-price-provider/price-list.ts'
import { describeProblem } from './csv-price-provider/problems.ts'

const names = Object.values(FILES).map(({ file }) => file)
const command = createCommand(
  'npm run feature -- live-pricing load-prices',
  'Replaces the live price list by that of CSV or XLSX files, as a whole.',
)
  .argument('<folder>', `folder with ${names.join(', ')}; only stores.csv and items.csv are required`)
  .option('--staging', 'load target staging instead of production', false)
  .option('--skip-problems', 'leave out rows with problems and list them, instead of loading nothing', false)
  .addOption(
    new Option('--decimal <sign>', 'decimal sign of the prices; the point by default').choices(DECIMALS),
  )
  .parse()

try {
  const [folder = ''] = command.args
  const { staging, skipProblems, decimal } = command.opts<{
    staging: boolean
    skipProblems: boolean
    decimal?: Decimal
  }>()
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`The folder ${folder} does not exist.`)
  const target = join(process.env.DATA_DIR || '.data', PRICE_LIST_FOLDERS[staging ? 'staging' : 'production'])
  const { counts, leftOut } = await loadPriceList(folder, target, { skipProblems, decimal })
  const summary = Object.entries(counts).map(([name, count]) => `${count.toLocaleString('en-AU')} ${name}`)
  print(`Loaded ${summary.join(', ')}${staging ? ' for staging' : ''}. The price list is live.`)
  for (const problem of leftOut) print(`Left out: ${describeProblem(problem)}`)
} catch (error) {
  fail(error)
}
