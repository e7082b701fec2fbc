/** Reads a price file: what page one shows of it, and what page two does. It runs in the process that reads files. */
import type { OpenFile } from '../tables/sheet.ts'
import { openFile } from '../tables/table.ts'
import { writeBatches } from './batches.ts'
import type { Choice } from './choice.ts'
import type { Missing, Outline, Reading, ReadOptions } from './found.ts'
import { foundIn } from './page-two.ts'
import { Scan } from './scan.ts'
import { findTable, resolve, sheetOf, type Table } from './table.ts'

/**
 * Reads a price file as it was chosen, and writes its items as upload requests to `itemsPath`: none if page one is to be filled in.
 * Throws `UnreadableFileError` and the errors of the file system.
 */
export async function readPriceFile(path: string, options: ReadOptions): Promise<Reading> {
  const file = await openFile(path)
  try {
    const table = await findTable(file, options)
    const { choice, missing } = choiceIn(file, table, options)
    const scan = new Scan(table, choice, options)
    await scan.read(file)
    const outline = scan.outline(file)
    const reasons = choice ? unclearIn(choice, outline) : missing
    const items = choice && reasons.length === 0 ? scan.items : null
    if (options.itemsPath !== undefined) await writeBatches(options.itemsPath, items?.sent() ?? [])
    const found =
      choice && items && foundIn({ choice, items, scan, headings: table.headings }, options.received)
    return { outline, found, missing: reasons }
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
  const ticked = taxed ? [...only, taxed] : only
  const many = ticked.filter(({ number }) => columns[number - 1]?.values === null)
  return [
    ...many.map(({ heading }): Missing => ({ kind: 'manyValues', heading })),
    ...(decimal === null && cell !== null ? [{ kind: 'decimal' as const, cell }] : []),
  ]
}
