/** Reads a catalogue file that follows the template: all of its items, or else its problems. */
import { type Fault, faultOf } from './cells.ts'
import { ImportError } from './errors.ts'
import { checkNames, type Header, readHeader } from './header.ts'
import { texts as importTexts } from './import-texts.ts'
import { BOUNDS, type Column, type Item, keyOf, OPTIONAL } from './items.ts'
import { type Cells, RefusedFileError, readLines, splitterFor } from './lines.ts'
import { Problems, shown } from './problems.ts'
import { texts } from './texts.ts'

/**
 * Reads a streamed file without blocking other requests. Throws `ImportError` (400) with all of its problems, and the errors of
 * `chunks`.
 */
export async function readFile(chunks: AsyncIterable<Uint8Array>): Promise<Item[]> {
  const reader = new Reader()
  const { problems, items } = reader
  try {
    for await (const lines of readLines(chunks)) for (const line of lines) reader.read(line)
    reader.end()
  } catch (error) {
    if (!(error instanceof RefusedFileError)) throw error
    problems.refused = error.message
  }
  if (problems.isEmpty) return items
  throw new ImportError(400, 'wrong_file', importTexts.errors.wrongFile, problems.all)
}

/** Whether a line has more than blanks and separators. Other lines aren't split, because that would take long. */
const NOT_BLANK = /[^\s,;]/

class Reader {
  readonly items: Item[] = []
  readonly problems = new Problems()
  #line = 0
  #table: { header: Header; split(line: string): Cells } | undefined
  #itemLines = 0
  /** The line number of each code, by `keyOf`. */
  readonly #codes = new Map<string, number>()

  /** Reads the next line. Throws `RefusedFileError`. */
  read(text: string): void {
    this.#line++
    if (!NOT_BLANK.test(text)) return
    const split = this.#table?.split ?? splitterFor(text)
    const line = split(text)
    if (line.cells.length > BOUNDS.cells) throw new RefusedFileError(texts.refused.manyCells(this.#line))
    if (this.#table) this.#readLine(line, this.#table.header)
    else this.#table = { header: this.#readNames(line, text), split }
  }

  /** Throws `RefusedFileError` for a file without items. */
  end(): void {
    if (!this.#table) throw new RefusedFileError(texts.refused.empty)
    if (this.#itemLines === 0) throw new RefusedFileError(texts.refused.noItems)
  }

  #readNames({ cells, broken }: Cells, text: string): Header {
    if (broken !== undefined) this.#add(texts.column(cells.length + 1), 'quote', broken)
    const header = readHeader(cells)
    const isHeader = header.places.size > 0
    // If the only text in the line isn't a column name, it is a title or another file format.
    if (isHeader || cells.filter((cell) => cell !== '').length > 1)
      checkNames(cells, header, (...problem) => this.problems.add(this.#line, ...problem))
    if (!isHeader) throw new RefusedFileError(texts.refused.noHeader(shown(text)))
    return header
  }

  #readLine({ cells, broken }: Cells, header: Header): void {
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
