import { open } from 'node:fs/promises'
import { detectEncoding } from './encoding.ts'
import type { Table } from './row.ts'
import { readTextRows } from './text-rows.ts'
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
    merged: [],
    readOther: async () => [],
  }
}

const REMARKS = {
  'utf-8': [],
  'utf-16le': ['The file is in UTF-16.'],
  'utf-16be': ['The file is in UTF-16.'],
  'windows-1252': [
    'The file is not in UTF-8, so it was read as Windows-1252. Check letters with accents and symbols.',
  ],
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
