/** The rows of the table that are about price files: what it costs to read one. */
import { choiceSchema } from '../../../../../src/features/supplier/price-files/choice.ts'
import { HEAP, HEAP_MB } from '../../../../../src/features/supplier/price-files/read-in-process.ts'
import type { Received } from '../../../../../src/features/supplier/price-files/received.ts'
import { type Add, type Measured, medianOf } from '../../../../bench/measure.ts'
import { tempDir } from '../../../../support/env.ts'
import { run } from '../../../../support/process.ts'
import { itemOf, priceFile } from '../support.ts'
import { workbook } from '../xlsx.ts'

const ROWS = 100_000
const MB = 1_000_000

async function costOf(FILE: string, RECEIVED: string, WHAT: 'bare' | 'rows' | 'all') {
  const env = { FILE, RECEIVED, WHAT, NODE_OPTIONS: HEAP.join(' ') }
  const program = run('test/features/supplier/price-files/bench/read-file.ts', env)
  if ((await program.exited) !== 0) throw new Error(program.output())
  const cost: { ms: number; bytes: number } = JSON.parse(program.output())
  return cost
}

/** What a catalogue has received of a file with these rows, whose prices were higher. */
function receivedBefore(): Received {
  const headings = Object.keys(itemOf(0))
  const columns = headings.map((heading, at) => ({ heading, number: at + 1, use: heading }))
  const choice = { sheet: '', headingsRow: 1, columns, units: 1, decimal: null, money: 'AUD before GST' }
  const file = { number: 1, fileName: 'prices.csv', at: '2026-07-01T00:00:00.000Z', by: null }
  return {
    isUnfinished: false,
    isOwn: false,
    files: [
      {
        ...file,
        choice: choiceSchema.parse(choice),
        memory: { headings, texts: [], values: [] },
      },
    ],
    prices: Array.from({ length: ROWS }, (_, row) => ({
      code: itemOf(row).code,
      price: itemOf(row).price + 0.5,
      file: 1,
    })),
  }
}

export async function bench(add: Add): Promise<void> {
  const { write, remove } = tempDir()
  const csv = write(priceFile(ROWS))
  const received = write(JSON.stringify(receivedBefore()), 'received.json')
  const rows = Array.from({ length: ROWS }, (_, row) => Object.values(itemOf(row)))
  const xlsx = write(workbook([{ name: 'Prices', rows: [Object.keys(itemOf(0)), ...rows] }]), 'prices.xlsx')
  const measured: Record<'csv' | 'xlsx' | 'csvRows' | 'xlsxRows', Measured[]> = {
    csv: [],
    xlsx: [],
    csvRows: [],
    xlsxRows: [],
  }
  let peak = 0
  for (let round = 0; round < 5; round++) {
    const bare = await costOf(csv, received, 'bare')
    for (const [name, file, what] of [
      ['csv', csv, 'all'],
      ['xlsx', xlsx, 'all'],
      ['csvRows', csv, 'rows'],
      ['xlsxRows', xlsx, 'rows'],
    ] as const) {
      const { ms, bytes } = await costOf(file, received, what)
      measured[name].push({ subject: ms, yardstick: bare.ms, ratio: ms / bare.ms })
      peak = Math.max(peak, bytes)
    }
  }
  const yardstick = 'bare csv-parse of the same rows as CSV'
  add('CPU to read a CSV of 100,000 rows', yardstick, medianOf(measured.csv), '<= 2.5x', 'ms')
  add('CPU to read an XLSX of 100,000 rows', yardstick, medianOf(measured.xlsx), '<= 5x', 'ms')
  add('of that, to split the CSV into rows', yardstick, medianOf(measured.csvRows), '<= 1x', 'ms')
  add('of that, to split the XLSX into rows', yardstick, medianOf(measured.xlsxRows), '<= 3.5x', 'ms')
  const memory = { subject: peak / MB, yardstick: HEAP_MB, ratio: peak / MB / HEAP_MB }
  add('memory to read 100,000 rows', 'the heap that the process may have', memory, '<= 0.7x', 'MB')
  remove()
}
