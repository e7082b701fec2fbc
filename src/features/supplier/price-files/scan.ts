/** Reads every row of the chosen sheet once. */
import { UnreadableFileError } from '../tables/errors.ts'
import { type Currency, DECIMALS, readPrice, shorten } from '../tables/prices.ts'
import type { OpenFile, Row } from '../tables/sheet.ts'
import { texts as tableTexts } from '../tables/texts.ts'
import type { Item } from './batches.ts'
import { clean, isFilled, rowText, textOf } from './cells.ts'
import type { Choice } from './choice.ts'
import { Columns } from './columns.ts'
import { type Past, pastOf } from './compare.ts'
import { FileTexts } from './file-texts.ts'
import type { Outline, ReadOptions } from './found.ts'
import { Items, MAX_CELL, placeOfRow } from './items.ts'
import { createRowReader, type Problem } from './rows.ts'
import type { Table } from './table.ts'
import { columnFor, MONEY } from './uses.ts'

/** The most rows of a table. There is a limit, because their codes are kept in memory. */
const MAX_ROWS = 500_000
/** How many rows page one shows of a table, and above it. Nobody reads more. */
const [SHOWN_ROWS, MAX_ABOVE] = [6, 1_000]
/** How many sample cells page one shows for a column whose values it does not show. */
const MAX_SAMPLES = 3

/** Collects what is found in the rows of a file. */
export class Scan {
  readonly headings: readonly string[]
  readonly past: Past | null
  /** The names of the columns. A column whose heading is blank or occurs twice has a number in its name. */
  readonly labels: readonly string[]
  readonly columns: Columns
  readonly texts = new FileTexts()
  /** Null if there is no complete choice, which says what an item is. */
  readonly items: Items | null
  /** How many rows the table has. */
  rows = 0
  readonly #table: Table
  readonly #readRow: ((row: Row) => Item | Problem) | null
  readonly #above: Outline['above'] = []
  readonly #shown: Outline['rows'] = []
  /** The places of the code and the price, even if they are only suggested; -1 if there is none. */
  readonly #code: number
  readonly #price: number
  readonly #currency: Currency
  #ambiguousPrice: string | null = null

  constructor(table: Table, choice: Choice | null, { received, leftOut }: ReadOptions) {
    const { sheet, headings, filled, draft } = table
    this.#table = table
    this.headings = headings
    this.#code = filled.findIndex(({ use }) => use === 'code')
    this.#price = filled.findIndex(({ use }) => use === 'price')
    this.#currency = draft?.money ? MONEY[draft.money].currency : 'AUD'
    this.past = pastOf(received, headings)
    this.labels = headings.map((heading, index) => {
      const isOne = headings.indexOf(heading) === headings.lastIndexOf(heading)
      const column = tableTexts.column(index + 1)
      return heading === '' ? column : isOne ? heading : `${heading} (${column})`
    })
    this.columns = new Columns(headings.length)
    this.items = choice && new Items(this.#code, this.past, this.texts, this.labels)
    const shape = { width: headings.length, delimiter: sheet.delimiter }
    this.#readRow =
      choice && createRowReader(choice, shape, new Set(leftOut.map((code) => code.toLowerCase())))
  }

  /** Reads all rows. Throws `UnreadableFileError`. */
  async read(file: OpenFile): Promise<void> {
    const { sheet, headings, headingsRow } = this.#table
    const add = (where: string, text: string, row: number | null = null) =>
      this.texts.add({ where, text, row, code: '' })
    for (const { name } of file.sheets) add('sheets', clean(name))
    for (const heading of headings) add('headings', heading, headingsRow)
    for await (const rows of sheet.rows())
      for (const row of rows) {
        if (row.line > headingsRow) this.#see(row)
        else if (row.line < headingsRow) {
          const text = rowText(row.cells)
          if (this.#above.length < MAX_ABOVE) this.#above.push({ row: row.line, text })
          add(placeOfRow(row.cells, this.labels), text, row.line)
        }
      }
    for (const note of await sheet.notes()) add('notes', clean(note))
  }

  #see(row: Row): void {
    const { line, cells, numbers } = row
    const [code, price] = [this.#code, this.#price]
    if (++this.rows > MAX_ROWS) throw new UnreadableFileError(0, tableTexts.unreadable.rows(MAX_ROWS))
    if (this.#shown.length < SHOWN_ROWS) {
      const shown = this.labels.map((_, index) => shorten(textOf(cells[index]), MAX_CELL))
      this.#shown.push({ row: line, cells: shown })
    }
    const result = this.#readRow?.(row)
    // Cells count as values only in items, and in rows whose value is not ticked. Without a choice, a code and a price tell an item.
    const isInTable =
      code < 0 || price < 0
        ? cells.filter(isFilled).length > 1
        : isFilled(cells[code]) && isFilled(cells[price])
    const isWanted = result ? 'price' in result || result.reason === 'notTicked' : isInTable
    const tallies = isWanted ? this.columns.see(cells) : []
    if (result) this.items?.add(row, result, tallies)
    if (isInTable && this.#ambiguousPrice === null && numbers?.[price] === undefined)
      this.#ambiguousPrice = ambiguityOf(textOf(cells[price]), this.#currency)
  }

  /** What page one shows. */
  outline(file: OpenFile): Outline {
    const { sheet, headings, headingsRow, filled, draft, lastChoice } = this.#table
    const rows = sheet.hiddenRows()
    const isSamePrice = draft !== null && columnFor(draft, 'price') !== undefined
    return {
      lastChoice,
      sheets: file.sheets.map(({ name, isHidden }) => ({ name, isHidden })),
      sheet: sheet.name,
      headingsRow,
      above: this.#above,
      rows: this.#shown,
      columns: filled.map((column, index) => ({
        heading: headings[index] ?? '',
        number: index + 1,
        values: this.columns.tallies(index)?.map(({ value, count }) => ({ value, count })) ?? null,
        samples: this.#shown.flatMap(({ cells }) => cells[index] || []).slice(0, MAX_SAMPLES),
        ...column,
      })),
      // The money of the last choice counts only for the same price column. A person who filled in a draft has seen the heading.
      money: ((isSamePrice || lastChoice === null) && draft?.money) || null,
      units: draft?.units ?? 1,
      decimal: draft?.decimal ?? null,
      ambiguousPrice: this.#ambiguousPrice,
      remarks: [
        ...(file.encoding === 'windows-1252' ? [{ kind: 'windows1252' as const }] : []),
        ...(rows > 0 ? [{ kind: 'hiddenRows' as const, rows }] : []),
      ],
    }
  }
}

/** A price as it is written, if a decimal comma makes it another number than a decimal point; otherwise null. */
function ambiguityOf(cell: string, currency: Currency): string | null {
  if (!/,|\.\d{3}/.test(cell)) return null
  const [point, comma] = DECIMALS.map((decimal) => readPrice(cell, { decimal, currency }))
  return typeof comma === 'number' && comma !== point ? shorten(cell, MAX_CELL) : null
}
