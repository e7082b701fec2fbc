import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkFile } from '../../../src/features/price-files/check-file.ts'
import { UnreadableFileError } from '../../../src/tables/errors.ts'
import { tempDir } from '../../support/env.ts'
import { type Cell, workbook } from '../../support/xlsx.ts'
import { rowsOf } from './pages-support.ts'

let dir: ReturnType<typeof tempDir>
beforeEach(() => {
  dir = tempDir()
})
afterEach(() => dir.remove())

const CODES = [
  ['Code', 'Price'],
  ['A', 1],
] satisfies Cell[][]
const withPart = (path: string, part: string) =>
  workbook([{ name: 'Prices', rows: CODES }], { parts: { [path]: part } })
const sheetWith = (before: string) =>
  withPart('xl/worksheets/sheet1.xml', `<worksheet>${before}<sheetData><row/></sheetData></worksheet>`)

test.each<[string, () => string | Uint8Array]>([
  ['hidden columns without an end', () => sheetWith('<cols><col min="1" max="Infinity" hidden="1"/></cols>')],
  ['an attribute of 40 MB', () => sheetWith(`<cols a="${'1'.repeat(40_000_000)}"/>`)],
  [
    'a shared text of 45 MB',
    () => withPart('xl/sharedStrings.xml', `<sst><si><t>${'x'.repeat(45_000_000)}</t></si></sst>`),
  ],
  [
    'sheets with long names',
    () =>
      workbook([{ name: 'Prices', rows: [] }], {
        parts: {
          'xl/workbook.xml': `<workbook><sheets>${Array.from({ length: 60 }, (_, at) => `<sheet name="${at}${'x'.repeat(200_000)}" id="rId1"/>`).join('')}</sheets></workbook>`,
        },
      }),
  ],
  [
    '10,000 sheets',
    () =>
      withPart(
        'xl/workbook.xml',
        `<workbook><sheets>${'<sheet name="a"/>'.repeat(10_000)}</sheets></workbook>`,
      ),
  ],
])('a hostile file ends at a limit, and the app goes on: %s', async (_name, create) => {
  await expect(checkFile({ path: dir.write(create()) })).rejects.toBeInstanceOf(UnreadableFileError)
  expect((await checkFile({ path: dir.write('Code,Price\nA,1\n') })).rows).toBe(1)
})

test.each([
  ['memory', () => withPart('xl/styles.xml', '<a>'.repeat(15_000_000)), {}],
  ['time', () => rowsOf(100_000), { timeoutMs: 1 }],
])('a process that reads a file is killed at its limit of %s', async (_name, create, limits) => {
  const path = dir.write(create())
  const checking = checkFile({ path, itemsPath: join(dir.dir, 'items') }, limits)
  await expect(checking).rejects.toThrow('This file takes too much time or memory to check.')
  expect(readdirSync(dir.dir)).toEqual(['prices.csv'])
})

test('a process that reads a file is killed when its work is stopped', async () => {
  // Reading a pipe that nobody writes to never ends.
  const path = join(dir.dir, 'pipe')
  execFileSync('sh', ['-c', `mkfifo '${path}'`])
  const stop = new AbortController()
  const checking = checkFile({ path }, { signal: stop.signal })
  stop.abort(new Error('stopped'))
  await expect(checking).rejects.toThrow('stopped')
})
