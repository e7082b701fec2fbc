import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { parseJson } from '../../connect/index.ts'
import { print } from '../../runtime/print.ts'
import { givenOf } from '../../settings/read.ts'
import type { Check, CheckOptions } from './check-rows.ts'
import { confirmed } from './confirmation.ts'
import { type Draft, type Layout, layoutSchema } from './layout.ts'
import { readInProcess } from './read-in-process.ts'
import { inFolder } from './work-folder.ts'

export interface FileOptions {
  /** The file of a confirmed layout. */
  layout?: string | undefined
  /** Where to write the layout that was confirmed or used. */
  saveLayout?: string | undefined
  /** The command that asks in a terminal. */
  how: string
  signal?: AbortSignal
}

/** A file whose reading is confirmed. */
export interface Confirmed {
  check: Check
  layout: Layout
  /** The items, for `readBatch`. They are deleted when the work ends. */
  itemsPath: string
}

/** Nobody has confirmed how the file is read: the command ends with 2. */
export class UnconfirmedError extends Error {}

/**
 * Reads the whole file as a confirmed layout says, or asks a person in the terminal if none fits, and gives it to `work`.
 * Throws an error if the file cannot be read, `UnconfirmedError`, and the errors of `work`.
 */
export async function withConfirmed<T>(
  path: string,
  { layout: given, saveLayout, how, signal }: FileOptions,
  work: (confirmed: Confirmed) => Promise<T>,
): Promise<T> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new Error(`The file ${path} does not exist.`)
  if (saveLayout !== undefined && !existsSync(dirname(saveLayout)))
    throw new Error(`--save-layout ${saveLayout}: the folder does not exist.`)
  const layouts = given === undefined ? [] : [readLayout(given)]
  const dir = join(givenOf(process.env).DATA_DIR ?? '.data', 'imports')
  return inFolder(dir, async (folder) => {
    const itemsPath = join(folder, 'items')
    const read = (options: CheckOptions) => readInProcess({ path, itemsPath, ...options }, { signal })
    const first = await read({ layouts })
    const { check, layout } = first.layout
      ? { check: first, layout: first.layout }
      : await confirmInTerminal(how, first, (draft) => read({ draft }))
    if (saveLayout !== undefined) {
      writeFileSync(saveLayout, `${JSON.stringify(layout, null, 2)}\n`)
      print(`The layout is in ${saveLayout}: use it with --layout ${saveLayout}.`)
    }
    return work({ check, layout, itemsPath })
  })
}

/** Asks a person. Without a terminal, throws `UnconfirmedError`, which says what would have to be confirmed and how. */
async function confirmInTerminal(
  how: string,
  first: Check,
  read: (draft: Draft) => Promise<Check>,
): Promise<{ check: Check; layout: Layout }> {
  const { askForLayout, describeUnconfirmed } = await import('./terminal.ts')
  const { stdin: input, stdout: output } = process
  if (!(input.isTTY && output.isTTY)) throw new UnconfirmedError(describeUnconfirmed(first, how).join('\n'))
  const check = await askForLayout({ input, output, print }, first, read)
  return { check, layout: confirmed(check.draft, check.outline, new Date().toISOString()) }
}

/** Reads a layout from its file. Throws an error that names what is wrong in it. */
function readLayout(path: string): Layout {
  if (!existsSync(path)) throw new Error(`--layout ${path}: the file does not exist.`)
  const parsed = layoutSchema.safeParse(parseJson(readFileSync(path, 'utf8')))
  if (!parsed.success) throw new Error(`--layout ${path} is not a layout:\n${z.prettifyError(parsed.error)}`)
  return parsed.data
}
