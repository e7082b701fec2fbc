/** Reads a price file for page one and page two. It runs in the process that reads files. */
import { openFile } from '../tables/table.ts'
import { writeBatches } from './batches.ts'
import type { Choice, Draft } from './choice.ts'
import type { Missing, Outline, Reading, ReadOptions } from './found.ts'
import { foundIn } from './page-two.ts'
import { Scan } from './scan.ts'
import { findTable } from './table.ts'

/**
 * Reads a price file as it was chosen, and writes its items as upload requests to `itemsPath`. It writes none if page one must be
 * filled in first. Throws `UnreadableFileError` and the errors of the file system.
 */
export async function readPriceFile(path: string, options: ReadOptions): Promise<Reading> {
  const { draft, goOn, itemsPath, received } = options
  const file = await openFile(path)
  try {
    const table = await findTable(file, options)
    const wanted = draft && !goOn ? null : table.draft
    const choice = wanted && table.missing.length === 0 ? choiceOf(wanted) : null
    const scan = new Scan(table, choice, options)
    await scan.read(file)
    const outline = scan.outline(file)
    const missing = choice ? unclearIn(choice, outline) : wanted ? table.missing : []
    const items = missing.length === 0 ? scan.items : null
    if (itemsPath !== undefined) await writeBatches(itemsPath, items?.sent() ?? [])
    const found = choice && items && foundIn(scan, items, choice, received)
    return { outline, found, missing }
  } finally {
    file.close()
  }
}

const choiceOf = ({ money, ...draft }: Draft): Choice | null => money && { ...draft, money }

/** What only the rows of the file show: a column has too many values to tick, or a price may be two numbers. */
function unclearIn(
  { columns: used, decimal }: Choice,
  { columns, ambiguousPrice: cell }: Outline,
): Missing[] {
  const many = used.filter(({ values, number }) => values && columns[number - 1]?.values === null)
  return [
    ...many.map(({ heading, number }): Missing => ({ field: `use-${number}`, kind: 'manyValues', heading })),
    ...(decimal === null && cell !== null ? [{ field: 'decimal', kind: 'decimal', cell } as const] : []),
  ]
}
