import { shorten } from '../../tables/prices.ts'
import type { Row } from '../../tables/sheet.ts'
import type { Item } from './item.ts'
import type { SheetLayout } from './layout.ts'
import type { Problem, RowResult } from './rows.ts'
import { texts } from './texts.ts'

/** An item as it will be sent, and the row that it comes from. */
export interface PreviewRow {
  line: number
  item: Item
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

/** An item, and where it comes from. */
interface Found {
  sheet: SheetLayout
  line: number
  item: Item
  /** The cell of the price. */
  price: string
}

/** Collects the items and problems of a file, and finds codes that occur more than once. */
export function createCollector() {
  /** The first row with each code: another one may take it back. */
  const seen = new Map<string, Found>()
  /** Codes with several prices. It is not known which is right, so none is sent. */
  const conflicts = new Set<string>()
  const preview = createPreview()
  const problems: Problem[] = []
  const counts = { validRows: 0, invalidRows: 0 }
  let [repeated, notForSale, free, characters] = [0, 0, 0, 0]

  function reject(problem: Problem): void {
    counts.invalidRows++
    if (problems.length === MAX_PROBLEMS || characters > MAX_PROBLEM_CHARACTERS) return
    characters += problem.cells.reduce((sum, cell) => sum + cell.length, 0)
    problems.push(problem)
  }

  /** A code that an earlier row has with another price or unit. */
  function rejectBoth(earlier: Found, sheet: SheetLayout, { line, cells }: Row): void {
    const { code } = earlier.item
    const reason = (other: number) => texts.row.otherPrice(shorten(code), other)
    reject({ sheet: sheet.name, line, reason: reason(earlier.line), cells })
    if (conflicts.has(code)) return
    conflicts.add(code)
    counts.validRows--
    reject({ sheet: earlier.sheet.name, line: earlier.line, reason: reason(line), cells: cellsOf(earlier) })
  }

  return {
    add(sheet: SheetLayout, row: Row, result: RowResult): void {
      const { line, cells } = row
      if (result === null) notForSale++
      else if (typeof result === 'string') reject({ sheet: sheet.name, line, reason: result, cells })
      else {
        const earlier = seen.get(result.code)
        if (!earlier) {
          const price = cells[sheet.columns.findIndex(({ use }) => use === 'price')] ?? ''
          seen.set(result.code, { sheet, line, item: result, price })
          counts.validRows++
          if (result.price === 0) free++
          preview.add({ line, item: result, cells })
        } else if (earlier.item.price === result.price && earlier.item.unit === result.unit) repeated++
        else rejectBoth(earlier, sheet, row)
      }
    },
    *items(): Generator<Item> {
      for (const [code, { item }] of seen) if (!conflicts.has(code)) yield item
    },
    found() {
      const remarks = [
        ...(repeated > 0 ? [texts.remarks.repeatedRows(repeated)] : []),
        ...(notForSale > 0 ? [texts.remarks.notForSale(notForSale)] : []),
        ...(free > 0 ? [texts.remarks.free(free)] : []),
      ]
      return {
        ...counts,
        remarks,
        preview: preview.rows(conflicts),
        problems: problems.toSorted((a, b) => a.line - b.line),
      }
    },
  }
}

/** What a row had in the columns that are used: not every row is kept in memory. */
const cellsOf = ({ sheet, item, price }: Found): string[] =>
  sheet.columns.map(({ use }) => {
    switch (use) {
      case 'price':
        return price
      case 'code':
      case 'name':
      case 'description':
      case 'unit':
      case 'category':
        return item[use] ?? ''
      default:
        return ''
    }
  })

/**
 * Chooses ten rows for a person to look at: the first and the last ones, the dearest two and the cheapest one, because a total
 * at the end or a price of several units shows there.
 */
function createPreview() {
  const first: PreviewRow[] = []
  const last: PreviewRow[] = []
  let dearest: PreviewRow[] = []
  let cheapest: PreviewRow | undefined
  return {
    add(row: PreviewRow): void {
      if (first.length < SHOWN) first.push(row)
      last.push(row)
      if (last.length > LAST) last.shift()
      if (row.item.price < (cheapest?.item.price ?? Number.POSITIVE_INFINITY)) cheapest = row
      if (dearest.length < DEAREST || row.item.price > (dearest.at(-1)?.item.price ?? 0))
        dearest = [...dearest, row].sort((a, b) => b.item.price - a.item.price).slice(0, DEAREST)
    },
    /** The rows in the order of the file, without the items with these codes. */
    rows(except: ReadonlySet<string>): PreviewRow[] {
      const all = [...new Set([...last, ...dearest, ...(cheapest ? [cheapest] : []), ...first])]
      return all
        .filter(({ item }) => !except.has(item.code))
        .slice(0, SHOWN)
        .toSorted((a, b) => a.line - b.line)
        .map((row) => ({ ...row, cells: row.cells.map((cell) => shorten(cell, MAX_CELL)) }))
    },
  }
}
