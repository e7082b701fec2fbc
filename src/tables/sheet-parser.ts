import type { CellFormats } from './cell-formats.ts'
import { UnreadableFileError } from './errors.ts'
import type { MergedCells, Row } from './row.ts'
import { createRuns } from './text-runs.ts'
import { texts } from './texts.ts'
import type { Attributes, XmlEvents } from './xml.ts'

/** The limits of a sheet (Excel specifications and limits); columns are ours. */
const MAX_ROW = 1_048_576
const MAX_CELL_LENGTH = 32_767
const MAX_COLUMNS = 500

export interface SheetParser {
  events: XmlEvents
  /** How many rows with cells are hidden so far. */
  hiddenRows(): number
  /** The complete rows since the last call that are not blank. */
  takeRows(): Row[]
  /** What follows the rows: the texts that are printed on each page, and cells that are merged over several rows. */
  readonly printed: string[]
  readonly merged: MergedCells[]
  /** What comes before the rows: the columns that are hidden. */
  readonly hiddenColumns: number[]
}

/** Page headers and footers (ECMA-376 part 1, section 18.3.1.46). */
const PRINTED = /^(odd|even|first)(Header|Footer)$/
const MAX_MERGED = 10_000

/** Collects the rows of a sheet from its XML (ECMA-376 part 1, section 18.3). Handlers throw `UnreadableFileError`. */
export function createSheetParser(strings: readonly string[], formats: CellFormats): SheetParser {
  let rows: Row[] = []
  let row: Row = { line: 0, cells: [] }
  /** Zero-based. */
  let column = -1
  let type = ''
  let style = 0
  let value = ''
  let isValue = false
  let isPhonetic = false
  let isHidden = false
  let hidden = 0
  let isPrinted = false
  const printed: string[] = []
  const merged: MergedCells[] = []
  const hiddenColumns: number[] = []
  const runs = createRuns()

  function merge(reference: string): void {
    const [from = '', to = ''] = reference.split(':')
    const [firstLine, lastLine] = [from, to].map((cell) => Number(/\d+$/.exec(cell)?.[0] ?? 0))
    if (
      firstLine === undefined ||
      lastLine === undefined ||
      lastLine <= firstLine ||
      merged.length >= MAX_MERGED
    )
      return
    merged.push({ firstColumn: columnOf(from), lastColumn: columnOf(to), firstLine, lastLine })
  }

  function hide({ min, max }: Attributes): void {
    for (let number = Number(min); number <= Math.min(Number(max), MAX_COLUMNS); number++)
      hiddenColumns.push(number - 1)
  }

  function endCell(): void {
    if (value === '') return
    if (column >= MAX_COLUMNS) throw new UnreadableFileError(row.line, texts.unreadable.columns(MAX_COLUMNS))
    const { text, number } = cellOf(type, value, style)
    while (row.cells.length < column) row.cells.push('')
    row.cells[column] = text
    if (formats.isStruck(style)) {
      row.struck ??= []
      row.struck.push(column)
    }
    if (number !== undefined) {
      row.numbers ??= []
      row.numbers[column] = number
    }
  }

  /** The text of a cell by its type: a number, a shared or own string, a Boolean, an error or a date. */
  function cellOf(cellType: string, raw: string, cellStyle: number): { text: string; number?: number } {
    if (cellType === 's') return { text: decodeEscapes(strings[Number(raw)] ?? '') }
    if (cellType === 'b') return { text: raw === '1' ? 'TRUE' : 'FALSE' }
    const number = Number(raw)
    if ((cellType === '' || cellType === 'n') && Number.isFinite(number) && raw.trim() !== '')
      return formats.show(number, cellStyle)
    // A date that is written as text, or an error.
    if (cellType === 'd' || cellType === 'e') return { text: raw, number: Number.NaN }
    return { text: decodeEscapes(raw) }
  }

  return {
    events: {
      open(name, attributes) {
        runs.open(name, attributes)
        if (name === 'row') {
          const line = Number(attributes.r ?? row.line + 1)
          if (!(line > row.line && line <= MAX_ROW))
            throw new UnreadableFileError(row.line, texts.unreadable.rowNumber)
          row = { line, cells: [] }
          isHidden = /^(1|true)$/.test(attributes.hidden ?? '')
          column = -1
        } else if (name === 'c') {
          column = attributes.r === undefined ? column + 1 : columnOf(attributes.r)
          type = attributes.t ?? ''
          style = Number(attributes.s ?? 0)
          value = ''
        } else if (name === 'v' || name === 't') isValue = !isPhonetic
        else if (name === 'rPh') isPhonetic = true
        else if (name === 'col' && /^(1|true)$/.test(attributes.hidden ?? '')) hide(attributes)
        else if (name === 'mergeCell') merge(attributes.ref ?? '')
        else if (PRINTED.test(name)) {
          isPrinted = true
          printed.push('')
        }
      },
      text(text) {
        if (isPrinted) printed[printed.length - 1] += text
        if (!isValue) return
        value += runs.shown(text, value)
        if (value.length > MAX_CELL_LENGTH) throw new UnreadableFileError(row.line, texts.unreadable.longCell)
      },
      close(name) {
        runs.close(name)
        if (name === 'v' || name === 't') isValue = false
        else if (PRINTED.test(name)) isPrinted = false
        else if (name === 'rPh') isPhonetic = false
        else if (name === 'c') endCell()
        else if (name === 'row' && row.cells.some((cell) => cell.trim() !== '')) {
          rows.push(row)
          if (isHidden) hidden++
        }
      },
    },
    hiddenRows: () => hidden,
    printed,
    merged,
    hiddenColumns,
    takeRows() {
      const taken = rows
      rows = []
      return taken
    },
  }
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
