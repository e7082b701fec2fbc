import { createHash } from 'node:crypto'
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { printError } from '../../runtime/print.ts'
import { DECIMALS, type Decimal } from '../../tables/prices.ts'
import { checkFile } from './check-file.ts'
import { type Check, MAX_PROBLEMS } from './check-rows.ts'
import type { Reporter } from './cli-reporter.ts'
import { type Columns, FIELDS, type Field } from './columns.ts'
import { type Comparison, comparePrices } from './comparison.ts'
import { lastPricesPath } from './last-prices.ts'
import { openPriceFile } from './layout.ts'
import type { Choices } from './questions.ts'

/** Options on how to read the file, and what to do about problems. */
export interface FileOptions {
  map: string[]
  headingsRow?: number
  /** False for `--no-headings`. */
  headings: boolean
  sheet?: string
  decimal?: Decimal
  gst?: number
  strict: boolean
  report?: string
}

const wholeNumber = (value: string) => {
  if (!/^\d{1,7}$/.test(value))
    throw new InvalidArgumentError('It must be the number of a row, or 0 for none.')
  return Number(value)
}
const percentage = (value: string) => {
  const number = Number(value)
  if (!(number >= 0 && number < 100)) throw new InvalidArgumentError('It must be a percentage, such as 10.')
  return number
}

export const CHOICE_OPTIONS = [
  new Option('--map <field=column>', `column for a field (${FIELDS.join(', ')}), by heading or number`)
    .argParser((value: string, before: string[]) => [...before, value])
    .default([]),
  new Option('--headings-row <number>', 'row of the headings').argParser(wholeNumber),
  new Option('--no-headings', 'the file has no headings; choose columns by number with --map'),
  new Option('--sheet <sheet>', 'sheet of a workbook, by name or number; the first one by default'),
  new Option('--decimal <sign>', 'decimal sign of the prices').choices(DECIMALS),
  new Option(
    '--gst <percent>',
    'GST that the prices include, which is removed; 0 sends them as they are',
  ).argParser(percentage),
  new Option('--strict', 'send nothing if any row has a problem').default(false),
  new Option('--report <file>', 'write every problem row to this CSV file'),
]

/** A checked file. */
export interface Prepared {
  /** SHA-256 (hex) of the file and how it is read. */
  digest: string
  check: Check
  /** The items, for `readBatches`. */
  itemsPath: string
  /** Compares the items with those of the last completed file of a target; null if there is none. */
  compare(target: string): Promise<Comparison | null>
  /** Remembers the prices of this file as those of the last one of a target. */
  remember(target: string): void
  /** Deletes the items. */
  remove(): void
}

/**
 * Checks the whole file and says what will be sent. Throws an error, before anything is sent, if the file cannot be read,
 * has questions or has no valid row.
 */
export async function checkBeforeSending(
  file: string,
  options: FileOptions,
  { reporter, signal }: { reporter: Reporter; signal: AbortSignal },
): Promise<Prepared> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new Error(`The file ${file} does not exist.`)
  if (options.report !== undefined) truncateReport(options.report, file)
  const folder = join(process.env.DATA_DIR || '.data', 'imports')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  removeLeftOvers(folder)
  const work = mkdtempSync(join(folder, WORK))
  const remove = () => rmSync(work, { recursive: true, force: true })
  const [itemsPath, pricesPath] = [join(work, 'items.ndjson'), join(work, 'prices')]
  const lastPrices = (target: string) => lastPricesPath(folder, target)
  try {
    const choices = await choicesOf(file, options)
    const task = { path: file, choices, itemsPath, pricesPath, reportPath: options.report }
    const { check, problems } = await checkFile(task, { signal })
    for (const { line, reason } of problems.slice(0, 20)) printError(`Line ${line}: ${reason}`)
    if (check.mappingErrors.length > 0) throw questions(check)
    summarize(check, options, reporter)
    const digest = await digestOf(file, { ...choices, columns: check.columns })
    return {
      digest,
      check,
      itemsPath,
      compare: async (target) =>
        existsSync(lastPrices(target))
          ? comparePrices(lastPrices(target), { pricesPath, itemsPath }).catch(() => null)
          : null,
      remember: (target) => renameSync(pricesPath, lastPrices(target)),
      remove,
    }
  } catch (error) {
    remove()
    throw error
  }
}

/** First part of the names of folders with the items of a command. */
const WORK = 'push-'

/** Removes the folders of commands that were killed more than a day ago. */
function removeLeftOvers(folder: string): void {
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith(WORK))) {
    const { mtimeMs } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
    if (Date.now() - mtimeMs > 86_400_000) rmSync(join(folder, name), { recursive: true, force: true })
  }
}

/** Says what was found. Throws if nothing can be sent. */
function summarize(check: Check, options: FileOptions, reporter: Reporter): void {
  if (check.invalidRows > 20) {
    const hint = options.report ? '' : `; --report FILE writes the first ${formatCount(MAX_PROBLEMS)}`
    printError(`... and ${formatCount(check.invalidRows - 20)} more${hint}.`)
  }
  const columns = Object.entries(check.columns).map(
    ([field, index]) => `${field} from "${check.headings[index]}"`,
  )
  reporter.step(
    `Checked ${formatCount(check.rows)} rows${check.sheet === null ? '' : ` of the sheet "${check.sheet}"`}: ${formatCount(check.validRows)} ready, ${formatCount(check.invalidRows)} with problems.`,
  )
  reporter.step(`Columns: ${columns.join(', ')}.`)
  for (const remark of check.remarks) reporter.step(remark)
  reporter.step(
    check.gst > 0
      ? `The prices include ${check.gst}% GST, which is removed.`
      : 'The prices are sent as prices before tax.',
  )
  if (check.validRows === 0) throw new Error('This file has no valid rows.')
  if (options.strict && check.invalidRows > 0)
    throw new Error(`${formatCount(check.invalidRows)} rows have problems, so nothing was sent (--strict).`)
}

/** The error that asks the questions, and says how to answer them. */
function questions({ mappingErrors, questions: asked, headings, sheets, sample }: Check): Error {
  const lines = [...mappingErrors]
  if (asked.includes('columns') || asked.includes('headings')) {
    const [first = []] = sample
    const columns = headings.map(
      (heading, index) => `  ${index + 1}  ${heading} (${first[index]?.trim() ?? ''})`,
    )
    lines.push("The file's columns, with their first cells, are:", ...columns)
    lines.push('Use --map to choose, for example --map price=NUMBER.')
  }
  if (asked.includes('headings'))
    lines.push('Use --headings-row NUMBER, or --no-headings if the file has none.')
  if (asked.includes('decimal')) lines.push('Use --decimal point or --decimal comma.')
  if (asked.includes('gst'))
    lines.push('Use --gst 10 to remove 10% GST, or --gst 0 to send the prices as they are.')
  if (sheets.length > 1)
    lines.push(`The workbook has the sheets ${sheets.map((sheet) => `"${sheet}"`).join(', ')}: --sheet NAME.`)
  return new Error(lines.join('\n'))
}

/** Truncates the report of an earlier run, which would otherwise remain if this file has no problems. */
function truncateReport(report: string, file: string): void {
  if (existsSync(report) && realpathSync(report) === realpathSync(file))
    throw new Error('--report points to the price file itself and would overwrite it.')
  try {
    writeFileSync(report, '')
  } catch (error) {
    throw new Error(`--report ${report}: cannot be written (${(error as NodeJS.ErrnoException).code}).`)
  }
}

async function digestOf(file: string, choices: Choices): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(choices))
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}

async function choicesOf(file: string, options: FileOptions): Promise<Choices> {
  const { headings, headingsRow, sheet, decimal, gst, map } = options
  const choices: Choices = { headingsLine: headings ? headingsRow : 0, sheet, decimal, gst }
  return map.length > 0
    ? {
        ...choices,
        columns: await applyMappings(file, choices, map),
        isPriceConfirmed: map.some((mapping) => /^price\b/.test(mapping)),
      }
    : choices
}

/** The guessed columns, overridden by `--map`. */
async function applyMappings(file: string, choices: Choices, mappings: string[]): Promise<Columns> {
  const { layout, close } = await openPriceFile(file, choices)
  await close()
  const { headings } = layout
  const columns = { ...layout.columns }
  for (const mapping of mappings) {
    const [, field = '', column = ''] = /^(\w+)=(.+)$/.exec(mapping) ?? []
    if (!FIELDS.includes(field as Field))
      throw new Error(`--map ${mapping}: unknown field; use one of ${FIELDS.join(', ')}.`)
    if (headings.indexOf(column) !== headings.lastIndexOf(column))
      throw new Error(`--map ${mapping}: several columns have this heading; use the number of the column.`)
    const index = headings.includes(column) ? headings.indexOf(column) : Number(column) - 1
    if (!(index >= 0 && index < headings.length))
      throw new Error(`--map ${mapping}: the file has no such column.`)
    for (const other of FIELDS) if (columns[other] === index) delete columns[other]
    columns[field as Field] = index
  }
  return columns
}

export const formatCount = (number: number) => number.toLocaleString('en-AU')
