import { open } from 'node:fs/promises'
import { detectEncoding } from './encoding.ts'
import type { Table } from './row.ts'
import { readTextRows } from './text-rows.ts'
import { texts } from './texts.ts'
import { isWorkbook, readWorkbookRows } from './workbook.ts'

/**
 * Opens a table for streaming: delimited text (CSV, TSV) in UTF-8, UTF-16 or Windows-1252, or an XLSX workbook.
 * `sheet`: the name or the number, counted from 1, of the sheet to read; the first visible one by default.
 * Throws `UnreadableFileError`, also while reading the rows.
 */
export async function openTable(
  path: string,
  { sheet }: { sheet?: string | undefined } = {},
): Promise<Table> {
  if (isWorkbook(await firstBytes(path))) return { ...(await readWorkbookRows(path, sheet)), remarks: [] }
  const encoding = await detectEncoding(path)
  return {
    ...(await readTextRows(path, encoding)),
    sheets: [],
    remarks: REMARKS[encoding],
    lateRemarks: [],
    printed: [],
    comments: [],
    hiddenColumns: [],
    merged: [],
    readOther: async () => [],
  }
}

const REMARKS = {
  'utf-8': [],
  'utf-16le': [texts.remarks.utf16],
  'utf-16be': [texts.remarks.utf16],
  'windows-1252': [texts.remarks.windows1252],
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
