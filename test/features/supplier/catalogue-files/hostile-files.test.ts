import { expect, onTestFinished, test, vi } from 'vitest'
import { readFile } from '../../../../src/features/supplier/catalogue-files/template.ts'
import { texts } from '../../../../src/features/supplier/catalogue-files/texts.ts'

const MB = 1_000_000
const NAMES = 'code,price\n'

/** A file of this size in megabytes, which begins with `start` and then repeats a text. It is never in memory as a whole. */
async function* repeated(start: string, text: string, megabytes: number): AsyncGenerator<Uint8Array> {
  const chunk = Buffer.from(text.repeat(Math.ceil(MB / text.length))).subarray(0, MB)
  yield Buffer.from(start, 'latin1')
  for (let sent = 0; sent < megabytes; sent++) yield chunk
}

/** Why a whole file is refused. */
const refusalOf = (chunks: AsyncIterable<Uint8Array>) =>
  readFile(chunks).then(
    () => null,
    ({ problems }) => problems.refused,
  )

const { large, longLine, manyLines, manyItems, noItems, binary } = texts.refused

test.each([
  ['commas', '', ',', longLine(1)],
  ['commas after the names', NAMES, ',', longLine(2)],
  ['lines of commas', NAMES, `${','.repeat(99)}\n`, noItems],
  ['blank lines', NAMES, '\n', manyLines],
  ['blank lines before the names', '', '\r', manyLines],
  ['quotes', NAMES, '"', longLine(2)],
  ['lines of quotes', NAMES, `${'"'.repeat(99)}\n`, manyItems],
  ['lines of empty texts in quotes', NAMES, `${'"",'.repeat(33)}\n`, noItems],
  ['one endless line', '', 'x', longLine(1)],
  ['a zip', 'PK\x03\x04\x14\0', 'x', binary],
  ['a picture', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'x', binary],
])('20 MB are refused with a sentence: %s', async (_, start, text, sentence) => {
  expect(await refusalOf(repeated(start, text, 19))).toBe(sentence)
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
  expect(await refusalOf(endless())).toBe(large)
  expect(arrived).toBeLessThan(20_100_000)
})

test('a file that arrives byte by byte is copied no more than twice', async () => {
  const file = Buffer.from(NAMES + `A,1${' '.repeat(50)}\n`.repeat(1_000))
  async function* bytes() {
    for (let at = 0; at < file.length; at++) yield file.subarray(at, at + 1)
  }
  const concat = vi.spyOn(Buffer, 'concat')
  onTestFinished(() => concat.mockRestore())
  await refusalOf(bytes())
  const copied = concat.mock.results.reduce((sum, { value }) => sum + value.length, 0)
  expect(copied).toBeLessThanOrEqual(2 * file.length)
})

test('100,000 items are read, and one more is refused', async () => {
  async function* items(count: number) {
    yield Buffer.from(NAMES)
    for (let item = 0; item < count; item += 1000)
      yield Buffer.from(
        Array.from({ length: Math.min(1000, count - item) }, (_, at) => `A${item + at},1\n`).join(''),
      )
  }
  expect(await readFile(items(100_000))).toHaveLength(100_000)
  expect(await refusalOf(items(100_001))).toBe(manyItems)
})

test('other work of the process continues while a file is read', async () => {
  let turns = 0
  let isRead = false
  const turn = () => {
    turns++
    if (!isRead) setImmediate(turn)
  }
  turn()
  await refusalOf(repeated(NAMES, `A,1${' '.repeat(50)}\n`, 1))
  isRead = true
  // At least once for every 16 kB.
  expect(turns).toBeGreaterThan(MB / 16_384)
})
