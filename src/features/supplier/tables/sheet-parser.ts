import type { CellFormats } from './cell-formats.ts'
import { UnreadableFileError } from './errors.ts'
import { NO_VALUE } from './prices.ts'
import { createRichText, MAX_CELL_LENGTH } from './rich-text.ts'
import type { Row } from './sheet.ts'
import { texts } from './texts.ts'
import { type Element, isSet } from './xml.ts'

const { columns, damagedWorkbook } = texts.unreadable
/** The last row that a sheet can have (Excel specifications and limits). The limit of columns is our own. */
const MAX_ROW = 1_048_576
const MAX_COLUMNS = 500
/** Page headers and footers (ECMA-376 part 1, section 18.3.1.46). */
const PRINTED = /^(odd|even|first)(Header|Footer)$/

/** Collects the rows of a sheet from the elements of its XML (ECMA-376 part 1, section 18.3). */
export class SheetParser {
  /** The complete rows that are not blank. */
  readonly rows: Row[] = []
  /** The texts that are printed on each page. The list is complete when all rows have been read. */
  readonly printed: string[] = []
  /** How many of the rows so far are hidden. */
  hiddenRows = 0
  readonly #strings: readonly string[]
  readonly #formats: CellFormats
  readonly #richText = createRichText()
  /** The row whose cells are being read. Its line is known only at its end. */
  #row: Row = { line: 0, cells: [] }
  #lastLine = 0
  #column = -1
  #hasFormula = false

  constructor(strings: readonly string[], formats: CellFormats) {
    this.#strings = strings
    this.#formats = formats
  }

  /** Sees each element that ends. Throws `UnreadableFileError`. */
  see(element: Element): void {
    const { name } = element
    if (name === 'v') this.#richText.see(element)
    else if (name === 'c') this.#endCell(element)
    else if (name === 'row') this.#endRow(element)
    else if (name === 'f') this.#hasFormula = true
    else if (PRINTED.test(name)) this.printed.push(element.text.slice(0, MAX_CELL_LENGTH))
    else this.#richText.see(element)
  }

  #endCell({ attributes: { r, t = '', s } }: Element): void {
    const column = r === undefined ? this.#column + 1 : columnOf(r)
    this.#column = column
    const text = this.#richText.take()
    const isMissing = text === '' && this.#hasFormula && t !== 'str'
    this.#hasFormula = false
    const value = isMissing ? NO_VALUE : text
    if (value === '') return
    if (column >= MAX_COLUMNS) throw new UnreadableFileError(this.#lastLine + 1, columns(MAX_COLUMNS))
    const row = this.#row
    const style = Number(s ?? 0)
    while (row.cells.length < column) row.cells.push('')
    const number = t === '' || t === 'n' ? Number(value.trim() || Number.NaN) : Number.NaN
    if (Number.isFinite(number)) {
      row.cells[column] = this.#formats.show(number, style)
      row.numbers ??= []
      row.numbers[column] = number
    } else row.cells[column] = this.#textOf(isMissing ? 'e' : t, value)
    if (!this.#formats.isStruck(style)) return
    row.struck ??= []
    row.struck.push(column)
  }

  /** Returns the text of a cell that is no number: a shared text, a text of its own, a Boolean, an error or a date. */
  #textOf(type: string, value: string): string {
    if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
    const text = type === 's' ? this.#strings[Number(value)] : value
    if (text === undefined) throw new UnreadableFileError(this.#lastLine + 1, damagedWorkbook)
    return decodeEscapes(text)
  }

  #endRow({ attributes: { r, hidden } }: Element): void {
    const row = this.#row
    row.line = Number(r ?? this.#lastLine + 1)
    if (!(Number.isInteger(row.line) && row.line > this.#lastLine && row.line <= MAX_ROW))
      throw new UnreadableFileError(this.#lastLine + 1, damagedWorkbook)
    if (row.cells.findLast((cell) => cell.trim() !== '') !== undefined) {
      this.rows.push(row)
      if (isSet(hidden)) this.hiddenRows++
    }
    this.#lastLine = row.line
    this.#row = { line: 0, cells: [] }
    this.#column = -1
  }
}

/** The zero-based column of a cell such as `BC12`. */
function columnOf(cell: string): number {
  let column = 0
  // The last five bits of a letter are its place in the alphabet.
  for (let at = 0; at < 3 && cell.charCodeAt(at) > 64; at++) column = column * 26 + (cell.charCodeAt(at) & 31)
  return Math.max(column, 1) - 1
}

/** Control characters are written as `_x000D_` (ECMA-376 part 1, section 22.9.2.19). */
const decodeEscapes = (text: string) =>
  text.includes('_x')
    ? text.replace(/_x([0-9a-f]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text
