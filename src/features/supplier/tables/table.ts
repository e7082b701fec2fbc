import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { cpuOfProcess, createCpuLimit } from './cpu-limit.ts'
import { withoutLines } from './delimiter.ts'
import { detectEncoding } from './encoding.ts'
import { UnreadableFileError } from './errors.ts'
import { otherFormat } from './other-formats.ts'
import type { OpenFile } from './sheet.ts'
import { openTextSheet } from './text-rows.ts'
import { texts } from './texts.ts'

/** How many bytes at the beginning of a file are read to find out its format. */
const START_BYTES = 65_536

/**
 * Opens a table for streaming: delimited text (CSV, TSV) in UTF-8, UTF-16 or Windows-1252, or an XLSX workbook. `cpuMs`:
 * returns the CPU time that this process has used so far. Reading the file may use a limited time more. Throws
 * `UnreadableFileError`, also while reading the rows.
 */
export async function openFile(path: string, cpuMs = cpuOfProcess): Promise<OpenFile> {
  const start = Buffer.concat(await Array.fromAsync(createReadStream(path, { end: START_BYTES })))
  if (start.length === 0) throw new UnreadableFileError(0, texts.unreadable.empty)
  const isArchive = start.toString('latin1', 0, 4) === 'PK\u0003\u0004'
  // A text needs no reader of workbooks. Loading this reader would take as long as reading an ordinary text.
  const file = isArchive
    ? await (await import('./workbook.ts')).openWorkbook(path, cpuMs)
    : await openText(path, start, cpuMs)
  const [sheet] = file.sheets
  if (!sheet || file.sheets.length > 1) return file
  return { ...file, sheets: [{ ...sheet, rows: () => withoutLines(sheet.rows()) }] }
}

async function openText(path: string, start: Buffer, cpuMs: () => number): Promise<OpenFile> {
  const other = otherFormat(start)
  if (other !== undefined) throw new UnreadableFileError(0, other)
  const checkCpu = createCpuLimit((await stat(path)).size, cpuMs)
  const encoding = await detectEncoding(path, start, checkCpu)
  return { sheets: [openTextSheet(path, start, encoding, checkCpu)], encoding, close: () => {} }
}
