/** The values of the columns of a table. */
import { shorten } from '../../tables/prices.ts'
import { isFilled, valueIn } from './cells.ts'
import type { Value } from './found.ts'
import { MAX_VALUES } from './uses.ts'

/** The characters of the values that are counted; of a file with more, columns with the longest lists are as if they had more values. */
const MAX_CHARACTERS = 250_000
const MAX_SAMPLES = 3

/** A value with the first item that has it. */
export interface Tally<Row> extends Value {
  first: Row | null
}

interface Column<Row> {
  /** By value; null: there are too many. */
  tallies: Map<string, Tally<Row>> | null
  /** By cell, so that a cell that came before is not read again. */
  byCell: Map<string, Tally<Row>>
  characters: number
  samples: string[]
}

/** Counts the values of each column. What a row costs does not depend on how many values there are. */
export function createColumns<Row>(width: number) {
  const columns = Array.from(
    { length: width },
    (): Column<Row> => ({ tallies: new Map(), byCell: new Map(), characters: 0, samples: [] }),
  )
  let characters = 0

  /** Stops counting. */
  function drop(column: Column<Row>): void {
    characters -= column.characters
    column.tallies = null
    column.characters = 0
    column.byCell.clear()
  }

  function newTally(column: Column<Row>, tallies: Map<string, Tally<Row>>, value: string) {
    const tally: Tally<Row> = { value, count: 0, first: null }
    column.characters += value.length
    characters += value.length
    tallies.set(value, tally)
    if (tallies.size > MAX_VALUES) drop(column)
    else if (characters > MAX_CHARACTERS)
      drop(columns.reduce((a, b) => (b.characters > a.characters ? b : a)))
    return tally
  }

  return {
    /** Counts the cells of a row. Returns the values that no item has had. */
    see(cells: readonly string[]): Tally<Row>[] {
      const without: Tally<Row>[] = []
      for (let index = 0; index < width; index++) {
        const column = columns[index]
        if (!column) continue
        const cell = cells[index] ?? ''
        if (column.samples.length < MAX_SAMPLES && cell !== '' && isFilled(cell))
          column.samples.push(shorten(valueIn(cell), 60))
        const { tallies } = column
        if (tallies === null) continue
        let tally = column.byCell.get(cell)
        if (!tally) {
          const value = valueIn(cell)
          tally = tallies.get(value) ?? newTally(column, tallies, value)
          if (column.byCell.size < 2 * MAX_VALUES) column.byCell.set(cell, tally)
        }
        tally.count++
        if (tally.first === null) without.push(tally)
      }
      return without
    },
    /** The values of a column, the most frequent first; null: too many. */
    tallies: (index: number): Tally<Row>[] | null => {
      const found = columns[index]?.tallies
      return found ? [...found.values()].sort((a, b) => b.count - a.count) : null
    },
    samples: (index: number): string[] => columns[index]?.samples ?? [],
  }
}
