import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkFile } from '../../../src/features/price-files/check-file.ts'
import { UnreadableFileError } from '../../../src/tables/errors.ts'
import { tempDir } from '../../support/env.ts'
import { run } from '../../support/process.ts'
import { type Cell, workbook } from '../../support/xlsx.ts'
import { rowsOf } from './pages-support.ts'

let dir: ReturnType<typeof tempDir>
beforeEach(() => {
  dir = tempDir()
})
afterEach(() => dir.remove())

const fileOf = (content: string | Uint8Array) => {
  const path = join(dir.dir, 'prices.csv')
  writeFileSync(path, content)
  return path
}

const CODES = [
  ['Code', 'Price'],
  ['A', 1],
] satisfies Cell[][]
const withPart = (path: string, part: string) =>
  workbook([{ name: 'Prices', rows: CODES }], { parts: { [path]: part } })
const sheetWith = (before: string) =>
  withPart('xl/worksheets/sheet1.xml', `<worksheet>${before}<sheetData><row/></sheetData></worksheet>`)

describe('a hostile file ends at a limit, and the app goes on:', () => {
  test.each<[string, () => string | Uint8Array]>([
    [
      'hidden columns without an end',
      () => sheetWith('<cols><col min="1" max="Infinity" hidden="1"/></cols>'),
    ],
    ['an attribute of 40 MB', () => sheetWith(`<cols a="${'1'.repeat(40_000_000)}"/>`)],
    [
      'a shared text of 45 MB',
      () => withPart('xl/sharedStrings.xml', `<sst><si><t>${'x'.repeat(45_000_000)}</t></si></sst>`),
    ],
    [
      '10,000 sheets',
      () =>
        withPart(
          'xl/workbook.xml',
          `<workbook><sheets>${'<sheet name="a"/>'.repeat(10_000)}</sheets></workbook>`,
        ),
    ],
    ['a CSV row of 20 MB of commas', () => `code,price\n${','.repeat(20_000_000)}\nA,1\n`],
  ])('%s', async (_name, create) => {
    const limits = { cpuMs: 5_000 }
    const error = await checkFile({ path: fileOf(create()) }, { limits }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(UnreadableFileError)
    expect((await checkFile({ path: fileOf('Code,Price\nA,1\n') })).rows).toBe(1)
  })
})

describe('the process that reads a file', () => {
  test.each([
    ['memory', { memoryBytes: 1 }],
    ['time', { cpuMs: 1 }],
  ])('is killed at its limit of %s: the file is unreadable, and the app goes on', async (_name, limits) => {
    const path = fileOf(rowsOf(100_000))
    const checking = checkFile({ path, itemsPath: `${path}.items` }, { limits })
    await expect(checking).rejects.toThrow('This file takes too much time or memory to check.')
    expect(readdirSync(dir.dir)).toEqual(['prices.csv'])
    expect((await checkFile({ path })).rows).toBe(100_000)
  })

  test.each([
    ['one allocation outside the heap', 'buffer'],
    ['a loop without an end', 'loop'],
  ])('is killed by itself, whatever its parent does, in %s', async (_name, what) => {
    const program = run('test/features/price-files/beyond-limits.ts', { WHAT: what })
    expect(await program.exited).toBe('SIGKILL')
  })
})
