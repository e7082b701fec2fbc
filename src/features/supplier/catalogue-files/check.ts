/** What pages and the command do with a file before it is sent. */
import { badInput } from '../../../web/kit.ts'
import { compare, type Difference } from './difference.ts'
import { conflict, ImportError } from './errors.ts'
import { type Import, started } from './import.ts'
import { texts } from './import-texts.ts'
import type { RightFile } from './items.ts'
import type { Records } from './records.ts'
import { readTemplate } from './template.ts'

/** Reads a file. Throws `ImportError` (400) with its problems, and the errors of `chunks`. */
export async function readFile(chunks: AsyncIterable<Uint8Array>): Promise<RightFile> {
  const file = await readTemplate(chunks)
  if (!file.ok) throw new ImportError(400, 'wrong_file', texts.errors.wrongFile, file.problems)
  return file
}

/** Compares a stored file with what its catalogue has received by now. Throws `ImportError` (409) if its items are gone. */
export async function differenceOf(records: Records, job: Import): Promise<Difference> {
  const file = { items: await records.itemsOf(job), hash: job.hash }
  return compare(file, await records.received(job.catalogueId))
}

/**
 * Sends a stored file whose difference was looked at: it has this `code`, and its questions were confirmed. Throws `ImportError` (409) if
 * it is another file or difference by now, and `invalid_input` (400) if a question is not confirmed.
 */
export async function startImport(
  records: Records,
  job: Import,
  code: string,
  isConfirmed: boolean,
): Promise<Import> {
  const difference = await differenceOf(records, job)
  if (difference.code !== code) throw conflict(texts.errors.changed)
  if (difference.asks.length > 0 && !isConfirmed) throw badInput('confirm', texts.rules.confirm)
  // The catalogue has received nothing since: another import would have taken the place of this file.
  return records.change(job, started)
}
