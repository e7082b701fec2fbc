import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readInProcess } from '../../../../src/features/supplier/price-files/read-in-process.ts'
import { createReadingPlaces } from '../../../../src/features/supplier/price-files/reading-places.ts'
import { tempDir } from '../../../support/env.ts'
import { AS_NEW, failure } from './tables/support.ts'
import { workbook } from './xlsx.ts'

const MB = 1_000_000
const HEADINGS = 'code,price\n'
const TOO_LONG = /^Line \d+: a row longer than 2 MB starts here/

// Reading has 5 s of CPU time: a file that takes time by the square of its size is refused for that.
const widths = Array.from({ length: 6_000 }, (_, at) => `${'a,'.repeat(at % 700)}b\n`).join('')
test.each<[string, string, RegExp?]>([
  ['4 MB of line breaks', '\n'.repeat(4 * MB)],
  ['4 MB of blanks', ' '.repeat(4 * MB), TOO_LONG],
  ['4 MB of commas', ','.repeat(4 * MB), TOO_LONG],
  ['4 MB of quotes', '"'.repeat(4 * MB), TOO_LONG],
  ['2 million rows of one cell', 'A\n'.repeat(2 * MB)],
  ['rows each of another width', widths],
  ['cells of 20,000 blanks', `A,1${' '.repeat(20_000)}2\n`.repeat(200)],
])('a hostile text costs little: %s', async (_name, text, outcome = /^none$/) => {
  expect(await failure(HEADINGS + text)).toMatch(outcome)
})

const SHEET = 'xl/worksheets/sheet1.xml'
const LINKS = 'xl/worksheets/_rels/sheet1.xml.rels'
test.each([
  ['ranges of columns', SHEET, '<cols>', '<col min="1" max="500" hidden="1"/>', '</cols>'],
  ['merged cells', SHEET, '', '<mergeCell ref="A1:B2"/>', ''],
  ['shared texts', 'xl/sharedStrings.xml', '', '<si><t>abc</t></si>', ''],
  ['styles', 'xl/styles.xml', '<cellXfs>', '<xf numFmtId="0" fontId="1"/>', '</cellXfs>'],
  ['links', LINKS, '', '<Relationship Id="r" Target="../comments1.xml"/>', ''],
  ['words in a link', LINKS, '<Relationship Id="r" Target="', 'comment', '"/>'],
  ['sheets', 'xl/workbook.xml', '', '<sheet name="a" id="rId1"/>', ''],
])('a million %s in a workbook cost little', async (_name, path, start, element, end) => {
  const parts = { [path]: `<x>${start}${element.repeat(MB)}${end}</x>` }
  expect(await failure(workbook([{ name: 'Prices', rows: [['A', 1]] }], { parts }))).toBe('none')
})

test('a process that reads a file ends at its limit of memory, leaves nothing, and the app goes on', async () => {
  const { dir, write, remove } = tempDir()
  const parts = { 'xl/styles.xml': '<a>'.repeat(2.5 * MB) }
  const path = write(workbook([{ name: 'Prices', rows: [['A', 1]] }], { parts }))
  const reading = readInProcess({ ...AS_NEW, path, itemsPath: join(dir, 'items') })
  await expect(reading).rejects.toThrow('This file takes too much time or memory to read')
  expect(readdirSync(dir)).toEqual(['prices.csv'])
  expect(await readInProcess({ ...AS_NEW, path: write('Code,Price\nA,1\n') })).toBeDefined()
  remove()
})

test('two users with hostile files do not make a third one wait', async () => {
  const { write, remove } = tempDir()
  const inPlace = createReadingPlaces()
  const read = (userId: string, content: string) => {
    const path = write(content, userId)
    return inPlace({ userId, bytes: statSync(path).size }, () => readInProcess({ ...AS_NEW, path }))
  }
  let ended = 0
  const attacks = ['ann', 'bob'].map((user) =>
    read(user, `${HEADINGS}${'A\n'.repeat(2 * MB)}`).finally(() => ended++),
  )
  await read('eve', `${HEADINGS}A1,1\nA2,2\nA3,3\n`)
  expect(ended).toBeLessThan(2)
  await Promise.allSettled(attacks)
  remove()
})

test('a file with more than 500,000 rows is refused', async () => {
  const { write, remove } = tempDir()
  const reading = readInProcess({ ...AS_NEW, path: write(HEADINGS + 'A1,1\n'.repeat(500_001)) })
  await expect(reading).rejects.toThrow(/It has more than 500,000 rows/)
  remove()
})
