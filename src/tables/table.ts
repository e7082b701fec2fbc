import { open } from 'node:fs/promises'
import { detectEncoding } from './encoding.ts'
import { UnreadableFileError } from './errors.ts'
import { otherFormat } from './other-formats.ts'
import type { OpenFile } from './sheet.ts'
import { openTextSheet } from './text-rows.ts'
import { texts } from './texts.ts'
import { openWorkbook } from './workbook.ts'

/** How many bytes tell what a file is. */
const START_BYTES = 65_536

/**
 * Opens a table for streaming: delimited text (CSV, TSV) in UTF-8, UTF-16 or Windows-1252, or an XLSX workbook.
 * Throws `UnreadableFileError`, also while reading the rows.
 */
export async function openFile(path: string): Promise<OpenFile> {
  const start = await firstBytes(path)
  if (start.length === 0) throw new UnreadableFileError(0, texts.unreadable.empty)
  if (start.toString('latin1', 0, 4) === 'PK\u0003\u0004') return openWorkbook(path)
  const other = otherFormat(start)
  if (other !== undefined) throw new UnreadableFileError(0, other)
  const encoding = await detectEncoding(path, start)
  return { sheets: [await openTextSheet(path, encoding)], encoding, close: () => {} }
}

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
