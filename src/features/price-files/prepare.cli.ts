import { createHash } from 'node:crypto'
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { parseJson } from '../../connect/index.ts'
import { print, printError } from '../../runtime/print.ts'
import { checkFile } from './check-file.ts'
import { type Check, type CheckedFile, MAX_PROBLEMS } from './check-rows.ts'
import { audienceProblem, confirmed } from './confirmation.ts'
import { describeStatements, describeUnconfirmed } from './describe.ts'
import { type Draft, type Layout, layoutSchema } from './layout.ts'
import { removeLeftOvers, WORK } from './tasks.ts'

export interface FileOptions {
  layout?: string
  saveLayout?: string
  scope?: string
  strict: boolean
  report?: string
}

/** A file whose reading is confirmed. */
export interface Prepared {
  /** SHA-256 (hex) of the items. */
  digest: string
  check: Check
  layout: Layout
  /** The items, for `readBatches`. */
  itemsPath: string
  /** Deletes the items. */
  remove(): void
}

/** Nobody has confirmed how the file is read: the command ends with 2. */
export class UnconfirmedError extends Error {}

/**
 * Reads the whole file as a confirmed layout says, asks a person in the terminal if none fits, and says what will be sent.
 * Throws an error, before anything is sent, if the file cannot be read or has no valid row, and `UnconfirmedError`.
 */
export async function prepare(file: string, options: FileOptions, signal: AbortSignal): Promise<Prepared> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new Error(`The file ${file} does not exist.`)
  const given = options.layout === undefined ? undefined : readLayout(options.layout)
  if (options.report !== undefined) truncateReport(options.report, file)
  const folder = join(process.env.DATA_DIR || '.data', 'imports')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  await removeLeftOvers(folder)
  const work = mkdtempSync(join(folder, WORK))
  const remove = () => rmSync(work, { recursive: true, force: true })
  try {
    const itemsPath = join(work, 'items')
    const task = { path: file, itemsPath, reportPath: options.report }
    const read = (draft: Draft) => checkFile({ ...task, draft }, { signal })
    const first = await checkFile({ ...task, layouts: given ? [given] : [] }, { signal })
    const { check, layout, problems } = first.check.layout
      ? { ...first, layout: first.check.layout }
      : await confirmInTerminal(file, first, read)
    if (options.saveLayout !== undefined) writeLayout(options.saveLayout, layout)
    const problem = options.scope === undefined ? undefined : audienceProblem(layout, options.scope)
    if (problem) throw new Error(problem)
    summarize({ check, problems }, layout, options)
    return { digest: await digestOf(itemsPath), check, layout, itemsPath, remove }
  } catch (error) {
    remove()
    throw error
  }
}

/** Asks a person. Without a terminal, throws `UnconfirmedError`, which says what would have to be confirmed and how. */
async function confirmInTerminal(
  file: string,
  first: CheckedFile,
  read: (draft: Draft) => Promise<CheckedFile>,
): Promise<CheckedFile & { layout: Layout }> {
  const { stdin: input, stdout: output } = process
  if (!(input.isTTY && output.isTTY)) throw new UnconfirmedError(describeUnconfirmed(first, file).join('\n'))
  const { askForLayout } = await import('./terminal.ts')
  let last = first
  const again = async (draft: Draft) => {
    last = await read(draft)
    return last.check
  }
  const { check, draft } = await askForLayout({ input, output, print }, first.check, again)
  const by = { confirmedBy: userInfo().username, confirmedAt: new Date().toISOString() }
  return { check, problems: last.problems, layout: confirmed(draft, check.outline, by) }
}

/** Reads a layout from its file. Throws an error that names what is wrong in it. */
function readLayout(path: string): Layout {
  if (!existsSync(path)) throw new Error(`--layout ${path}: the file does not exist.`)
  const parsed = layoutSchema.safeParse(parseJson(readFileSync(path, 'utf8')))
  if (!parsed.success) throw new Error(`--layout ${path} is not a layout:\n${z.prettifyError(parsed.error)}`)
  return parsed.data
}

function writeLayout(path: string, layout: Layout): void {
  writeFileSync(path, `${JSON.stringify(layout, null, 2)}\n`)
  print(`The layout is in ${path}: use it with --layout ${path}.`)
}

/** Says what was found. Throws if nothing can be sent. */
function summarize({ check, problems }: CheckedFile, layout: Layout, options: FileOptions): void {
  for (const { line, reason } of problems.slice(0, 20)) printError(`Line ${line}: ${reason}`)
  const { rows, validRows, invalidRows } = check
  if (invalidRows > 20) {
    const hint = options.report ? '' : `; --report FILE writes the first ${formatCount(MAX_PROBLEMS)}`
    printError(`... and ${formatCount(invalidRows - 20)} more${hint}.`)
  }
  print(
    `Checked ${formatCount(rows)} rows: ${formatCount(validRows)} ready, ${formatCount(invalidRows)} with problems.`,
    `The file is read as ${layout.confirmedBy} confirmed on ${layout.confirmedAt}: ${describeStatements(layout)}.`,
    ...check.outline.remarks,
    ...check.remarks,
  )
  if (validRows === 0) throw new Error('This file has no valid rows.')
  if (options.strict && invalidRows > 0)
    throw new Error(`${formatCount(invalidRows)} rows have problems, so nothing was sent (--strict).`)
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

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

export const formatCount = (number: number) => number.toLocaleString('en-AU')
