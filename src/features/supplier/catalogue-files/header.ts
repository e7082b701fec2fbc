/** Reads the line that names the columns. */
import { COLUMNS, type Column, REQUIRED } from './items.ts'
import { type Expectation, texts } from './texts.ts'

export interface Header {
  /** The names in lower case; '' for a column without a name. */
  names: string[]
  /** The index of each column of the template, from 0. */
  places: Map<Column, number>
}

/** Finds the columns of the template among the names. */
export function readHeader(cells: readonly string[]): Header {
  const names = cells.map((cell) => cell.toLowerCase())
  const found = COLUMNS.filter((column) => names.includes(column))
  return { names, places: new Map(found.map((column) => [column, names.indexOf(column)])) }
}

/** Reports a problem with a column. `also`: describes where else its name occurs. */
type Report = (column: string, expectation: Expectation, found: string, also?: string) => void

/** Reports the names that are unknown or doubled, and the required columns that are missing. */
export function checkNames(cells: readonly string[], { names, places }: Header, report: Report): void {
  const absent = COLUMNS.filter((column) => !places.has(column))
  for (const [place, name] of names.entries()) {
    const column = texts.column(place + 1)
    const found = cells[place] ?? ''
    const first = names.indexOf(name)
    if (!COLUMNS.some((known) => known === name)) {
      if (name !== '') report(column, texts.unknownColumn(meantBy(name, absent)), found)
    } else if (first < place) report(column, texts.expectations.doubledColumn, found, texts.column(first + 1))
  }
  for (const column of REQUIRED)
    if (!places.has(column)) report(column, texts.expectations.missingColumn, cells.join(', '))
}

/** The missing column that begins like a part of the name, or else a missing price or code column, because it is the most likely. */
function meantBy(name: string, absent: readonly Column[]): readonly Column[] {
  const near = absent.find((column) => name.includes(column.slice(0, 3)))
  const likely = near ?? REQUIRED.toReversed().find((column) => absent.includes(column))
  return likely ? [likely] : absent
}
