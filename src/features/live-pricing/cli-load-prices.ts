/** `npm run feature -- live-pricing load-prices`: replaces the live price list by that of the CSV files in a folder. */
import '../../runtime/env-file.ts'
import { statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Option } from 'commander'
import { createCommand } from '../../runtime/command.ts'
import { print, printError } from '../../runtime/print.ts'
import { fail } from '../../runtime/serve.ts'
import { givenOf } from '../../settings/read.ts'
import { DECIMALS, type Decimal } from '../../tables/prices.ts'
import { itemsOfBatches } from '../price-files/batches.ts'
import { UnconfirmedError, withConfirmed } from '../price-files/confirmed.cli.ts'
import { type ConfirmedItems, FILES, findFile } from './csv-price-provider/files.ts'
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
  .option('--layout <file>', 'how the file with the items is read, as a person has confirmed it')
  .option('--save-layout <file>', 'ask how the file with the items is read, and write that to this file')
  .parse()

interface Options {
  staging: boolean
  skipProblems: boolean
  decimal?: Decimal
  layout?: string
  saveLayout?: string
}

async function main(): Promise<void> {
  const [folder = ''] = command.args
  const options = command.opts<Options>()
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`The folder ${folder} does not exist.`)
  const { layout, saveLayout } = options
  const path = findFile(folder, FILES.items.file)
  if (path === undefined || (layout === undefined && saveLayout === undefined)) return load(folder, options)
  const how = `npm run feature -- live-pricing load-prices ${folder} --save-layout layout.json`
  await withConfirmed(path, { layout, saveLayout, how }, ({ check, itemsPath }) =>
    load(folder, options, {
      file: basename(path),
      items: itemsOfBatches(itemsPath),
      problems: check.problems,
      invalidRows: check.invalidRows,
    }),
  )
}

async function load(
  folder: string,
  { staging, skipProblems, decimal }: Options,
  items?: ConfirmedItems,
): Promise<void> {
  const target = join(
    givenOf(process.env).DATA_DIR ?? '.data',
    PRICE_LIST_FOLDERS[staging ? 'staging' : 'production'],
  )
  const { counts, leftOut } = await loadPriceList(folder, target, { skipProblems, decimal, items })
  const summary = Object.entries(counts).map(([name, count]) => `${count.toLocaleString('en-AU')} ${name}`)
  print(`Loaded ${summary.join(', ')}${staging ? ' for staging' : ''}. The price list is live.`)
  for (const problem of leftOut) print(`Left out: ${describeProblem(problem)}`)
}

try {
  await main()
} catch (error) {
  if (!(error instanceof UnconfirmedError)) fail(error)
  printError(...error.message.split('\n'))
  process.exitCode = 2
}
