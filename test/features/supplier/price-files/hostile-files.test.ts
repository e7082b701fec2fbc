import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readInProcess } from '../../../../src/features/supplier/price-files/read-in-process.ts'
import { tempDir } from '../../../support/env.ts'
import { AS_NEW, failure, readTable } from './tables/support.ts'
import { workbook } from './xlsx.ts'

const TOO_MUCH = 'This file takes too much time or memory to read. Split it into smaller files.'

let dir: ReturnType<typeof tempDir>
beforeEach(() => {
  dir = tempDir()
})
afterEach(() => dir.remove())

const withPart = (path: string, part: string) =>
  workbook(
    [
      {
        name: 'Prices',
        rows: [
          ['Code', 'Price'],
          ['A', 1],
        ],
      },
    ],
    { parts: { [path]: part } },
  )
const sheetOf = (xml: string) => withPart('xl/worksheets/sheet1.xml', `<worksheet>${xml}</worksheet>`)

test('a file is refused when it takes more than 5 s of CPU time, or 0.3 s for each of its megabytes', async () => {
  const rows = (megabytes: number) => `${'x'.repeat(999_999)}\n`.repeat(megabytes)
  /** The CPU time that has passed at each look at it, in ms. */
  const after =
    (...times: number[]) =>
    () =>
      (times.length > 1 ? times.shift() : times[0]) ?? 0
  expect(await failure(rows(1), after(7_000, 12_000))).toBe('none')
  expect(await failure(rows(1), after(7_000, 12_001))).toBe(TOO_MUCH)
  expect(await failure(rows(17), after(0, 5_100))).toBe('none')
  expect(await failure(rows(17), after(0, 5_101))).toBe(TOO_MUCH)
  expect(await failure(workbook([{ name: 'P', rows: [['A']] }]), after(0, 5_001))).toBe(TOO_MUCH)
})

test('a workbook has no more time for what it only repeats', async () => {
  const sheet = sheetOf(`<sheetData>${'<row/>'.repeat(3_000_000)}</sheetData>`)
  let used = 0
  const cpuMs = () => used++ && 5_001
  expect(await failure(sheet, cpuMs)).toBe(TOO_MUCH)
})

test('each sheet is read once, however often a workbook lists it', async () => {
  const list = '<sheet name="a" id="rId1"/>'.repeat(10_000)
  const { sheets } = await readTable(
    withPart('xl/workbook.xml', `<workbook><sheets>${list}</sheets></workbook>`),
  )
  expect(sheets).toHaveLength(1)
})

test('a process that reads a file is killed when its work is stopped', async () => {
  const path = join(dir.dir, 'pipe')
  execFileSync('sh', ['-c', `mkfifo '${path}'`])
  const stop = new AbortController()
  const reading = readInProcess({ ...AS_NEW, path }, { signal: stop.signal })
  stop.abort(new Error('stopped'))
  await expect(reading).rejects.toThrow('stopped')
})
