import { shorten } from '../../tables/prices.ts'
import type { Row } from '../../tables/sheet.ts'
import type { Item } from './batches.ts'
import type { SheetLayout } from './layout.ts'
import type { Problem, RowResult } from './rows.ts'
import { texts } from './texts.ts'

/** An item as it will be sent, and the row that it comes from. */
export interface PreviewRow {
  /** The sheet; empty for text. */
  sheet: string
  line: number
  /** Its texts are truncated, too. */
  item: Item
  /** The tax that was removed from its price, in dollars. */
  removed: number
  /** Truncated. */
  cells: string[]
}

/** Maximum number of problems that are listed, and of characters in their cells. */
export const MAX_PROBLEMS = 1_000
const MAX_PROBLEM_CHARACTERS = 1_000_000
/** How many rows a person looks at, and how many of them are the last and the dearest ones. */
const [SHOWN, LAST, DEAREST] = [10, 3, 2]
/** Characters of a cell that a person looks at. */
const MAX_CELL = 200

/** An item with texts that a person can look at. */
function cut(item: Item): Item {
  const shown = { ...item }
  for (const use of ['name', 'description', 'unit', 'category'] as const)
    if (shown[use] !== undefined) shown[use] = shorten(shown[use], MAX_CELL)
  return shown
}

/** An item, and where it comes from. */
interface Found {
  sheet: SheetLayout
  line: number
  item: Item
  /** The cell of the price. */
  price: string
}

/** What a row had in the columns that are used: not every row is kept in memory. */
function cellsOf({ sheet, item, price }: Found): string[] {
  const cells = new Map(Object.entries({ ...item, price }))
  return sheet.columns.map(({ use }) => cells.get(use) ?? '')
}

/** The problem of a row whose code has another price or unit elsewhere. */
function conflictOf({ sheet, line, item }: Omit<Found, 'price'>, other: Omit<Found, 'price'>) {
  const otherSheet = other.sheet === sheet ? '' : other.sheet.name
  return { sheet: sheet.name, line, reason: texts.row.otherPrice(shorten(item.code), other.line, otherSheet) }
}

/**
 * Collects the items and problems of a file, and finds codes that occur more than once. `sheets`: the names of its sheets, in their
 * order.
 */
export function createCollector(sheets: readonly string[]) {
  /** The first row with each code: another one may take it back. */
  const seen = new Map<string, Found>()
  /** Codes with several prices. It is not known which is right, so none is sent. */
  const conflicts = new Set<string>()
  const preview = createPreview()
  const problems: Problem[] = []
  let [invalidRows, repeated, notForSale, free, characters] = [0, 0, 0, 0, 0]

  function reject(problem: Problem): void {
    invalidRows++
    if (problems.length === MAX_PROBLEMS || characters > MAX_PROBLEM_CHARACTERS) return
    characters += problem.cells.reduce((sum, cell) => sum + cell.length, 0)
    problems.push(problem)
  }

  function addItem(sheet: SheetLayout, { line, cells }: Row, item: Item, removed: number): void {
    const earlier = seen.get(item.code)
    if (!earlier) {
      const cell = cells[sheet.columns.findIndex(({ use }) => use === 'price')] ?? ''
      seen.set(item.code, { sheet, line, item, price: cell })
      if (item.price === 0) free++
      preview.add({ sheet: sheet.name, line, item, removed, cells })
      return
    }
    if (earlier.item.price === item.price && earlier.item.unit === item.unit) {
      repeated++
      return
    }
    const found = { sheet, line, item }
    reject({ ...conflictOf(found, earlier), cells })
    if (conflicts.has(item.code)) return
    conflicts.add(item.code)
    reject({ ...conflictOf(earlier, found), cells: cellsOf(earlier) })
  }

  /** Orders as the file does. */
  const byPlace = (a: { sheet: string; line: number }, b: { sheet: string; line: number }) =>
    sheets.indexOf(a.sheet) - sheets.indexOf(b.sheet) || a.line - b.line

  function* items(): Generator<Item> {
    for (const [code, { item }] of seen) if (!conflicts.has(code)) yield item
  }

  return {
    add(sheet: SheetLayout, row: Row, result: RowResult): void {
      if (result === null) notForSale++
      else if (typeof result === 'string')
        reject({ sheet: sheet.name, line: row.line, reason: result, cells: row.cells })
      else addItem(sheet, row, result.item, result.removed)
    },
    found: () => ({
      items: items(),
      validRows: seen.size - conflicts.size,
      invalidRows,
      remarks: [
        ...(repeated > 0 ? [texts.remarks.repeatedRows(repeated)] : []),
        ...(notForSale > 0 ? [texts.remarks.notForSale(notForSale)] : []),
        ...(free > 0 ? [texts.remarks.free(free)] : []),
      ],
      preview: preview.rows(conflicts, byPlace),
      problems: problems.toSorted(byPlace),
    }),
  }
}

/**
 * Chooses ten rows for a person to look at: the first and the last ones, the dearest two and the cheapest one, because a total
 * at the end or a price of several units shows there.
 */
function createPreview() {
  const first: PreviewRow[] = []
  const last: PreviewRow[] = []
  /** The dearest ones, and then the cheapest one. */
  const extremes: PreviewRow[] = []
  return {
    add(row: PreviewRow): void {
      if (first.length < SHOWN) first.push(row)
      last.push(row)
      if (last.length > LAST) last.shift()
      extremes.push(row)
      extremes.sort((a, b) => b.item.price - a.item.price)
      if (extremes.length > DEAREST + 1) extremes.splice(DEAREST, 1)
    },
    /** The rows in the order of the file, without the items with these codes. */
    rows: (except: ReadonlySet<string>, byPlace: (a: PreviewRow, b: PreviewRow) => number): PreviewRow[] =>
      [...new Set([...last, ...extremes, ...first])]
        .filter(({ item }) => !except.has(item.code))
        .slice(0, SHOWN)
        .sort(byPlace)
        .map((row) => ({
          ...row,
          item: cut(row.item),
          cells: row.cells.map((cell) => shorten(cell.trim(), MAX_CELL)),
        })),
  }
}
