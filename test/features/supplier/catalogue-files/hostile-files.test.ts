import { expect, test } from 'vitest'
import { readTemplate } from '../../../../src/features/supplier/catalogue-files/template.ts'

const MB = 1_000_000
const NAMES = 'code,price\n'

/** A file of these megabytes that begins with `start` and then only repeats a text, without being in memory as a whole. */
async function* repeated(start: string, text: string, megabytes: number): AsyncGenerator<Uint8Array> {
  const chunk = Buffer.from(text.repeat(Math.ceil(MB / text.length))).subarray(0, MB)
  yield Buffer.from(start, 'latin1')
  for (let sent = 0; sent < megabytes; sent++) yield chunk
}

const longLine = (line: number) =>
  `Line ${line} is longer than 64,000 characters. Check the line endings of this file.`
const MANY_LINES = 'This file contains more than 200,000 lines. Delete the blank lines.'
const MANY_ITEMS = 'This file contains more than 100,000 items. Split it into several catalogues.'
const NO_ITEMS = 'This file contains no items: each line after the column names is an item.'
const NOT_TEXT =
  "This file isn't text in UTF-8, but a workbook, an archive, a picture or something else. To save "

test.each([
  ['commas', '', ',', longLine(1)],
  ['commas after the names', NAMES, ',', longLine(2)],
  ['lines of commas', NAMES, `${','.repeat(99)}\n`, NO_ITEMS],
  ['blank lines', NAMES, '\n', MANY_LINES],
  ['blank lines before the names', '', '\r', MANY_LINES],
  ['quotes', NAMES, '"', longLine(2)],
  ['lines of quotes', NAMES, `${'"'.repeat(99)}\n`, MANY_ITEMS],
  ['lines of empty texts in quotes', NAMES, `${'"",'.repeat(33)}\n`, NO_ITEMS],
  ['one endless line', '', 'x', longLine(1)],
  ['a zip', 'PK\x03\x04\x14\0', 'x', NOT_TEXT],
  ['a picture', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'x', NOT_TEXT],
])('20 MB are refused with a sentence: %s', async (_, start, text, sentence) => {
  const result = await readTemplate(repeated(start, text, 19))
  const [first] = result.ok ? [] : result.problems.listed
  expect(first).toEqual({ line: null, column: '', found: '', expected: expect.stringContaining(sentence) })
})

test('a file of more than 20 MB is refused while it arrives, and the rest of it is not read', async () => {
  let arrived = 0
  async function* endless() {
    yield Buffer.from(NAMES)
    const line = Buffer.from(`A,1,${' '.repeat(60_000)}\n`)
    for (;;) {
      arrived += line.length
      yield line
    }
  }
  const result = await readTemplate(endless())
  const [first] = result.ok ? [] : result.problems.listed
  expect(first?.expected).toBe('This file is larger than 20 MB. Split it into several catalogues.')
  expect(arrived).toBeLessThan(20_100_000)
})

test('100,000 items are read, and one more is refused', async () => {
  async function* items(count: number) {
    yield Buffer.from(NAMES)
    for (let item = 0; item < count; item += 1000)
      yield Buffer.from(
        Array.from({ length: Math.min(1000, count - item) }, (_, at) => `A${item + at},1\n`).join(''),
      )
  }
  const most = await readTemplate(items(100_000))
  expect(most.ok && most.items.length).toBe(100_000)
  const more = await readTemplate(items(100_001))
  expect(more.ok ? [] : more.problems.listed.map(({ expected }) => expected)).toEqual([MANY_ITEMS])
})

test('other work of the process goes on while a file is read', async () => {
  let turns = 0
  let isRead = false
  const turn = () => {
    turns++
    if (!isRead) setImmediate(turn)
  }
  turn()
  await readTemplate(repeated(NAMES, `A,1${' '.repeat(50)}\n`, 1))
  isRead = true
  // At least once for every 16 kB.
  expect(turns).toBeGreaterThan(MB / 16_384)
})
