/** The values of the columns of a table. */
import { shorten } from '../../tables/prices.ts'
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

/** Counts the values of a column. What a cell costs does not depend on how many values there are. */
export class Column {
  readonly samples: string[] = []
  /** By value; null: there are more than `MAX_VALUES`. */
  #tallies: Map<string, Tally> | null = new Map()
  /** By cell, so that a cell that came before is not read again. */
  readonly #byCell = new Map<string, Tally>()
  /** A short row has many blank cells behind it. */
  readonly #blank: Tally = { value: '', count: 0, items: [] }

  /** Counts a cell. Returns its value if that has not had enough items. */
  see(cell: string): Tally | null {
    if (this.samples.length < MAX_SAMPLES && isFilled(cell))
      this.samples.push(shorten(valueIn(cell), MAX_SAMPLE))
    if (this.#tallies === null) return null
    const tally = cell === '' ? this.#blank : (this.#byCell.get(cell) ?? this.#read(cell, this.#tallies))
    tally.count++
    return tally.items.length < MAX_ITEMS ? tally : null
  }

  #read(cell: string, tallies: Map<string, Tally>): Tally {
    const value = valueIn(cell)
    if (value === '') return this.#blank
    const tally = tallies.get(value) ?? { value, count: 0, items: [] }
    tallies.set(value, tally)
    if (this.#byCell.size <= MAX_VALUES) this.#byCell.set(cell, tally)
    if (tallies.size > MAX_VALUES) {
      this.#tallies = null
      this.#byCell.clear()
    }
    return tally
  }

  /** The values, the most frequent first; null: too many. */
  get tallies(): Tally[] | null {
    const all = this.#tallies && [...this.#tallies.values(), ...(this.#blank.count > 0 ? [this.#blank] : [])]
    return all && all.length <= MAX_VALUES ? all.sort((a, b) => b.count - a.count) : null
  }
}
