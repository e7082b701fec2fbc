import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkFile } from '../../../src/features/price-files/check-file.ts'
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

const HEADINGS: Cell[] = ['Code', 'Name', 'Unit', 'Price']
const SHEET = 'xl/worksheets/sheet1.xml'
const ROWS =
  '<sheetData><row><c t="inlineStr"><is><t>Code</t></is></c><c t="inlineStr"><is><t>Price</t></is></c></row>' +
  '<row><c t="inlineStr"><is><t>A</t></is></c><c><v>1</v></c></row></sheetData>'
const sheetWith = (before: string, after = '') =>
  workbook([{ name: 'Prices', rows: [] }], {
    parts: { [SHEET]: `<worksheet>${before}${ROWS}${after}</worksheet>` },
  })
const hidden = (min: string, max = '3') =>
  sheetWith(`<cols><col min="${min}" max="${max}" hidden="1"/></cols>`)
const partOf = (path: string, part: string) =>
  workbook([{ name: 'Prices', rows: [HEADINGS, ['A', 'Nail', 'each', 1]] }], { parts: { [path]: part } })

describe('a hostile file ends with a clear error, before anything is allocated for it:', () => {
  test.each<[string, () => string | Uint8Array, RegExp]>([
    ['hidden columns from −1,000,000,000', () => hidden('-1000000000'), /a column without a valid number/],
    ['hidden columns from −Infinity', () => hidden('-Infinity'), /a column without a valid number/],
    ['hidden columns from a half', () => hidden('0.5'), /a column without a valid number/],
    [
      '300,000 descriptions of columns',
      () => sheetWith(`<cols>${'<col min="1" max="500" hidden="1"/>'.repeat(300_000)}</cols>`),
      /unpacks to far more data/,
    ],
    [
      'a row number of −Infinity',
      () => sheetWith('', '<sheetData><row r="-Infinity"/></sheetData>'),
      /no valid number/,
    ],
    [
      'a row number of a half',
      () => sheetWith('', '<sheetData><row r="3.5"/></sheetData>'),
      /no valid number/,
    ],
    [
      'a shared text of 45 MB that 50 cells use',
      () =>
        workbook(
          [
            {
              name: 'Prices',
              rows: [HEADINGS, ...Array.from({ length: 50 }, () => [{ xml: '<c t="s"><v>0</v></c>' }])],
            },
          ],
          {
            texts: 'inline',
            parts: { 'xl/sharedStrings.xml': `<sst><si><t>${'x'.repeat(45_000_000)}</t></si></sst>` },
          },
        ),
      /unpacks to far more data/,
    ],
    [
      'a shared text that is longer than a cell',
      () => partOf('xl/sharedStrings.xml', `<sst><si><t>${'x'.repeat(40_000)}</t></si></sst>`),
      /a cell is longer than a spreadsheet allows/i,
    ],
    [
      'an attribute of 40 MB',
      () => sheetWith(`<cols><col min="1" max="${'1'.repeat(40_000_000)}"/></cols>`),
      /unpacks to far more data/,
    ],
    ['elements in 1,000,000 others', () => sheetWith('<a>'.repeat(1_000_000)), /unpacks to far more data/],
    [
      '10,000 page headers',
      () => sheetWith('', `<headerFooter>${'<oddHeader>&amp;C</oddHeader>'.repeat(10_000)}</headerFooter>`),
      /unpacks to far more data/,
    ],
    [
      '10,000 sheets',
      () =>
        partOf(
          'xl/workbook.xml',
          `<workbook><sheets>${'<sheet name="a"/>'.repeat(10_000)}</sheets></workbook>`,
        ),
      /unpacks to far more data/,
    ],
    [
      'a CSV row of 20 MB of commas',
      () => `code,price\n${','.repeat(20_000_000)}\nA,1\n`,
      /^Line 2: .*more than 16384 columns/,
    ],
    [
      'a CSV row of 17,000 cells',
      () => `code,price\n${'1,'.repeat(17_000)}\nA,1\n`,
      /^Line 2: .*more than 16384 columns/,
    ],
    ['headings of 20 MB', () => `code,price${'\t'.repeat(20_000_000)}\nA,1\n`, /more than 16384 columns/],
  ])('%s', async (_name, create, message) => {
    await expect(checkFile({ path: fileOf(create()) })).rejects.toThrow(message)
  })

  test('3,000 links to one part of comments read it once', async () => {
    const links = Array.from(
      { length: 3_000 },
      (_, at) => `<Relationship Id="r${at}" Target="../comments1.xml"/>`,
    )
    const comments = `<comments>${'<comment><t>Call us</t></comment>'.repeat(50_000)}</comments>`
    const parts = {
      'xl/worksheets/_rels/sheet1.xml.rels': `<Relationships>${links.join('')}</Relationships>`,
      'xl/comments1.xml': comments,
    }
    const path = fileOf(
      workbook(
        [
          {
            name: 'Prices',
            rows: [
              ['Code', 'RRP'],
              ['A', 1],
            ],
          },
        ],
        { parts },
      ),
    )
    expect((await checkFile({ path }, { limits: { cpuMs: 15_000 } })).check).toMatchObject({ rows: 1 })
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
    expect((await checkFile({ path })).check.rows).toBe(100_000)
  })

  test.each([
    ['one allocation outside the heap', 'buffer'],
    ['a loop without an end', 'loop'],
  ])('is killed by itself, whatever its parent does, in %s', async (_name, what) => {
    const program = run('test/features/price-files/beyond-limits.ts', { WHAT: what })
    expect(await program.exited).toBe('SIGKILL')
  })
})
