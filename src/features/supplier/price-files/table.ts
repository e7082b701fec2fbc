/** Finds the table of a file, and what its columns are used for: as they were chosen before, or else as suggested. */
import { UnreadableFileError } from '../tables/errors.ts'
import type { OpenFile, Row, Sheet } from '../tables/sheet.ts'
import { texts } from '../tables/texts.ts'
import { clean, isFilled, keptHeadings, placeOf } from './cells.ts'
import type { ChosenColumn, Draft } from './choice.ts'
import type { Missing, Outline, OutlineColumn, ReadOptions } from './found.ts'
import { suggestHeadingsRow, suggestUses } from './suggestions.ts'
import { columnFor, MONEY } from './uses.ts'

/** How many rows tell what the columns of a table may be. */
const HEAD_ROWS = 200
const MAX_COLUMNS = 500

/**
 * A way in which the file may be read. `headings`: all headings of the file that was read this way before, as they are remembered.
 */
interface Wish extends Pick<Outline, 'lastChoice'> {
  draft: Draft
  headings?: readonly string[]
}

/** A table, and how it is to be read. */
export interface Table extends Pick<Outline, 'lastChoice'> {
  sheet: Sheet
  /** The row of the headings; 0 if there are none. */
  headingsRow: number
  headings: string[]
  /** What page one fills in for each column. */
  filled: Pick<OutlineColumn, 'use' | 'ticked'>[]
  /** Page one as it was filled in, or the last choice, with those of its columns that this file has; null if there is neither. */
  draft: Draft | null
  /** What the draft lacks to be a choice. */
  missing: Missing[]
}

/** Finds the table. Throws `UnreadableFileError`. */
export async function findTable(file: OpenFile, { draft, received }: ReadOptions): Promise<Table> {
  const before = (received?.files ?? []).map(
    ({ choice, memory: { headings }, at, by }): Wish => ({ draft: choice, headings, lastChoice: { at, by } }),
  )
  const wishes = draft ? [{ draft, lastChoice: null }] : before
  // A draft without columns asks for exactly its heading row.
  const isGiven = draft?.columns.length === 0
  const hit = isGiven ? undefined : await findHeadings(file, wishes, draft?.headingsRow ?? 0)
  const wish = hit?.wish ?? wishes[0]
  const named = wish && sheetOf(file, wish.draft)
  const sheet = named ?? (await suggestSheet(file))
  const headingsRow =
    hit?.line ?? (draft && named ? draft.headingsRow : suggestHeadingsRow(await readHead(sheet)).headingsRow)
  const { headings, head } = await readHeadings(sheet, headingsRow)
  const { here, missing } = wish ? chosenIn(wish.draft, headings) : { here: [], missing: [] }
  return {
    ...{ sheet, headingsRow, headings, filled: fillIn(here, headings, head) },
    lastChoice: wish?.lastChoice ?? null,
    draft: wish ? { ...wish.draft, sheet: sheet.name, headingsRow, columns: here } : null,
    missing: wish && !named ? [{ field: 'sheet', kind: 'noSheet', name: wish.draft.sheet }] : missing,
  }
}

/** The sheet that a draft names, or else the only sheet. */
const sheetOf = ({ sheets }: OpenFile, { sheet }: Draft): Sheet | undefined =>
  sheets.find(({ name }) => name === sheet) ?? (sheets.length === 1 ? sheets[0] : undefined)

/**
 * Finds the first row that has all headings of a wish; the row `at` wins if it has them, too. If several wishes fit, the one for
 * exactly these headings wins, or else the first.
 */
async function findHeadings(file: OpenFile, wishes: readonly Wish[], at: number) {
  for (const sheet of new Set(wishes.flatMap(({ draft }) => sheetOf(file, draft) ?? []))) {
    const own = wishes.filter(({ draft }) => sheetOf(file, draft) === sheet)
    const [first] = own
    if (first?.draft.headingsRow === 0) return { line: 0, wish: first }
    let hit: { line: number; wish: Wish } | undefined
    for await (const { line, cells } of eachRow(sheet)) {
      const headings = headingsIn(cells)
      const fitting = own.filter(({ draft }) => draft.headingsRow > 0 && hasColumns(draft, headings))
      const wish = fitting.find((one) => one.headings?.join('\n') === keptHeadings(headings)) ?? fitting[0]
      if (wish && (!hit || line === at)) hit = { line, wish }
      if (hit && line >= at) break
    }
    if (hit) return hit
  }
  return undefined
}

const hasColumns = ({ columns }: Draft, headings: readonly string[]) =>
  columns.every((column) => placeOf(column, headings) >= 0)

/** The columns of a draft as they stand under these headings, and what is missing for a choice. */
function chosenIn(draft: Draft, headings: readonly string[]): { here: ChosenColumn[]; missing: Missing[] } {
  const here: ChosenColumn[] = []
  const missing: Missing[] = []
  for (const column of draft.columns) {
    const { use, heading, values } = column
    const number = placeOf(column, headings) + 1
    // Two columns with the same heading may have become one.
    if (number === 0 || here.some((other) => other.number === number))
      missing.push({ field: 'columns', kind: 'noColumn', use, heading })
    else here.push({ ...column, number })
    if (values?.length === 0) missing.push({ field: `use-${number}`, kind: 'nothingTicked', heading })
  }
  for (const what of ['code', 'price'] as const)
    if (!columnFor(draft, what)) missing.push({ field: 'columns', kind: 'unanswered', what })
  if (draft.money === null) missing.push({ field: 'money', kind: 'unanswered', what: 'money' })
  else if (columnFor(draft, 'taxed') && MONEY[draft.money].tax === 0)
    missing.push({ field: 'money', kind: 'taxedBeforeGst' })
  return { here, missing }
}

/** The first visible sheet that has the headings of a price list, or else the first sheet that has rows. */
async function suggestSheet({ sheets }: OpenFile): Promise<Sheet> {
  let first: Sheet | undefined
  for (const sheet of sheets.toSorted((a, b) => Number(a.isHidden) - Number(b.isHidden))) {
    const rows = await readHead(sheet)
    if (rows.length > 0) first ??= sheet
    if (!sheet.isHidden && suggestHeadingsRow(rows).isSure) return sheet
  }
  if (!first) throw new UnreadableFileError(0, texts.unreadable.noRows)
  return first
}

/** The headings in a row, and the first rows below it. If the row is blank or 0, the headings are blank. */
async function readHeadings(sheet: Sheet, line: number): Promise<{ headings: string[]; head: Row[] }> {
  const [row, ...below] = await readHead(sheet, line)
  const head = row && row.line > line ? [row, ...below] : below
  const width = Math.max(0, ...head.map(({ cells }) => headingsIn(cells).length))
  const headings = row?.line === line ? headingsIn(row.cells) : Array.from({ length: width }, () => '')
  if (headings.length > MAX_COLUMNS)
    throw new UnreadableFileError(line, texts.unreadable.columns(MAX_COLUMNS))
  return { headings, head }
}

/** The first rows from this one on. */
async function readHead(sheet: Sheet, from = 0): Promise<Row[]> {
  const head: Row[] = []
  for await (const row of eachRow(sheet)) {
    if (row.line >= from) head.push(row)
    if (head.length > HEAD_ROWS) break
  }
  return head
}

async function* eachRow(sheet: Sheet): AsyncGenerator<Row> {
  for await (const rows of sheet.rows()) yield* rows
}

/** The headings of a row, up to the last one. */
const headingsIn = (cells: readonly string[]): string[] =>
  cells.slice(0, cells.findLastIndex(isFilled) + 1).map(clean)

/** What page one fills in for each column. A missing code or price is suggested. If no chosen column is here, all uses are. */
function fillIn(
  here: readonly ChosenColumn[],
  headings: readonly string[],
  head: readonly Row[],
): Table['filled'] {
  return suggestUses(headings, head).map((use, index) => {
    const own = here.find(({ number }) => number === index + 1)
    if (own) return { use: own.use, ticked: own.values ?? [] }
    const isWanted =
      here.length === 0 || ((use === 'code' || use === 'price') && !columnFor({ columns: here }, use))
    return { use: isWanted ? use : 'ignored', ticked: [] }
  })
}
