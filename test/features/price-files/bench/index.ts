/** The rows of the table that are about imports. */
import { createReadStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse'
import { checkPriceFile } from '../../../../src/features/price-files/check-rows.ts'
import { type Add, compare, type Measured, medianOf } from '../../../bench/measure.ts'
import { startServer } from '../../../bench/platform.ts'
import { tempDir } from '../../../support/env.ts'
import { run } from '../../../support/process.ts'
import { workbook } from '../../../support/xlsx.ts'
import { itemOf, writePriceFile } from '../support.ts'

const OURS = 'test/features/price-files/bench/import-by-us.ts'
/** Both parts in one process, with the heap that a check has: its peak is that of both together. */
const IN_ONE = { IN_ONE: 'true', NODE_OPTIONS: '--max-old-space-size=160 --max-semi-space-size=8' }
const BARE = 'test/features/price-files/bench/import-by-hand.ts'

export async function bench(add: Add): Promise<void> {
  const { dir, remove } = tempDir()
  const { url, stop } = await startServer('test/bench/limited-server.ts')
  const timeOf = async (
    script: string,
    FILE: string,
    env: Record<string, string> = {},
  ): Promise<{ ms: number; sendMs: number; peak: number }> => {
    const program = run(script, { FILE, PLATFORM_API_URL: url, ...env })
    if ((await program.exited) !== 0) throw new Error(program.output())
    return JSON.parse(program.output())
  }
  const half = await writePriceFile(dir, 500_000)
  const whole: Measured[] = []
  const sending: Measured[] = []
  for (let round = 0; round < 5; round++) {
    const ours = await timeOf(OURS, half)
    const bare = await timeOf(BARE, half)
    whole.push({ subject: 5e8 / ours.ms, yardstick: 5e8 / bare.ms, ratio: bare.ms / ours.ms })
    sending.push({ subject: 5e8 / ours.sendMs, yardstick: 5e8 / bare.ms, ratio: bare.ms / ours.sendMs })
  }
  const bareLoop = 'csv-parse, map, JSON.stringify, undici POST in a bare loop, without a check'
  add('check and import of 500,000 rows, no limit', bareLoop, medianOf(whole), '>= 0.6', 'rows/s')
  add('import of 500,000 checked rows, no limit', bareLoop, medianOf(sending), '>= 1', 'rows/s')
  const million = await writePriceFile(dir, 1_000_000)
  const ours = (await timeOf(OURS, million, IN_ONE)).peak / 1024
  const bare = (await timeOf(BARE, million)).peak / 1024
  const peak = { subject: ours, yardstick: bare, ratio: ours / bare }
  add('peak memory, 1,000,000 rows', "the bare loop's", peak, '<= 1.3x', 'MB')
  await stop()
  await readingBench(add, await writePriceFile(dir, 200_000, 'read.csv'))
  add('memory above idle, XLSX of 100,000 rows', '200 MB', await workbookMemory(dir), '<= 1x', 'MB')
  remove()
}

async function readingBench(add: Add, file: string): Promise<void> {
  const bare = async () => {
    for await (const _ of createReadStream(file).pipe(parse()));
  }
  const measured = await compare(1, { call: () => checkPriceFile(file) }, { call: bare })
  add('check of a CSV of 200,000 rows', 'bare csv-parse', measured, '>= 0.45')
}

/** How much memory the check of a workbook with 100,000 rows takes, against 200 MB. */
async function workbookMemory(dir: string): Promise<Measured> {
  const rows = Array.from({ length: 100_000 }, (_, row) => Object.values(itemOf(row)))
  const FILE = join(dir, 'prices.xlsx')
  writeFileSync(FILE, workbook([{ name: 'Prices', rows: [Object.keys(itemOf(0)), ...rows] }]))
  const program = run('test/features/price-files/bench/check-workbook.ts', { FILE })
  if ((await program.exited) !== 0) throw new Error(program.output())
  const subject = JSON.parse(program.output()).above / 1_048_576
  return { subject, yardstick: 200, ratio: subject / 200 }
}
