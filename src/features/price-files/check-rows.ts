import { UnreadableFileError } from '../../tables/errors.ts'
import type { OpenFile, Row } from '../../tables/sheet.ts'
import { openFile } from '../../tables/table.ts'
import { type Item, writeBatches } from './batches.ts'
import { createCollector, type PreviewRow } from './collector.ts'
import { differences, hasColumnsOf, keptStatements } from './confirmation.ts'
import { type Draft, type Layout, signsOf } from './layout.ts'
import {
  createTexts,
  type Outline,
  outlineSheet,
  outlineUnused,
  readHead,
  remarksOn,
  type SheetHead,
} from './outline.ts'
import { columnsProblem, isComplete } from './questions.ts'
import { createRowReader, type Problem } from './rows.ts'
import { isList, suggestDraft, suggestSheet, withHeadings } from './suggestions.ts'
import { texts } from './texts.ts'

export interface CheckOptions {
  /** How a person says that the file is to be read, whether or not that is complete. */
  draft?: Draft | undefined
  /** Without a draft: the confirmed layouts that may fit, the latest first. */
  layouts?: readonly Layout[]
  /** The folder to write the items to as upload requests, for `readBatch`. */
  itemsPath?: string
}

/** What a file comes to. Without a layout that fits, or a complete draft, it has no items. */
export interface Check {
  outline: Outline
  draft: Draft
  /** The confirmed layout that fits. */
  layout: Layout | null
  /** Why the latest confirmed layout does not fit, in sentences. */
  differences: string[]
  /** What keeps the draft from being confirmed, as a sentence; null if nothing does. */
  problem: string | null
  /** How many rows the sheets have that are used, with and without an item. */
  rows: number
  validRows: number
  invalidRows: number
  /** Sentences on the items. */
  remarks: string[]
  preview: PreviewRow[]
  /** The first problems by sheet and line, at most 1,000; the rest are only counted. */
  problems: Problem[]
}

/** Maximum number of rows: their codes are kept in memory. */
const MAX_ROWS = 500_000

/** What a file comes to, with its items. */
interface Reading {
  check: Check
  items: Iterable<Item>
}

/**
 * Reads every row of a price file, outlines it, and writes its items as they will be sent if a confirmed layout fits, or if
 * the draft is complete. Throws `UnreadableFileError` and the errors of the file system.
 */
export async function checkPriceFile(
  path: string,
  { draft, layouts = [], itemsPath }: CheckOptions = {},
): Promise<Check> {
  const file = await openFile(path)
  try {
    const heads: SheetHead[] = []
    for (const sheet of file.sheets) heads.push(await readHead(sheet))
    if (heads.every(({ rows }) => rows.length === 0))
      throw new UnreadableFileError(0, texts.unreadable.noRows)
    const read = (how: Draft) => readSheets(file, heads, how)
    const { check, items } = draft
      ? await read(withHeadings(draft, heads))
      : await readWithLayouts(heads, layouts, read)
    if (itemsPath !== undefined) await writeBatches(itemsPath, items)
    return check
  } finally {
    file.close()
  }
}

/** Reads a file as the first confirmed layout that fits, or else as it is suggested. */
async function readWithLayouts(
  heads: readonly SheetHead[],
  layouts: readonly Layout[],
  read: (how: Draft) => Promise<Reading>,
): Promise<Reading> {
  // Layouts that differ only in the texts around the table share a reading.
  let previous: { how: string; reading: Reading } | undefined
  for (const layout of layouts) {
    const { tax, currency, audience } = layout
    const same = { ...suggestDraft(heads, layout), tax, currency, audience }
    if (!hasColumnsOf(same, layout)) continue
    const how = JSON.stringify(same)
    if (previous?.how !== how) previous = { how, reading: await read(same) }
    const { check, items } = previous.reading
    const isUsable = check.problem === null && isComplete(layout)
    if (isUsable && differences(layout, check.outline).length === 0)
      return { check: { ...check, layout }, items }
  }
  const [latest] = layouts
  const suggested = suggestDraft(heads, latest)
  const first = await read(suggested)
  if (!latest) return first
  // Statements about a file that differs only by its columns are still true: its items can be looked at.
  const kept = keptStatements(latest, first.check)
  const { check, items } = kept ? await read({ ...suggested, ...kept }) : first
  return { check: { ...check, differences: differences(latest, first.check.outline) }, items }
}

/** Reads all sheets as a draft says. */
async function readSheets(file: OpenFile, heads: readonly SheetHead[], draft: Draft): Promise<Reading> {
  const statements = isComplete(draft) ? draft : undefined
  const createOwn = () => createCollector(heads.map(({ sheet }) => sheet.name))
  const collector = createOwn()
  const collected = createTexts()
  const sheets: Outline['sheets'] = []
  let rows = 0
  for (const head of heads) {
    const { name, delimiter } = head.sheet
    const layout = draft.sheets.find((one) => one.name === name)
    if (!layout) {
      const suggested = suggestSheet(head)
      const how = { ...suggested, isList: isList(suggested) }
      sheets.push(await outlineUnused(head, how, collected))
      continue
    }
    const itemOf = statements && createRowReader(layout, statements, delimiter)
    const onRow = (row: Row) => {
      if (++rows > MAX_ROWS) throw new UnreadableFileError(0, texts.unreadable.manyRows(MAX_ROWS))
      if (itemOf) collector.add(layout, row, itemOf(row))
    }
    sheets.push(await outlineSheet(head, layout, collected, onRow))
  }
  const used = draft.sheets.map(({ name }) => name)
  const signs = signsOf(sheets.flatMap((sheet) => sheet.texts))
  const outline: Outline = { sheets, signs, remarks: remarksOn(file, used) }
  const problem = collected.areTooMany() ? texts.layout.manyTexts : (columnsProblem(draft, sheets) ?? null)
  // Without all answers, nothing is an item.
  const { items, ...found } = (statements && problem === null ? collector : createOwn()).found()
  return { check: { outline, draft, layout: null, differences: [], problem, rows, ...found }, items }
}
