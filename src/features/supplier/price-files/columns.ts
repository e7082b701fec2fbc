/** The values of the columns of a table. */
import { valueIn } from './cells.ts'
import type { Value } from './found.ts'
import type { Candidate } from './rows.ts'
import { MAX_VALUES } from './uses.ts'

/** How many items are kept for each value. */
const MAX_ITEMS = 3

/** A value with the first items that have it. */
export interface Tally extends Value {
  items: Candidate[]
}

/** Counts the values of the columns of a table. The time for a row depends only on its cells, not on headings or other values. */
export class Columns {
  readonly #columns: Column[]
  #rows = 0
  /** How many rows have each number of cells, up to `MAX_ITEMS`. The columns after the last cell are blank in these rows. */
  readonly #short: number[] = []

  constructor(width: number) {
    this.#columns = Array.from({ length: width }, () => new Column())
  }

  /** Counts the cells of a row. Returns the values that do not have `MAX_ITEMS` items yet. */
  see(cells: readonly string[]): Tally[] {
    this.#rows++
    const seen = this.#columns.length > cells.length ? cells.length : this.#columns.length
    const wanted: Tally[] = []
    for (let index = 0; index < seen; index++) {
      const tally = this.#columns[index]?.see(cells[index] ?? '')
      if (tally && tally.items.length < MAX_ITEMS) wanted.push(tally)
    }
    const before = this.#short[seen] ?? 0
    if (before === MAX_ITEMS) return wanted
    this.#short[seen] = before + 1
    return [...wanted, ...this.#columns.slice(seen).map(({ blank }) => blank)]
  }

  /** The values of a column, the most frequent first; null if there are too many. */
  tallies(index: number): Tally[] | null {
    const { tallies = null, blank } = this.#columns[index] ?? {}
    if (!tallies || !blank) return null
    const filled = [...tallies.values()].filter((tally) => tally !== blank)
    blank.count = filled.reduce((blanks, { count }) => blanks - count, this.#rows)
    const all = blank.count > 0 ? [...filled, blank] : filled
    return all.length <= MAX_VALUES ? all.sort((a, b) => b.count - a.count) : null
  }
}

class Column {
  /** The blank value. Its count is the number of rows that have no other value. */
  readonly blank: Tally = { value: '', count: 0, items: [] }
  /** The values by their texts; null if there are more than `MAX_VALUES`. */
  tallies: Map<string, Tally> | null = new Map([['', this.blank]])
  /** The values by their cells, so that a cell that came before is not read again. */
  readonly #byCell = new Map<string, Tally>()

  /** Counts a cell, and returns its value; null if there are too many. */
  see(cell: string): Tally | null {
    if (!this.tallies) return null
    const tally = this.#byCell.get(cell) ?? this.#read(cell, this.tallies)
    tally.count++
    return tally
  }

  #read(cell: string, tallies: Map<string, Tally>): Tally {
    const value = valueIn(cell)
    const tally = tallies.get(value) ?? { value, count: 0, items: [] }
    tallies.set(value, tally)
    if (this.#byCell.size <= MAX_VALUES) this.#byCell.set(cell, tally)
    if (tallies.size > MAX_VALUES + 1) {
      this.tallies = null
      this.#byCell.clear()
    }
    return tally
  }
}
