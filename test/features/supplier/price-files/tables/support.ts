import type { Row } from '../../../../../src/features/supplier/tables/sheet.ts'
import { openFile } from '../../../../../src/features/supplier/tables/table.ts'
import { tempDir } from '../../../../support/env.ts'

/** Reads all of a file. `cpuMs`: the CPU time that this process has used so far. */
export async function readTable(content: string | Uint8Array, cpuMs?: () => number) {
  const { write, remove } = tempDir()
  try {
    const file = await openFile(write(content), cpuMs)
    const sheets = []
    for (const sheet of file.sheets) {
      const rows = (await Array.fromAsync(sheet.rows())).flat()
      const { name, isHidden } = sheet
      sheets.push({ name, isHidden, rows, notes: await sheet.notes(), hiddenRows: sheet.hiddenRows() })
    }
    file.close()
    return { sheets, encoding: file.encoding }
  } finally {
    remove()
  }
}

/** The rows of the first sheet. */
export const rowsOf = async (content: string | Uint8Array): Promise<Row[]> =>
  (await readTable(content)).sheets[0]?.rows ?? []

/** The cells of the first sheet. */
export const cellsOf = async (content: string | Uint8Array): Promise<string[][]> =>
  (await rowsOf(content)).map(({ cells }) => cells)

/** Why a file cannot be read. */
export const failure = (content: string | Uint8Array, cpuMs?: () => number): Promise<string> =>
  readTable(content, cpuMs).then(
    () => 'none',
    (error: Error) => error.message,
  )

/** How a file is read that nobody has chosen anything for. */
export const AS_NEW = { draft: null, goOn: false, received: null, leftOut: [] }
