/** Reads a price file: what page one shows of it, and what page two does. It runs in the process that reads files. */
import { UnreadableFileError } from '../../tables/errors.ts'
import { type Currency, DECIMALS, readPrice, shorten } from '../../tables/prices.ts'
import type { OpenFile, Row } from '../../tables/sheet.ts'
import { openFile } from '../../tables/table.ts'
import { texts as tableTexts } from '../../tables/texts.ts'
import { type Item, writeBatches } from './batches.ts'
import { clean, isFilled, placeOf, rowText, textOf } from './cells.ts'
import type { Choice } from './choice.ts'
import { createColumns } from './columns.ts'
import { type Past, pastOf } from './compare.ts'
import { createTexts, type Texts } from './file-texts.ts'
import type { Missing, Outline, Reading, ReadOptions } from './found.ts'
import { type Candidate, createItems, placeOfRow } from './items.ts'
import { foundIn } from './page-two.ts'
import { createRowReader } from './rows.ts'
import { fillIn, findTable, isSheetOf, resolve, type Table } from './table.ts'
import { MONEY } from './uses.ts'

/** The most rows of a table: their codes are kept in memory. */
const MAX_ROWS = 500_000
/** How many rows page one shows of a table, and above it: nobody reads more. */
const [SHOWN_ROWS, MAX_ABOVE] = [6, 1_000]
const MAX_CELL = 200

/**
 * Reads a price file as it was chosen, and writes its items as upload requests to `itemsPath` if page two can be shown. Throws
 * `UnreadableFileError` and the errors of the file system.
 */
export async function readPriceFile(path: string, options: ReadOptions): Promise<Reading> {
  const file = await openFile(path)
  try {
    const table = await findTable(file, options)
    const { reading, items } = await readTable(file, table, options)
    if (options.itemsPath !== undefined) await writeBatches(options.itemsPath, items)
    return reading
  } finally {
    file.close()
  }
}

/** What the rows of a file come to. */
interface Scan {
  rows: number
  above: Outline['above']
  shown: Outline['rows']
  columns: ReturnType<typeof createColumns<Candidate>>
  texts: Texts
  /** Null: nobody has said what is an item. */
  items: ReturnType<typeof createItems> | null
  /** What each column has in every item; null: they differ. */
  constants: (string | null | undefined)[]
  /** A price that reads differently under the two decimal signs. */
  ambiguousPrice: string | null
}

/** How a table is read. */
interface Plan {
  file: OpenFile
  table: Table
  uses: ReturnType<typeof fillIn>
  choice: Choice | null
  past: Past | null
  labels: string[]
}

async function readTable(
  file: OpenFile,
  table: Table,
  options: ReadOptions,
): Promise<{ reading: Reading; items: Item[] }> {
  const { headings } = table
  const { choice, missing } = choiceOf(file, table, options)
  const past = pastOf(options.received, headings)
  const plan: Plan = { file, table, uses: fillIn(table), choice, past, labels: labelsOf(headings) }
  const scan = await scanRows(plan, options.leftOut)
  const outline = outlineOf(plan, scan)
  const unclear = choice ? unclearIn(choice, outline) : missing
  if (!choice || !scan.items || unclear.length > 0)
    return { reading: { outline, found: null, missing: unclear }, items: [] }
  const found = foundIn(
    { ...scan, choice, past, headings, labels: plan.labels, items: scan.items },
    options.received,
  )
  const items = [...scan.items.entries.values()].flatMap(({ item, isSent }) => (isSent ? [item] : []))
  return { reading: { outline, found, missing: [] }, items }
}

/** The choice for this file, or why page one is to be filled in first. */
function choiceOf(file: OpenFile, table: Table, { draft, goOn }: ReadOptions): ReturnType<typeof resolve> {
  if (!table.draft || (draft && !goOn)) return { choice: null, missing: [{ kind: 'notChosen' }] }
  if (!isSheetOf(file, table))
    return { choice: null, missing: [{ kind: 'noSheet', name: table.draft.sheet }] }
  const { choice, missing } = resolve(table.draft, table.headings)
  const { sheet, headingsRow } = table
  return { choice: choice && { ...choice, sheet: sheet.name, headingsRow }, missing }
}

/** What only the rows of the file have shown: too many values to tick, and a price that may be two numbers. */
function unclearIn(choice: Choice, { columns, ambiguousPrice }: Outline): Missing[] {
  const ticked = [...choice.only, ...(choice.taxed ? [choice.taxed] : [])]
  const many = ticked.filter(({ number }) => columns[number - 1]?.values === null)
  return [
    ...many.map(({ heading }): Missing => ({ kind: 'manyValues', heading })),
    ...(ambiguousPrice !== null && choice.decimal === null
      ? [{ kind: 'decimal' as const, cell: ambiguousPrice }]
      : []),
  ]
}

/** The names of columns: a number where the heading is blank or stands there twice. */
const labelsOf = (headings: readonly string[]): string[] =>
  headings.map((heading, index) => {
    if (heading === '') return tableTexts.column(index + 1)
    return headings.indexOf(heading) === headings.lastIndexOf(heading)
      ? heading
      : `${heading} (${tableTexts.column(index + 1)})`
  })

/** Reads every row once. */
async function scanRows(
  { file, table, uses, choice, past, labels }: Plan,
  leftOut: readonly string[],
): Promise<Scan> {
  const { sheet, headings, headingsRow } = table
  const width = headings.length
  const texts = createTexts()
  const items = choice && createItems({ choice, past, texts, labels })
  const scan: Scan = {
    rows: 0,
    above: [],
    shown: [],
    columns: createColumns(width),
    texts,
    items,
    constants: [],
    ambiguousPrice: null,
  }
  const without = new Set(leftOut.map((code) => code.toLowerCase()))
  const isLeftOut = (code: string) => without.size > 0 && without.has(code.toLowerCase())
  const readRow = choice && createRowReader(choice, { width, delimiter: sheet.delimiter, isLeftOut })
  const placeFor = (use: string) => uses.findIndex((column) => column.use === use)
  const [code, price] = [placeFor('code'), placeFor('price')]
  const currency = table.draft?.money ? MONEY[table.draft.money].currency : 'AUD'

  function see(row: Row): void {
    const { cells } = row
    if (++scan.rows > MAX_ROWS) throw new UnreadableFileError(0, tableTexts.unreadable.rows(MAX_ROWS))
    if (scan.shown.length < SHOWN_ROWS)
      scan.shown.push({
        row: row.line,
        cells: headings.map((_, index) => shorten(cells[index]?.trim() ?? '', MAX_CELL)),
      })
    // A title or a note is none of the values of a column.
    const isInTable =
      code >= 0 && price >= 0
        ? isFilled(cells[code]) && isFilled(cells[price])
        : cells.filter(isFilled).length > 1
    const unseen = isInTable ? scan.columns.see(cells) : []
    if (isInTable && scan.ambiguousPrice === null && row.numbers?.[price] === undefined)
      scan.ambiguousPrice = ambiguityOf(textOf(cells[price]), currency)
    if (!items || !readRow) return
    const result = readRow(row)
    items.add(row, result, unseen)
    if ('price' in result) seeConstants(scan.constants, cells, width)
  }

  for (const { name } of file.sheets) texts.add('sheets', clean(name), null)
  for (const heading of headings) texts.add('headings', heading, headingsRow)
  for await (const batch of sheet.rows())
    for (const row of batch) {
      if (row.line > headingsRow) see(row)
      else if (row.line < headingsRow) {
        const text = rowText(row.cells)
        if (scan.above.length < MAX_ABOVE) scan.above.push({ row: row.line, text })
        texts.add(placeOfRow(row.cells, labels), text, row.line)
      }
    }
  for (const note of await sheet.notes()) texts.add('notes', clean(note), null)
  return scan
}

/** A price as it stands if the decimal comma makes it another number than the point. */
function ambiguityOf(cell: string, currency: Currency): string | null {
  if (!/,|\.\d{3}/.test(cell)) return null
  const [point, comma] = DECIMALS.map((decimal) => readPrice(cell, { decimal, currency }))
  return typeof comma === 'number' && comma !== point ? shorten(cell, MAX_CELL) : null
}

function seeConstants(constants: Scan['constants'], cells: readonly string[], width: number): void {
  for (let index = 0; index < width; index++) {
    const before = constants[index]
    if (before === undefined) constants[index] = cells[index] ?? ''
    else if (before !== null && before !== (cells[index] ?? '')) constants[index] = null
  }
}

function outlineOf({ file, table, uses }: Plan, scan: Scan): Outline {
  const { sheet, headings, headingsRow, draft, lastChoice } = table
  const isSamePrice = draft?.price !== undefined && placeOf(draft.price, headings) >= 0
  const hiddenColumns = sheet.hiddenColumns()
  const hiddenRows = sheet.hiddenRows()
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
      values: scan.columns.tallies(index)?.map(({ value, count }) => ({ value, count })) ?? null,
      samples: scan.columns.samples(index),
      use: uses[index]?.use ?? 'ignored',
      ticked: uses[index]?.ticked ?? [],
    })),
    // Of the last choice, only for the same text; a person has seen the heading.
    money: ((isSamePrice || lastChoice === null) && draft?.money) || null,
    units: draft?.units ?? 1,
    decimal: draft?.decimal ?? null,
    ambiguousPrice: scan.ambiguousPrice,
    remarks: [
      ...(file.encoding?.startsWith('utf-16') ? [{ kind: 'utf16' as const }] : []),
      ...(file.encoding === 'windows-1252' ? [{ kind: 'windows1252' as const }] : []),
      ...(hiddenRows > 0 ? [{ kind: 'hiddenRows' as const, rows: hiddenRows }] : []),
    ],
  }
}
