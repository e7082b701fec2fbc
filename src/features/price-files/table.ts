/** Where the table of a file is, and what its columns are used for: as they were chosen before, else as suggested. */
import { UnreadableFileError } from '../../tables/errors.ts'
import type { OpenFile, Row, Sheet } from '../../tables/sheet.ts'
import { texts } from '../../tables/texts.ts'
import { clean, isFilled, placeOf } from './cells.ts'
import type { Choice, ChosenColumn, Draft } from './choice.ts'
import type { Missing, Outline, OutlineColumn, ReadOptions } from './found.ts'
import { suggestHeadingsRow, suggestUses } from './suggestions.ts'
import { FIELD_USES, MONEY, type Use } from './uses.ts'

/** How many rows tell what the columns of a table may be. */
const HEAD_ROWS = 200
const MAX_COLUMNS = 500

/** A table, and how it is to be read. */
export interface Table {
  sheet: Sheet
  /** 0: it has no headings. */
  headingsRow: number
  headings: string[]
  /** Page one as it was filled in, or the last choice; null: there is none. */
  draft: Draft | null
  lastChoice: Outline['lastChoice']
  /** Its first rows. */
  head: Row[]
}

/** A way in which the file may be read. `headings`: all of the file that was read so. */
interface Wish {
  draft: Draft
  headings: readonly string[] | null
  lastChoice: Outline['lastChoice']
}

/** Finds the table. Throws `UnreadableFileError`. */
export async function findTable(file: OpenFile, { draft, goOn, received }: ReadOptions): Promise<Table> {
  const wishes = draft
    ? [{ draft, headings: null, lastChoice: null }]
    : (received?.files ?? []).map(
        ({ choice, memory, at, by }): Wish => ({
          draft: choice,
          headings: memory.headings,
          lastChoice: { at, by },
        }),
      )
  // The row that a person has just given is used as it is, unless its headings were chosen for another file.
  const isGiven = draft !== null && (!goOn || columnsOf(draft).length === 0)
  const found = isGiven ? undefined : await findRow(file, wishes, draft?.headingsRow ?? 0)
  if (found) return found
  const [wish] = wishes
  const sheet = (wish && sheetFor(file, wish.draft)) ?? (await suggestSheet(file))
  const rows = await readHead(sheet)
  const isSheet = wish && sheet === sheetFor(file, wish.draft)
  const headingsRow = draft && isSheet ? draft.headingsRow : suggestHeadingsRow(rows).headingsRow
  return {
    sheet,
    ...(await tableAt(sheet, headingsRow)),
    draft: wish?.draft ?? null,
    lastChoice: wish?.lastChoice ?? null,
  }
}

/** The sheet of that name, else the only one. */
const sheetFor = ({ sheets }: OpenFile, { sheet }: Draft): Sheet | undefined =>
  sheets.find(({ name }) => name === sheet) ?? (sheets.length === 1 ? sheets[0] : undefined)

/** Whether the sheet of a table is the one that its draft names, or the only one. */
export const isSheetOf = (file: OpenFile, { draft, sheet }: Table): boolean =>
  draft !== null && sheetFor(file, draft) === sheet

/**
 * The first row that has all headings of a wish; of several wishes, the one for exactly these headings, else the first.
 * `at`: a row that comes before the others.
 */
async function findRow(file: OpenFile, wishes: readonly Wish[], at: number): Promise<Table | undefined> {
  for (const sheet of new Set(wishes.map(({ draft }) => sheetFor(file, draft)))) {
    const own = wishes.filter(({ draft }) => sheet && sheetFor(file, draft) === sheet)
    const hit = sheet && (await findRowIn(sheet, own, at))
    if (hit) {
      const { draft, lastChoice } = hit.wish
      return { sheet, ...(await tableAt(sheet, hit.headingsRow)), draft, lastChoice }
    }
  }
  return undefined
}

async function findRowIn(sheet: Sheet, wishes: readonly Wish[], at: number) {
  const [wish] = wishes
  if (wish?.draft.headingsRow === 0) return { headingsRow: 0, wish }
  const withHeadings = wishes.filter(({ draft }) => draft.headingsRow > 0)
  let first: { headingsRow: number; wish: Wish } | undefined
  for await (const rows of sheet.rows())
    for (const { line, cells } of rows) {
      const headings = headingsIn(cells)
      const fitting = withHeadings.filter(({ draft }) => hasColumns(draft, headings))
      const best = fitting.find((one) => String(one.headings) === String(headings)) ?? fitting[0]
      if (best && line === at) return { headingsRow: line, wish: best }
      if (best) first ??= { headingsRow: line, wish: best }
      if (first && line >= at) return first
    }
  return first
}

const hasColumns = (draft: Draft, headings: readonly string[]) =>
  columnsOf(draft).every(({ column }) => placeOf(column, headings) >= 0)

/** The first visible sheet that has the headings of a price list, else the first one that has rows. */
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

/** The headings of the table below a row, and its first rows. A row that is blank or 0 has blank headings. */
async function tableAt(sheet: Sheet, headingsRow: number) {
  const rows = await readHead(sheet, headingsRow)
  const row = rows.find(({ line }) => line === headingsRow)
  const head = rows.filter(({ line }) => line > headingsRow)
  const width = Math.max(0, ...head.map(({ cells }) => cells.findLastIndex(isFilled) + 1))
  const headings = row ? headingsIn(row.cells) : Array.from({ length: width }, () => '')
  if (headings.length > MAX_COLUMNS)
    throw new UnreadableFileError(headingsRow, texts.unreadable.columns(MAX_COLUMNS))
  return { headingsRow, headings, head }
}

/** Rows up to the first two hundred below this row. */
async function readHead(sheet: Sheet, below = 0): Promise<Row[]> {
  const head: Row[] = []
  let rows = 0
  for await (const batch of sheet.rows())
    for (const row of batch) {
      if (row.line >= below) head.push(row)
      if (row.line > below && ++rows === HEAD_ROWS) return head
    }
  return head
}

/** The headings of a row, up to the last one. */
const headingsIn = (cells: readonly string[]): string[] =>
  cells.slice(0, cells.findLastIndex(isFilled) + 1).map(clean)

/** The columns that a draft uses. */
function columnsOf(draft: Draft): { use: Use; column: ChosenColumn & { values?: string[] } }[] {
  const fields = FIELD_USES.flatMap((use) => (draft[use] ? [{ use, column: draft[use] }] : []))
  const only = draft.only.map((column) => ({ use: 'only' as const, column }))
  return [...fields, ...only, ...(draft.taxed ? [{ use: 'taxed' as const, column: draft.taxed }] : [])]
}

/** What page one fills in for the columns. A code or a price that the draft does not find is suggested; without any, all are. */
export function fillIn({ draft, headings, head }: Table): Pick<OutlineColumn, 'use' | 'ticked'>[] {
  const suggested = suggestUses(headings, head)
  const found = new Map(
    (draft ? columnsOf(draft) : []).map(({ use, column }) => [placeOf(column, headings), { use, column }]),
  )
  found.delete(-1)
  const uses = [...found.values()].map(({ use }) => use)
  return headings.map((_, index) => {
    const own = found.get(index)
    if (own) return { use: own.use, ticked: own.column.values ?? [] }
    const use = suggested[index] ?? 'ignored'
    const isWanted = uses.length === 0 || ((use === 'code' || use === 'price') && !uses.includes(use))
    return { use: isWanted ? use : 'ignored', ticked: [] }
  })
}

/** The choice that a draft makes of these columns, and what keeps it from being one. */
export function resolve(
  draft: Draft,
  headings: readonly string[],
): { choice: Choice | null; missing: Missing[] } {
  const missing: Missing[] = []
  const taken = new Set<number>()
  const find = <Column extends ChosenColumn>(use: Use, column: Column): Column => {
    const place = placeOf(column, headings)
    if (place < 0) missing.push({ kind: 'noColumn', use, heading: column.heading })
    else if (taken.has(place)) missing.push({ kind: 'usedTwice', use })
    if ('values' in column && Array.isArray(column.values) && column.values.length === 0)
      missing.push({ kind: 'nothingTicked', heading: column.heading })
    taken.add(place)
    return { ...column, number: place + 1 }
  }
  const found: Draft = { ...draft }
  for (const use of FIELD_USES) {
    const column = draft[use]
    if (column) found[use] = find(use, column)
  }
  found.only = draft.only.map((column) => find('only', column))
  if (draft.taxed) found.taxed = find('taxed', draft.taxed)
  const { code, price, money, ...others } = found
  if (!code) missing.push({ kind: 'unanswered', what: 'code' })
  if (!price) missing.push({ kind: 'unanswered', what: 'price' })
  if (!money) missing.push({ kind: 'unanswered', what: 'money' })
  else if (draft.taxed && MONEY[money].tax === 0) missing.push({ kind: 'taxedBeforeGst' })
  const isComplete = code && price && money && missing.length === 0
  return { choice: isComplete ? { ...others, code, price, money } : null, missing }
}
