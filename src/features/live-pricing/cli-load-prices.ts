/** `npm run load-prices`: builds the live price list from the CSV files in a folder. */
import '../../runtime/env-file.ts'
import { existsSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Option } from 'commander'
import { stringify } from 'csv-stringify/sync'
import { createCommand } from '../../runtime/command.ts'
import { print } from '../../runtime/print.ts'
import { fail } from '../../runtime/serve.ts'
import { DECIMALS, type Decimal } from '../../tables/prices.ts'
import { PRICE_LIST_FOLDERS } from './bases.ts'
import { FILES } from './csv-price-provider/files.ts'
import { loadPriceList } from './csv-price-provider/load.ts'
import type { RowProblem } from './csv-price-provider/table.ts'

const names = Object.values(FILES).map(({ file }) => file)
const command = createCommand(
  'load-prices',
  'Builds a new price list from CSV or XLSX files and swaps it in atomically.',
)
  .argument('<folder>', `folder with ${names.join(', ')}; only stores.csv and items.csv are required`)
  .option('--staging', 'load target staging instead of production', false)
  .option('--skip-problems', 'leave out rows with problems, instead of loading nothing', false)
  .option('--report <file>', 'write the rows that were left out to this CSV file')
  .addOption(
    new Option('--decimal <sign>', 'decimal sign of the prices; the point by default').choices(DECIMALS),
  )
  .parse()

try {
  const [folder = ''] = command.args
  const { staging, skipProblems, report, decimal } = command.opts<{
    staging: boolean
    skipProblems: boolean
    report?: string
    decimal?: Decimal
  }>()
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`The folder ${folder} does not exist.`)
  if (report !== undefined) writeReport(prepareReport(report, folder), [])
  const target = join(process.env.DATA_DIR || '.data', PRICE_LIST_FOLDERS[staging ? 'staging' : 'production'])
  const { counts, notes, skipped } = await loadPriceList(folder, target, { skipProblems, decimal })
  const summary = Object.entries(counts).map(([name, count]) => `${count.toLocaleString('en-AU')} ${name}`)
  print(`Loaded ${summary.join(', ')}${staging ? ' for staging' : ''}. The price list is live.`)
  for (const note of notes) print(`Note: ${note}`)
  for (const { file, line, reason } of skipped.slice(0, 20))
    print(`Left out: ${file}, line ${line}: ${reason}`)
  if (skipped.length > 20) print(`... and ${skipped.length - 20} more.`)
  if (report !== undefined) writeReport(report, skipped)
} catch (error) {
  fail(error)
}

/** Returns the path of the report. Throws an error if it is in the folder of the price list, whose files it could replace. */
function prepareReport(report: string, folder: string): string {
  const path = resolve(report)
  if (realpathSync(existsSync(path) ? path : dirname(path)).startsWith(realpathSync(folder)))
    throw new Error('--report must not be in the folder of the price list.')
  return path
}

/** Writes the rows that were left out. A cell that begins like a formula gets an apostrophe. */
function writeReport(path: string, rows: readonly RowProblem[]): void {
  const lines = rows.map(({ file, line, reason }) => [file, line, reason])
  const options = { bom: true, escape_formulas: true }
  try {
    writeFileSync(path, stringify([['File', 'Line', 'Reason'], ...lines], options))
  } catch (error) {
    throw new Error(`--report ${path}: cannot be written (${(error as NodeJS.ErrnoException).code}).`)
  }
}
