import type { CellFormats } from './cell-formats.ts'
import { UnreadableFileError } from './errors.ts'
import type { Row } from './sheet.ts'
import { createRuns } from './text-runs.ts'
import { texts } from './texts.ts'
import type { Attributes, XmlEvents } from './xml.ts'

/** The limits of a sheet (Excel specifications and limits); columns are ours. */
const MAX_ROW = 1_048_576
export const MAX_CELL_LENGTH = 32_767
const MAX_COLUMNS = 500

export interface SheetParser {
  events: XmlEvents
  /** How many rows with cells are hidden so far. */
  hiddenRows(): number
  /** The complete rows since the last call that are not blank. */
  takeRows(): Row[]
  /** What follows the rows: the texts that are printed on each page. */
  readonly printed: string[]
}

/** Page headers and footers (ECMA-376 part 1, section 18.3.1.46). */
const PRINTED = /^(odd|even|first)(Header|Footer)$/

/** Where the parser is in the sheet, and what it has found. */
interface SheetState {
  readonly strings: readonly string[]
  readonly formats: CellFormats
  readonly runs: ReturnType<typeof createRuns>
  rows: Row[]
  row: Row
  isHidden: boolean
  hiddenRows: number
  /** The cell: its column, zero-based, its type and style, and its text so far. */
  column: number
  type: string
  style: number
  value: string
  isValue: boolean
  isPhonetic: boolean
  isPrinted: boolean
  readonly printed: string[]
  readonly hiddenColumns: Set<number>
}

/**
 * Collects the rows of a sheet from its XML (ECMA-376 part 1, section 18.3). `hiddenColumns` gets the columns that are
 * hidden. Handlers throw `UnreadableFileError`.
 */
export function createSheetParser(
  strings: readonly string[],
  formats: CellFormats,
  hiddenColumns: Set<number>,
): SheetParser {
  const state: SheetState = {
    strings,
    formats,
    runs: createRuns(),
    rows: [],
    row: { line: 0, cells: [] },
    isHidden: false,
    hiddenRows: 0,
    column: -1,
    type: '',
    style: 0,
    value: '',
    isValue: false,
    isPhonetic: false,
    isPrinted: false,
    printed: [],
    hiddenColumns,
  }
  return {
    events: {
      open: (name, attributes) => openElement(state, name, attributes),
      text: (text) => addText(state, text),
      close: (name) => closeElement(state, name),
    },
    hiddenRows: () => state.hiddenRows,
    printed: state.printed,
    takeRows() {
      const taken = state.rows
      state.rows = []
      return taken
    },
  }
}

function openElement(state: SheetState, name: string, attributes: Attributes): void {
  state.runs.open(name, attributes)
  if (name === 'row') openRow(state, attributes)
  else if (name === 'c') {
    state.column = attributes.r === undefined ? state.column + 1 : columnOf(attributes.r)
    state.type = attributes.t ?? ''
    state.style = Number(attributes.s ?? 0)
    state.value = ''
  } else if (name === 'v' || name === 't') state.isValue = !state.isPhonetic
  else if (name === 'rPh') state.isPhonetic = true
  else if (name === 'col') openColumns(state, attributes)
  else if (PRINTED.test(name)) {
    state.isPrinted = true
    state.printed.push('')
  }
}

const isTrue = (flag = '') => /^(1|true)$/.test(flag)

function openRow(state: SheetState, { r, hidden }: Attributes): void {
  const line = Number(r ?? state.row.line + 1)
  if (!(Number.isInteger(line) && line > state.row.line && line <= MAX_ROW))
    throw new UnreadableFileError(state.row.line, texts.unreadable.rowNumber)
  state.row = { line, cells: [] }
  state.isHidden = isTrue(hidden)
  state.column = -1
}

/** Notes which of these columns are hidden, among those that are read. */
function openColumns({ hiddenColumns }: SheetState, { min, max, hidden }: Attributes): void {
  if (!isTrue(hidden)) return
  for (let number = 1; number <= Math.min(Number(max), MAX_COLUMNS); number++)
    if (number >= Number(min)) hiddenColumns.add(number - 1)
}

function addText(state: SheetState, text: string): void {
  if (state.isPrinted) state.printed.push(`${state.printed.pop()}${text}`.slice(0, MAX_CELL_LENGTH))
  if (!state.isValue) return
  state.value += state.runs.shown(text, state.value)
  if (state.value.length > MAX_CELL_LENGTH)
    throw new UnreadableFileError(state.row.line, texts.unreadable.longCell)
}

function closeElement(state: SheetState, name: string): void {
  state.runs.close(name)
  if (name === 'v' || name === 't') state.isValue = false
  else if (PRINTED.test(name)) state.isPrinted = false
  else if (name === 'rPh') state.isPhonetic = false
  else if (name === 'c') closeCell(state)
  else if (name === 'row' && state.row.cells.some((cell) => cell.trim() !== '')) {
    state.rows.push(state.row)
    if (state.isHidden) state.hiddenRows++
  }
}

function closeCell(state: SheetState): void {
  const { row, column, value, style, formats } = state
  if (value === '') return
  if (column >= MAX_COLUMNS) throw new UnreadableFileError(row.line, texts.unreadable.columns(MAX_COLUMNS))
  const { text, number } = cellOf(state)
  while (row.cells.length < column) row.cells.push('')
  row.cells[column] = text
  if (formats.isStruck(style)) {
    row.struck ??= []
    if (!row.struck.includes(column)) row.struck.push(column)
  }
  if (number !== undefined) {
    row.numbers ??= []
    row.numbers[column] = number
  }
}

/** The text of a cell by its type: a number, a shared or own string, a Boolean, an error or a date. */
function cellOf({ type, value, style, strings, formats, row }: SheetState): {
  text: string
  number?: number
} {
  if (type === 's') {
    const shared = strings[Number(value)]
    if (shared === undefined) throw new UnreadableFileError(row.line, texts.unreadable.noSharedText)
    return { text: decodeEscapes(shared) }
  }
  if (type === 'b') return { text: value === '1' ? 'TRUE' : 'FALSE' }
  const number = Number(value)
  if ((type === '' || type === 'n') && Number.isFinite(number) && value.trim() !== '')
    return formats.show(number, style)
  // A date that is written as text, or an error.
  if (type === 'd' || type === 'e') return { text: value, number: Number.NaN }
  return { text: decodeEscapes(value) }
}

/** The zero-based column of a cell such as `BC12`. */
function columnOf(cell: string): number {
  let column = 0
  for (const letter of /^[A-Z]{1,3}/i.exec(cell)?.[0].toUpperCase() ?? 'A')
    column = column * 26 + letter.charCodeAt(0) - 64
  return column - 1
}

/** Control characters are written as `_x000D_` (ECMA-376 part 1, section 22.9.2.19). */
const decodeEscapes = (text: string) =>
  text.includes('_x')
    ? text.replace(/_x([0-9a-f]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text
