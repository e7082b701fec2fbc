/** Where the table of a file is, and what its columns are used for: as they were chosen before, else as suggested. */
import { UnreadableFileError } from '../tables/errors.ts'
import type { OpenFile, Row, Sheet } from '../tables/sheet.ts'
import { texts } from '../tables/texts.ts'
import { clean, isFilled, keptText, placeOf } from './cells.ts'
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
  /** Its first rows. */
  head: Row[]
  /** Page one as it was filled in, or the last choice; null: there is none. */
  draft: Draft | null
  lastChoice: Outline['lastChoice']
}

/** A way in which the file may be read. `headings`: all of the file that was read so, as they are remembered. */
interface Wish extends Pick<Table, 'lastChoice'> {
  draft: Draft
  headings?: readonly string[]
}

/** Finds the table. Throws `UnreadableFileError`. */
export async function findTable(file: OpenFile, { draft, goOn, received }: ReadOptions): Promise<Table> {
  const before = (received?.files ?? []).map(
    ({ choice, memory, at, by }): Wish => ({
      draft: choice,
      headings: memory.headings,
      lastChoice: { at, by },
    }),
  )
  const wishes = draft ? [{ draft, lastChoice: null }] : before
  // The row that a person has just given is used as it is; the command line may have a choice for an earlier file.
  const isGiven = draft !== null && (!goOn || columnsOf(draft).length === 0)
  const found = isGiven ? undefined : await findHeadings(file, wishes, draft?.headingsRow ?? 0)
  const wish = found?.wish ?? wishes[0] ?? { draft: null, lastChoice: null }
  const named = wish.draft ? sheetOf(file, wish.draft) : undefined
  const sheet = found?.sheet ?? named ?? (await suggestSheet(file))
  const headingsRow =
    found?.line ??
    (draft && named ? draft.headingsRow : suggestHeadingsRow(await readHead(sheet)).headingsRow)
  const { lastChoice } = wish
  return { sheet, headingsRow, ...(await readHeadings(sheet, headingsRow)), draft: wish.draft, lastChoice }
}

/** The sheet that a draft names, else the only one. */
export const sheetOf = ({ sheets }: OpenFile, { sheet }: Draft): Sheet | undefined =>
  sheets.find(({ name }) => name === sheet) ?? (sheets.length === 1 ? sheets[0] : undefined)

/**
 * Finds the first row that has all headings of a wish; of several wishes, the one for exactly these headings, else the first. `at`: a
 * row that comes before all others.
 */
async function findHeadings(file: OpenFile, wishes: readonly Wish[], at: number) {
  for (const sheet of new Set(wishes.flatMap(({ draft }) => sheetOf(file, draft) ?? []))) {
    const own = wishes.filter(({ draft }) => sheetOf(file, draft) === sheet)
    const [first] = own
    if (first?.draft.headingsRow === 0) return { sheet, line: 0, wish: first }
    let hit: { sheet: Sheet; line: number; wish: Wish } | undefined
    for await (const { line, cells } of eachRow(sheet)) {
      const headings = headingsIn(cells)
      const fitting = own.filter(({ draft }) => draft.headingsRow > 0 && hasColumns(draft, headings))
      const kept = headings.map(keptText).join('\n')
      const wish = fitting.find((one) => one.headings?.join('\n') === kept) ?? fitting[0]
      if (wish && (!hit || line === at)) hit = { sheet, line, wish }
      if (hit && line >= at) break
    }
    if (hit) return hit
  }
  return undefined
}

const hasColumns = (draft: Draft, headings: readonly string[]) =>
  columnsOf(draft).every((column) => placeOf(column, headings) >= 0)

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

/** The headings in a row, and the first rows below it. Of a row that is blank or 0, they are blank. */
async function readHeadings(sheet: Sheet, line: number): Promise<Pick<Table, 'headings' | 'head'>> {
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

/** A column that is used. */
interface UsedColumn extends ChosenColumn {
  use: Use
  values?: string[]
}

const columnsOf = (draft: Draft): UsedColumn[] => [
  ...FIELD_USES.flatMap((use) => (draft[use] ? [{ ...draft[use], use }] : [])),
  ...draft.only.map((column) => ({ ...column, use: 'only' as const })),
  ...(draft.taxed ? [{ ...draft.taxed, use: 'taxed' as const }] : []),
]

/** What page one fills in for each column. A code or a price that the draft does not find is suggested; if it finds none, all are. */
export function fillIn({ draft, headings, head }: Table): Pick<OutlineColumn, 'use' | 'ticked'>[] {
  const found = (draft ? columnsOf(draft) : []).filter((column) => placeOf(column, headings) >= 0)
  const suggested = suggestUses(headings, head)
  return headings.map((_, index) => {
    const own = found.find((column) => placeOf(column, headings) === index)
    if (own) return { use: own.use, ticked: own.values ?? [] }
    const use = suggested[index] ?? 'ignored'
    const isWanted = (use === 'code' || use === 'price') && !found.some((column) => column.use === use)
    return { use: isWanted || found.length === 0 ? use : 'ignored', ticked: [] }
  })
}

/** The choice that a draft makes of these columns, and what keeps it from being one. */
export function resolve(
  draft: Draft,
  headings: readonly string[],
): { choice: Choice | null; missing: Missing[] } {
  const taken = new Set<number>()
  const missing = columnsOf(draft).flatMap((column): Missing[] => {
    const { use, heading, values } = column
    const place = placeOf(column, headings)
    if (place < 0) return [{ kind: 'noColumn', use, heading }]
    if (taken.has(place)) return [{ kind: 'usedTwice', use }]
    taken.add(place)
    return values?.length === 0 ? [{ kind: 'nothingTicked', heading }] : []
  })
  const { code, price, money } = draft
  for (const what of ['code', 'price', 'money'] as const)
    if (!draft[what]) missing.push({ kind: 'unanswered', what })
  if (draft.taxed && money && MONEY[money].tax === 0) missing.push({ kind: 'taxedBeforeGst' })
  if (!code || !price || !money || missing.length > 0) return { choice: null, missing }
  const here = <Column extends ChosenColumn>(column: Column): Column => ({
    ...column,
    number: placeOf(column, headings) + 1,
  })
  const choice: Choice = { ...draft, code, price, money, only: draft.only.map(here) }
  if (draft.taxed) choice.taxed = here(draft.taxed)
  for (const use of FIELD_USES) if (draft[use]) choice[use] = here(draft[use])
  return { choice, missing }
}
