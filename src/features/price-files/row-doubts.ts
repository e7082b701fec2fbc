/** Items that only the file as a whole shows to be wrong: lost zeros, moved cells, and codes of several rows. */
import type { MergedCells, Row } from '../../tables/row.ts'
import type { Columns } from './columns.ts'
import type { Item } from './item.ts'
import { isProblem, type Problem } from './items.ts'
import { texts } from './texts.ts'

export interface DoubtsOptions {
  headings: readonly string[]
  columns: Columns
  /** What separates the cells of text; undefined for a spreadsheet. */
  delimiter: string | undefined
}

/** A problem with an item that was accepted before. */
export type LateProblem = Problem & { code: string }

export interface Doubts {
  /** Notes a row, and what it was read as. */
  see(row: Row, item: Item | Problem): void
  /** The items that are wrong after all. `merged`: cells that are merged with those below them. */
  confirmed(merged: readonly MergedCells[]): LateProblem[]
}

/** How many items of each kind are remembered: a file with more of them has them as its rule, and not by mistake. */
const MAX_REMEMBERED = 10_000

export function createDoubts({ headings, columns, delimiter }: DoubtsOptions): Doubts {
  const kinds = [
    lostZeros(),
    ...(delimiter === ',' ? [movedCells(headings, columns)] : []),
    ...(delimiter === undefined ? [mergedCodes(columns)] : []),
  ]
  return {
    see(row, item) {
      for (const kind of kinds) kind.see(row, item)
    },
    confirmed: (merged) => kinds.flatMap((kind) => kind.confirmed(merged)),
  }
}

const lateProblem = ({ line, cells }: Row, code: string, reason: string): LateProblem => ({
  line,
  reason,
  cells,
  code,
})

/** Barcodes of several lengths are found in one file (GS1 General Specifications: GTIN-8, -12, -13, -14). */
const BARCODE_LENGTHS = [8, 12, 13, 14]

/** `456` among `00123` and `00789`: a spreadsheet takes such codes for numbers. */
function lostZeros(): Doubts {
  /** The lengths of codes that begin with a zero. */
  const lengths = new Set<number>()
  const shorter: { row: Row; code: string }[] = []
  return {
    see(row, item) {
      if (isProblem(item) || !/^\d+$/.test(item.code)) return
      const { code } = item
      if (code.startsWith('0')) lengths.add(code.length)
      else if (shorter.length < MAX_REMEMBERED) shorter.push({ row, code })
    },
    confirmed() {
      const [length = 0, ...others] = lengths
      if (length === 0 || others.length > 0) return []
      const areBarcodes = BARCODE_LENGTHS.includes(length)
      return shorter
        .filter(({ code }) => code.length < length)
        .filter(({ code }) => !(areBarcodes && BARCODE_LENGTHS.includes(code.length)))
        .map(({ row, code }) => lateProblem(row, code, texts.row.lostZeros(code)))
    },
  }
}

/** Columns whose cells are no numbers. Those of a category or a status may be. */
const TEXT_COLUMN = /\b(notes?|comments?|remarks?|descriptions?|details?|name|units?|uom|measure)\b/i

/**
 * `1,234.50` without quotes is two cells of a file that is separated by commas: the price loses its last digits, and the
 * column behind it, whose cells are texts or empty, gets them.
 */
function movedCells(headings: readonly string[], { price = -1 }: Columns): Doubts {
  const next = price + 1
  let hasTexts = TEXT_COLUMN.test(headings[next] ?? '')
  let hasNumbers = false
  const moved: { row: Row; code: string }[] = []
  return {
    see(row, item) {
      const cell = row.cells[next]?.trim() ?? ''
      if (cell === '' || isProblem(item)) return
      const mayBeRest = /^(\d{3}(\.\d+)?|\d{2})$/.test(cell)
      if (mayBeRest && /^(A?\$ ?)?\d{1,3}$/.test(row.cells[price]?.trim() ?? '')) {
        if (moved.length < MAX_REMEMBERED) moved.push({ row, code: item.code })
      } else if (/^[\d.,]+$/.test(cell)) hasNumbers = true
      else hasTexts = true
    },
    confirmed() {
      // Three digits and cents, row after row, are no quantities.
      const isRest =
        moved.length > 0 && moved.every(({ row }) => /^\d{3}\.\d\d$/.test(row.cells[next]?.trim() ?? ''))
      if (hasNumbers || !(hasTexts || isRest)) return []
      return moved.map(({ row, code }) =>
        lateProblem(
          row,
          code,
          texts.row.movedCells(row.cells[price]?.trim() ?? '', row.cells[next]?.trim() ?? ''),
        ),
      )
    },
  }
}

/** A code that is merged over several rows belongs to all of them, and only the first one has it. */
function mergedCodes({ code: column = -1 }: Columns): Doubts {
  /** Items above rows without a code, by line. */
  const above = new Map<number, { row: Row; code: string }>()
  let last: { row: Row; code: string } | undefined
  return {
    see(row, item) {
      if (!isProblem(item)) last = { row, code: item.code }
      else if (last && (row.cells[column]?.trim() ?? '') === '' && above.size < MAX_REMEMBERED)
        above.set(last.row.line, last)
    },
    confirmed: (merged) =>
      merged.flatMap(({ firstColumn, lastColumn, firstLine, lastLine }) => {
        const item = firstColumn <= column && column <= lastColumn ? above.get(firstLine) : undefined
        if (!item) return []
        const reason = texts.row.mergedCode(firstLine, lastLine)
        return [lateProblem(item.row, item.code, reason)]
      }),
  }
}
