import { open } from 'node:fs/promises'
import { detectEncoding } from './encoding.ts'
import type { OpenFile } from './sheet.ts'
import { openTextSheet } from './text-rows.ts'
import { isWorkbook, openWorkbook } from './workbook.ts'

/**
 * Opens a table for streaming: delimited text (CSV, TSV) in UTF-8, UTF-16 or Windows-1252, or an XLSX workbook.
 * Throws `UnreadableFileError`, also while reading the rows.
 */
export async function openFile(path: string): Promise<OpenFile> {
  if (isWorkbook(await firstBytes(path))) return openWorkbook(path)
  const encoding = await detectEncoding(path)
  return { sheets: [await openTextSheet(path, encoding)], encoding, close: () => {} }
}

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
