import { UnreadableFileError } from '../../tables/errors.ts'
import type { OpenFile, Row } from '../../tables/sheet.ts'
import { openFile } from '../../tables/table.ts'
import { writeBatches } from './batches.ts'
import { createCollector, type PreviewRow } from './collector.ts'
import { differences, hasColumnsOf, keptStatements } from './confirmation.ts'
import type { Draft, Layout } from './layout.ts'
import { createTexts, type Outline, outlineSheet, readHead, remarksOn, type SheetHead } from './outline.ts'
import { columnsProblem, isComplete } from './questions.ts'
import { createRowReader, type Problem } from './rows.ts'
import { suggestDraft, suggestSheet, withHeadings } from './suggestions.ts'
import { texts } from './texts.ts'

export interface CheckOptions {
  /** How a person says that the file is to be read, whether or not that is complete. */
  draft?: Draft | undefined
  /** Without a draft: the confirmed layouts that may fit, the latest first. */
  layouts?: readonly Layout[]
  /** Where to write the items as upload requests, for `readBatches`. */
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
  /** The first problems by line, at most 1,000; the rest are only counted. */
  problems: Problem[]
}

/** Maximum number of rows: their codes are kept in memory. */
const MAX_ROWS = 500_000

/**
 * Reads every row of a price file, outlines it, and writes its items as they will be sent if a confirmed layout fits, or if
 * the draft is complete. Throws `UnreadableFileError` and the errors of the file system.
 */
export async function checkPriceFile(path: string, options: CheckOptions = {}): Promise<Check> {
  const file = await openFile(path)
  return checkSheets(file, options).finally(file.close)
}

async function checkSheets(file: OpenFile, { draft, layouts = [], itemsPath }: CheckOptions): Promise<Check> {
  const heads: SheetHead[] = []
  for (const sheet of file.sheets) heads.push(await readHead(sheet))
  if (heads.every(({ rows }) => rows.length === 0)) throw new UnreadableFileError(0, texts.unreadable.noRows)
  const read = (how: Draft) => readSheets(file, heads, how, itemsPath)
  if (draft) return read(withHeadings(draft, heads))
  // Layouts that differ only in the texts around the table share a reading.
  let previous: { how: string; check: Check } | undefined
  for (const layout of layouts) {
    const { tax, currency, audience } = layout
    const same = { ...suggestDraft(heads, layout), tax, currency, audience }
    if (!hasColumnsOf(same, layout)) continue
    const how = JSON.stringify(same)
    if (previous?.how !== how) previous = { how, check: await read(same) }
    const { check } = previous
    const isUsable = check.problem === null && isComplete(layout)
    if (isUsable && differences(layout, check.outline).length === 0) return { ...check, layout }
  }
  const [latest] = layouts
  const suggested = suggestDraft(heads, latest)
  const first = await read(suggested)
  if (!latest) return first
  // Statements about a file that differs only by its columns are still true: its items can be looked at.
  const kept = keptStatements(latest, first)
  const last = kept ? await read({ ...suggested, ...kept }) : first
  return { ...last, differences: differences(latest, first.outline) }
}

/** Reads all sheets as a draft says. */
async function readSheets(
  file: OpenFile,
  heads: readonly SheetHead[],
  draft: Draft,
  itemsPath: string | undefined,
): Promise<Check> {
  const statements = isComplete(draft) ? draft : undefined
  const collector = createCollector()
  const collected = createTexts()
  const sheets: Outline['sheets'] = []
  let rows = 0
  for (const head of heads) {
    const { name, delimiter } = head.sheet
    const layout = draft.sheets.find((one) => one.name === name)
    const itemOf = layout && statements && createRowReader(layout, statements, delimiter)
    const onRow = (row: Row) => {
      if (++rows > MAX_ROWS) throw new UnreadableFileError(0, texts.unreadable.manyRows(MAX_ROWS))
      if (layout && itemOf) collector.add(layout, row, itemOf(row))
    }
    sheets.push(await outlineSheet(head, layout ?? suggestSheet(head), collected, layout && onRow))
  }
  const used = draft.sheets.map(({ name }) => name)
  const outline: Outline = { sheets, remarks: remarksOn(file, used) }
  const problem = collected.areTooMany() ? texts.layout.manyTexts : (columnsProblem(draft, sheets) ?? null)
  // Without all answers, nothing is an item.
  const result = statements && problem === null ? collector : createCollector()
  if (itemsPath !== undefined) await writeBatches(itemsPath, result.items())
  return { outline, draft, layout: null, differences: [], problem, rows, ...result.found() }
}
