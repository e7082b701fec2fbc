/** Reads a catalogue file that follows the template: all of its items, or else its problems. */
import { type Fault, faultOf } from './cells.ts'
import { type Header, readHeader } from './header.ts'
import { BOUNDS, type Column, type Item, keyOf, OPTIONAL } from './items.ts'
import { type Cells, cellsOf, RefusedFileError, readLines, separatorOf } from './lines.ts'
import { type FileProblems, Problems, shown } from './problems.ts'
import { texts } from './texts.ts'

export type ReadFile = { ok: true; items: Item[] } | { ok: false; problems: FileProblems }

/** Reads a streamed file without blocking other requests. A file with problems yields no items. Throws only errors of `chunks`. */
export async function readTemplate(chunks: AsyncIterable<Uint8Array>): Promise<ReadFile> {
  const reader = new Reader()
  try {
    for await (const lines of readLines(chunks)) for (const line of lines) reader.read(line)
    reader.end()
  } catch (error) {
    if (!(error instanceof RefusedFileError)) throw error
    reader.problems.refuse(error.message)
  }
  const { problems, items } = reader
  return problems.isEmpty ? { ok: true, items } : { ok: false, problems: problems.all }
}

/** The state for reading the lines after the column names. */
interface Table {
  header: Header
  separator: string
  notBlank: RegExp
}

class Reader {
  readonly items: Item[] = []
  readonly problems = new Problems()
  #line = 0
  #table: Table | undefined
  #itemLines = 0
  /** The line number of each code, by `keyOf`. */
  readonly #codes = new Map<string, number>()

  /** Reads the next line. Throws `RefusedFileError`. */
  read(text: string): void {
    this.#line++
    if (this.#table) this.#readLine(text, this.#table)
    else if (/[^\s,;]/.test(text)) this.#readNames(text)
  }

  /** Throws `RefusedFileError` for a file without items. */
  end(): void {
    if (!this.#table) throw new RefusedFileError(texts.refused.empty)
    if (this.#itemLines === 0) throw new RefusedFileError(texts.refused.noItems)
  }

  #readNames(text: string): void {
    const separator = separatorOf(text)
    const { cells, broken } = this.#cellsOf(text, separator)
    if (broken !== undefined) this.#add(texts.column(cells.length + 1), 'quote', broken)
    const header = readHeader(cells)
    const isHeader = header.places.size > 0
    // If the only text in the line isn't a column name, it is a title or another file format.
    const faults = isHeader || cells.filter((cell) => cell !== '').length > 1 ? header.faults : []
    for (const { column, expectation, found, also } of faults)
      this.problems.add(this.#line, column, expectation, found, also)
    if (!isHeader) throw new RefusedFileError(texts.refused.noHeader(shown(text)))
    this.#table = { header, separator, notBlank: new RegExp(`[^\\s${separator}]`) }
  }

  #readLine(text: string, { header, separator, notBlank }: Table): void {
    // Lines that contain only separators aren't split, because that would take long.
    if (!notBlank.test(text)) return
    const { cells, broken } = this.#cellsOf(text, separator)
    if (broken === undefined && cells.every((cell) => cell === '')) return
    if (++this.#itemLines > BOUNDS.items) throw new RefusedFileError(texts.refused.manyItems)
    const { names } = header
    const nameOf = (place: number) => shown(names[place] ?? '') || texts.column(place + 1)
    const surplus = cells.findIndex((cell, place) => place >= names.length && cell !== '')
    // If the cells of a line don't match the columns, further problems would mislead.
    if (broken !== undefined) this.#add(nameOf(cells.length), 'quote', broken)
    else if (surplus >= 0) this.#add(nameOf(surplus), 'surplus', cells[surplus] ?? '')
    else this.#readItem(cells, header)
  }

  #cellsOf(text: string, separator: string): Cells {
    const split = cellsOf(text, separator)
    if (split.cells.length > BOUNDS.cells) throw new RefusedFileError(texts.refused.manyCells(this.#line))
    return split
  }

  #readItem(cells: readonly string[], { names, places }: Header): void {
    for (const [column, place] of places) {
      const cell = cells[place] ?? ''
      const fault = faultOf(column, cell)
      if (fault) this.#add(column, fault, cell)
      else if (column === 'code') this.#checkDoubled(cell)
    }
    const unnamed = cells.findIndex((cell, place) => names[place] === '' && cell !== '')
    if (unnamed >= 0) this.#add(texts.column(unnamed + 1), 'unnamed', cells[unnamed] ?? '')
    if (this.problems.isEmpty) this.items.push(itemOf((column) => cells[places.get(column) ?? -1] ?? ''))
  }

  #checkDoubled(code: string): void {
    const key = keyOf(code)
    const first = this.#codes.get(key)
    if (first === undefined) this.#codes.set(key, this.#line)
    else this.#add('code', 'doubledCode', code, texts.line(first))
  }

  #add(column: string, fault: Fault, found: string, also?: string): void {
    this.problems.add(this.#line, column, texts.expectations[fault], found, also)
  }
}

function itemOf(cellOf: (column: Column) => string): Item {
  const item: Item = { code: cellOf('code'), price: Number(cellOf('price')) }
  for (const column of OPTIONAL) {
    const cell = cellOf(column)
    if (cell !== '') item[column] = cell
  }
  return item
}
