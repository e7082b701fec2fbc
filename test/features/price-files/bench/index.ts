/** The rows of the table that are about price files: what it costs to read one. */
import { HEAP, HEAP_MB } from '../../../../src/features/price-files/check-file.ts'
import { type Add, type Measured, medianOf } from '../../../bench/measure.ts'
import { tempDir } from '../../../support/env.ts'
import { run } from '../../../support/process.ts'
import { workbook } from '../../../support/xlsx.ts'
import { itemOf, priceFile } from '../support.ts'

const ROWS = 100_000
const MB = 1_000_000

async function costOf(
  FILE: string,
  env: Record<string, string> = {},
): Promise<{ ms: number; bytes: number }> {
  const NODE_OPTIONS = HEAP.join(' ')
  const program = run('test/features/price-files/bench/read-file.ts', { FILE, NODE_OPTIONS, ...env })
  if ((await program.exited) !== 0) throw new Error(program.output())
  return JSON.parse(program.output())
}

export async function bench(add: Add): Promise<void> {
  const { write, remove } = tempDir()
  const csv = write(priceFile(ROWS))
  const rows = Array.from({ length: ROWS }, (_, row) => Object.values(itemOf(row)))
  const xlsx = write(workbook([{ name: 'Prices', rows: [Object.keys(itemOf(0)), ...rows] }]), 'prices.xlsx')
  const measured: Record<'csv' | 'xlsx', Measured[]> = { csv: [], xlsx: [] }
  let peak = 0
  for (let round = 0; round < 5; round++) {
    const bare = await costOf(csv, { BARE: 'true' })
    for (const [name, file] of [['csv', csv] as const, ['xlsx', xlsx] as const]) {
      const { ms, bytes } = await costOf(file)
      measured[name].push({ subject: ms, yardstick: bare.ms, ratio: ms / bare.ms })
      peak = Math.max(peak, bytes)
    }
  }
  const yardstick = 'bare csv-parse of the same rows as CSV'
  add('CPU to read a CSV of 100,000 rows', yardstick, medianOf(measured.csv), '<= 3x', 'ms')
  add('CPU to read an XLSX of 100,000 rows', yardstick, medianOf(measured.xlsx), '<= 10x', 'ms')
  const memory = { subject: peak / MB, yardstick: HEAP_MB, ratio: peak / MB / HEAP_MB }
  add('memory to read 100,000 rows', 'the heap that the process may have', memory, '<= 0.7x', 'MB')
  remove()
}
