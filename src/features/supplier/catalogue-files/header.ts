/** Reads the line that names the columns. */
import { COLUMNS, type Column, REQUIRED } from './items.ts'
import { type Expectation, texts } from './texts.ts'

/** A problem with the name of a column, or a missing column. */
interface NameFault {
  column: string
  expectation: Expectation
  found: string
  /** Describes where else the name occurs. */
  also?: string
}

export interface Header {
  /** The names in lower case; '' for a column without a name. */
  names: string[]
  /** The index of each column of the template, from 0. */
  places: Map<Column, number>
  faults: NameFault[]
}

/** Finds the columns of the template among the names. */
export function readHeader(cells: readonly string[]): Header {
  const names = cells.map((cell) => cell.toLowerCase())
  const found = COLUMNS.filter((column) => names.includes(column))
  const absent = COLUMNS.filter((column) => !names.includes(column))
  const missing = REQUIRED.filter((column) => absent.includes(column))
  const { missingColumn } = texts.expectations
  return {
    names,
    places: new Map(found.map((column) => [column, names.indexOf(column)])),
    faults: [
      ...cells.flatMap((name, place) => nameFault(name, place, { names, absent })),
      ...missing.map((column) => ({ column, expectation: missingColumn, found: cells.join(', ') })),
    ],
  }
}

function nameFault(
  name: string,
  place: number,
  { names, absent }: { names: readonly string[]; absent: readonly Column[] },
): NameFault[] {
  const key = name.toLowerCase()
  if (key === '') return []
  const column = texts.column(place + 1)
  if (!COLUMNS.some((one) => one === key))
    return [{ column, expectation: texts.unknownColumn(suggestionFor(key, absent), absent), found: name }]
  const first = names.indexOf(key)
  if (first === place) return []
  return [
    { column, expectation: texts.expectations.doubledColumn, found: name, also: texts.column(first + 1) },
  ]
}

/** The most similar name among the missing columns, or else a missing price or code column, because it is the most likely. */
function suggestionFor(name: string, absent: readonly Column[]): Column | undefined {
  const near = absent.find(
    (column) =>
      name.includes(column) || (name.length > 2 && column.startsWith(name)) || distance(name, column) <= 2,
  )
  return near ?? REQUIRED.toReversed().find((column) => absent.includes(column))
}

/** Levenshtein's distance: how many characters must be added, removed or replaced. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [at, char] of [...a].entries()) {
    const next = [at + 1]
    for (let to = 0; to < b.length; to++) {
      const replaced = (row[to] ?? 0) + (char === b[to] ? 0 : 1)
      next.push(Math.min(replaced, (row[to + 1] ?? 0) + 1, (next[to] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
