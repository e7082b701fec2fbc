import {
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
import { print } from '../../runtime/print.ts'
import { checkFile } from './check-file.ts'
import type { CheckedFile } from './check-rows.ts'
import { confirmed } from './confirmation.ts'
import { describeUnconfirmed } from './describe.ts'
import { type Draft, type Layout, layoutSchema } from './layout.ts'
import { removeLeftOvers, WORK } from './tasks.ts'

export interface FileOptions {
  /** The file of a confirmed layout. */
  layout?: string | undefined
  /** Where to write the layout that was confirmed or used. */
  saveLayout?: string | undefined
  /** Where to write the rows with problems. */
  report?: string | undefined
  /** The command that asks in a terminal. */
  how: string
}

/** A file whose reading is confirmed. */
export interface Prepared extends CheckedFile {
  layout: Layout
  /** The items, for `readBatches`. */
  itemsPath: string
  /** Deletes the items. */
  remove(): void
}

/** Nobody has confirmed how the file is read: the command ends with 2. */
export class UnconfirmedError extends Error {}

/**
 * Reads the whole file as a confirmed layout says, or asks a person in the terminal if none fits. Throws an error if the file
 * cannot be read, and `UnconfirmedError`.
 */
export async function prepare(file: string, options: FileOptions, signal?: AbortSignal): Promise<Prepared> {
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
    const limits = signal ? { signal } : {}
    const read = (draft: Draft) => checkFile({ ...task, draft }, limits)
    const first = await checkFile({ ...task, layouts: given ? [given] : [] }, limits)
    const confirmed = first.check.layout
      ? { ...first, layout: first.check.layout }
      : await confirmInTerminal(options.how, first, read)
    if (options.saveLayout !== undefined) writeLayout(options.saveLayout, confirmed.layout)
    return { ...confirmed, itemsPath, remove }
  } catch (error) {
    remove()
    throw error
  }
}

/** Asks a person. Without a terminal, throws `UnconfirmedError`, which says what would have to be confirmed and how. */
async function confirmInTerminal(
  how: string,
  first: CheckedFile,
  read: (draft: Draft) => Promise<CheckedFile>,
): Promise<CheckedFile & { layout: Layout }> {
  const { stdin: input, stdout: output } = process
  if (!(input.isTTY && output.isTTY)) throw new UnconfirmedError(describeUnconfirmed(first, how).join('\n'))
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
