/** The values of the columns of a table. */
import { shorten } from '../tables/prices.ts'
import { isFilled, valueIn } from './cells.ts'
import type { Value } from './found.ts'
import type { Candidate } from './rows.ts'
import { MAX_VALUES } from './uses.ts'

/** Cells that page one shows of a column, and their length. */
const [MAX_SAMPLES, MAX_SAMPLE] = [3, 60]
/** How many items are kept for each value. */
const MAX_ITEMS = 3

/** A value with the first items that have it. */
export interface Tally extends Value {
  items: Candidate[]
}

const newTally = (value: string): Tally => ({ value, count: 0, items: [] })

/** Counts the values of the columns of a table. What a row costs depends on its cells alone, not on headings or values. */
export class Columns {
  readonly #columns: Column[]
  /** By how many cells rows have: the columns behind are blank there. */
  readonly #short: Tally[]

  constructor(width: number) {
    this.#columns = Array.from({ length: width }, () => new Column())
    this.#short = Array.from({ length: width }, () => newTally(''))
  }

  /** Counts the cells of a row. Returns the values that have not had enough items. */
  see(cells: readonly string[]): Tally[] {
    const wanted: Tally[] = []
    for (let index = 0; index <= cells.length; index++) {
      const cell = cells[index]
      const tally = cell === undefined ? this.#short[index] : this.#columns[index]?.see(cell)
      if (!tally) continue
      tally.count++
      if (tally.items.length < MAX_ITEMS) wanted.push(tally)
    }
    return wanted
  }

  samples = (index: number): string[] => this.#columns[index]?.samples ?? []

  /** The values of a column, the most frequent first; null: too many. */
  tallies(index: number): Tally[] | null {
    const tallies = this.#columns[index]?.tallies
    if (!tallies) return null
    const blanks = this.#short.slice(0, index + 1)
    const { count = 0, items = [] } = tallies.get('') ?? {}
    const blank = {
      value: '',
      count: blanks.reduce((sum, short) => sum + short.count, count),
      items: [...items, ...blanks.flatMap((short) => short.items)].slice(0, MAX_ITEMS),
    }
    const all = [...tallies.values()].filter(({ value }) => value !== '')
    if (blank.count > 0) all.push(blank)
    return all.length <= MAX_VALUES ? all.sort((a, b) => b.count - a.count) : null
  }
}

class Column {
  readonly samples: string[] = []
  /** By value; null: there are more than `MAX_VALUES`. */
  tallies: Map<string, Tally> | null = new Map()
  /** By cell, so that a cell that came before is not read again. */
  readonly #byCell = new Map<string, Tally>()

  /** The value of a cell; null if there are too many. */
  see(cell: string): Tally | null {
    if (this.samples.length < MAX_SAMPLES && isFilled(cell))
      this.samples.push(shorten(valueIn(cell), MAX_SAMPLE))
    return this.tallies && (this.#byCell.get(cell) ?? this.#read(cell, this.tallies))
  }

  #read(cell: string, tallies: Map<string, Tally>): Tally {
    const value = valueIn(cell)
    const tally = tallies.get(value) ?? newTally(value)
    tallies.set(value, tally)
    if (this.#byCell.size <= MAX_VALUES) this.#byCell.set(cell, tally)
    if (tallies.size > MAX_VALUES) {
      this.tallies = null
      this.#byCell.clear()
    }
    return tally
  }
}
