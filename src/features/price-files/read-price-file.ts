/** Reads a price file: what page one shows of it, and what page two does. It runs in the process that reads files. */
import { UnreadableFileError } from '../../tables/errors.ts'
import { type Currency, DECIMALS, readPrice, shorten } from '../../tables/prices.ts'
import type { OpenFile, Row } from '../../tables/sheet.ts'
import { openFile } from '../../tables/table.ts'
import { texts as tableTexts } from '../../tables/texts.ts'
import { writeBatches } from './batches.ts'
import { clean, isFilled, placeOf, rowText, textOf } from './cells.ts'
import type { Choice } from './choice.ts'
import { Column, type Tally } from './columns.ts'
import { pastOf } from './compare.ts'
import { FileTexts } from './file-texts.ts'
import type { Missing, Outline, Reading, ReadOptions } from './found.ts'
import { Items, MAX_CELL, placeOfRow } from './items.ts'
import { foundIn, type Scanned } from './page-two.ts'
import { createRowReader } from './rows.ts'
import { fillIn, findTable, resolve, sheetOf, type Table } from './table.ts'
import { MONEY, type Use } from './uses.ts'

/** The most rows of a table: their codes are kept in memory. */
const MAX_ROWS = 500_000
/** How many rows page one shows of a table, and above it: nobody reads more. */
const [SHOWN_ROWS, MAX_ABOVE] = [6, 1_000]

/**
 * Reads a price file as it was chosen, and writes its items as upload requests to `itemsPath`: none if page one is to be filled in.
 * Throws `UnreadableFileError` and the errors of the file system.
 */
export async function readPriceFile(path: string, options: ReadOptions): Promise<Reading> {
  const file = await openFile(path)
  try {
    const table = await findTable(file, options)
    const { choice, missing } = choiceIn(file, table, options)
    const uses = fillIn(table)
    const scan = await scanRows(file, { table, choice, uses }, options)
    const outline = outlineOf(file, { table, uses }, scan)
    const unclear = choice ? unclearIn(choice, outline) : missing
    const { items } = scan
    const isReady = choice !== null && items !== null && unclear.length === 0
    const found = isReady
      ? foundIn({ ...scan, choice, items, headings: table.headings }, options.received)
      : null
    if (options.itemsPath !== undefined)
      await writeBatches(options.itemsPath, found && items ? items.sent() : [])
    return { outline, found, missing: unclear }
  } finally {
    file.close()
  }
}

/** The choice for this file, or why page one is to be filled in first. */
function choiceIn(file: OpenFile, table: Table, { draft, goOn }: ReadOptions): ReturnType<typeof resolve> {
  const { sheet, headingsRow, headings } = table
  if (!table.draft || (draft && !goOn)) return { choice: null, missing: [{ kind: 'notChosen' }] }
  if (sheetOf(file, table.draft) !== sheet)
    return { choice: null, missing: [{ kind: 'noSheet', name: table.draft.sheet }] }
  return resolve({ ...table.draft, sheet: sheet.name, headingsRow }, headings)
}

/** What only the rows of the file have shown: too many values to tick, and a price that may be two numbers. */
function unclearIn({ only, taxed, decimal }: Choice, { columns, ambiguousPrice: cell }: Outline): Missing[] {
  const many = [...only, ...(taxed ? [taxed] : [])].filter(
    ({ number }) => columns[number - 1]?.values === null,
  )
  return [
    ...many.map(({ heading }): Missing => ({ kind: 'manyValues', heading })),
    ...(decimal === null && cell !== null ? [{ kind: 'decimal' as const, cell }] : []),
  ]
}

/** What the rows of a file come to. */
interface Scan
  extends Pick<Scanned, 'past' | 'labels' | 'rows' | 'columns' | 'texts'>,
    Pick<Outline, 'above' | 'ambiguousPrice'> {
  /** The first rows of the table. */
  shown: Outline['rows']
  /** Null: nobody has said what is an item. */
  items: Items | null
}

/** How a table is read. */
interface Plan {
  table: Table
  choice: Choice | null
  uses: ReturnType<typeof fillIn>
}

/** Reads every row once. */
async function scanRows(file: OpenFile, plan: Plan, { received, leftOut }: ReadOptions): Promise<Scan> {
  const { sheet, headings, headingsRow } = plan.table
  const texts = new FileTexts()
  const [past, labels] = [pastOf(received, headings), labelsOf(headings)]
  const columns = headings.map(() => new Column())
  const items = plan.choice && new Items(plan.choice, past, texts, labels)
  const scan: Scan = {
    past,
    labels,
    rows: 0,
    columns,
    texts,
    above: [],
    shown: [],
    ambiguousPrice: null,
    items,
  }
  const see = createTableReader(plan, scan, leftOut)
  for (const { name } of file.sheets) texts.add({ where: 'sheets', text: clean(name), row: null, code: '' })
  for (const text of headings) texts.add({ where: 'headings', text, row: headingsRow, code: '' })
  for await (const rows of sheet.rows())
    for (const row of rows) {
      if (row.line > headingsRow) see(row)
      else if (row.line < headingsRow) {
        const text = rowText(row.cells)
        if (scan.above.length < MAX_ABOVE) scan.above.push({ row: row.line, text })
        texts.add({ where: placeOfRow(row.cells, labels), text, row: row.line, code: '' })
      }
    }
  for (const note of await sheet.notes())
    texts.add({ where: 'notes', text: clean(note), row: null, code: '' })
  return scan
}

/** The names of columns: with a number where the heading is blank or stands there twice. */
const labelsOf = (headings: readonly string[]): string[] =>
  headings.map((heading, index) => {
    if (heading !== '' && headings.indexOf(heading) === headings.lastIndexOf(heading)) return heading
    const column = tableTexts.column(index + 1)
    return heading === '' ? column : `${heading} (${column})`
  })

/** Creates a function that reads a row of the table. */
function createTableReader(
  { table, choice, uses }: Plan,
  scan: Scan,
  leftOut: readonly string[],
): (row: Row) => void {
  const { sheet, headings, draft } = table
  const { items, columns } = scan
  const without = new Set(leftOut.map((code) => code.toLowerCase()))
  const isLeftOut = (code: string) => without.size > 0 && without.has(code.toLowerCase())
  const shape = { width: headings.length, delimiter: sheet.delimiter, isLeftOut }
  const readRow = choice && createRowReader(choice, shape)
  const placeFor = (use: Use) => uses.findIndex((column) => column.use === use)
  const [code, price] = [placeFor('code'), placeFor('price')]
  const currency = draft?.money ? MONEY[draft.money].currency : 'AUD'
  /** Those of one row: an array for each would be garbage. */
  const tallies: Tally[] = []
  /** A title or a note has no values of columns; nor has an item without a price. */
  const isInTable = (cells: readonly string[]) =>
    code >= 0 && price >= 0
      ? isFilled(cells[code]) && isFilled(cells[price])
      : cells.filter(isFilled).length > 1

  return (row) => {
    const { line, cells, numbers } = row
    if (++scan.rows > MAX_ROWS) throw new UnreadableFileError(0, tableTexts.unreadable.rows(MAX_ROWS))
    if (scan.shown.length < SHOWN_ROWS)
      scan.shown.push({
        row: line,
        cells: headings.map((_, index) => shorten(textOf(cells[index]), MAX_CELL)),
      })
    const result = readRow?.(row)
    const isWanted = result ? 'price' in result || result.reason === 'notTicked' : isInTable(cells)
    tallies.length = 0
    for (let index = 0; isWanted && index < columns.length; index++) {
      const tally = columns[index]?.see(cells[index] ?? '')
      if (tally) tallies.push(tally)
    }
    if (result) items?.add(row, result, tallies)
    if (scan.ambiguousPrice === null && numbers?.[price] === undefined && isInTable(cells))
      scan.ambiguousPrice = ambiguityOf(textOf(cells[price]), currency)
  }
}

/** A price as it stands if the decimal comma makes it another number than the point; else null. */
function ambiguityOf(cell: string, currency: Currency): string | null {
  if (!/,|\.\d{3}/.test(cell)) return null
  const [point, comma] = DECIMALS.map((decimal) => readPrice(cell, { decimal, currency }))
  return typeof comma === 'number' && comma !== point ? shorten(cell, MAX_CELL) : null
}

function outlineOf(file: OpenFile, { table, uses }: Omit<Plan, 'choice'>, scan: Scan): Outline {
  const { sheet, headings, headingsRow, draft, lastChoice } = table
  const hiddenColumns = sheet.hiddenColumns()
  const rows = sheet.hiddenRows()
  const isSamePrice = draft?.price && placeOf(draft.price, headings) >= 0
  return {
    lastChoice,
    sheets: file.sheets.map(({ name, isHidden }) => ({ name, isHidden })),
    sheet: sheet.name,
    headingsRow,
    above: scan.above,
    rows: scan.shown,
    columns: headings.map((heading, index) => ({
      heading,
      number: index + 1,
      isHidden: hiddenColumns.has(index),
      values: scan.columns[index]?.tallies?.map(({ value, count }) => ({ value, count })) ?? null,
      samples: scan.columns[index]?.samples ?? [],
      use: 'ignored',
      ticked: [],
      ...uses[index],
    })),
    // Of the last choice, only for the same text; a person has seen the heading.
    money: ((isSamePrice || lastChoice === null) && draft?.money) || null,
    units: draft?.units ?? 1,
    decimal: draft?.decimal ?? null,
    ambiguousPrice: scan.ambiguousPrice,
    remarks: [
      ...(file.encoding?.startsWith('utf-16') ? [{ kind: 'utf16' as const }] : []),
      ...(file.encoding === 'windows-1252' ? [{ kind: 'windows1252' as const }] : []),
      ...(rows > 0 ? [{ kind: 'hiddenRows' as const, rows }] : []),
    ],
  }
}
