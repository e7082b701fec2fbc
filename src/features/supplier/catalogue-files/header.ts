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
    return [{ column, expectation: texts.unknownColumn(meantBy(key, absent)), found: name }]
  const first = names.indexOf(key)
  if (first === place) return []
  return [
    { column, expectation: texts.expectations.doubledColumn, found: name, also: texts.column(first + 1) },
  ]
}

/** The missing column that begins like a part of the name, or else a missing price or code column, because it is the most likely. */
function meantBy(name: string, absent: readonly Column[]): readonly Column[] {
  const near = absent.find((column) => name.includes(column.slice(0, 3)))
  const likely = near ?? REQUIRED.toReversed().find((column) => absent.includes(column))
  return likely ? [likely] : absent
}
