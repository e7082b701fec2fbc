import { describe, expect, test } from 'vitest'
import { writeReport } from '../../../src/features/price-files/report.ts'

import { failure } from './read-support.ts'

describe('a file that cannot be read', () => {
  test.each([
    ['empty', '', /^Line 1: the file is empty/],
    ['with headings only', 'code,price\n', /^Line 1: the file has headings but no rows/],
    ['of empty lines', '\n\n\n', /^Line 1: the file has no rows/],
    [
      'a damaged workbook',
      Buffer.from('PK\u0003\u0004rest of it', 'latin1'),
      /^Line 1: the workbook is damaged/,
    ],
    ['a PNG picture', Buffer.from('89504e470d0a1a0a', 'hex'), /^This is a picture, not a price list/],
    ['a JPEG picture', Buffer.from('ffd8ffe000104a46', 'hex'), /^This is a picture, not a price list/],
    ['an old workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /^This is an old Excel workbook/],
    [
      'binary',
      Buffer.from('code,price\nA1,1\nB1,\u0000\u0001\n', 'latin1'),
      /^Line 3: this is a binary file/,
    ],
    [
      'in UTF-8 with a damaged character',
      Buffer.concat([Buffer.from('code,price\nZoë,1\nCafé,2\nZo'), Buffer.from([0xc3])]),
      /^Line 4: the text is damaged: it is not valid UTF-8/,
    ],
    [
      'with a quote that is not closed',
      'code,price\nA1,1\n"B1,2\nC1,3\n',
      /^Line 3: a quote opened here is never closed/,
    ],
  ])('%s says so, with the line and what to do', async (_name, content, message) => {
    expect(await failure(content)).toMatch(message)
  })

  test('because of an unclosed quote is reported without reading all of a large file into memory', async () => {
    const content = Buffer.concat([Buffer.from('code,price\n"A1,1\n'), Buffer.alloc(20_000_000, 'B1,2\n')])
    expect(await failure(content)).toMatch(
      /^Line 2: a row longer than 2 MB starts here, probably because of an unclosed quote/,
    )
  })

  test('is reported with the right line even if the error is far into the file', async () => {
    const good = Array.from({ length: 50_000 }, (_, row) => `Cé${row},1\n`).join('')
    const bytes = Buffer.concat([Buffer.from(`code,price\n${good}`), Buffer.from([0xff, 0x0a])])
    expect(await failure(bytes)).toMatch(/^Line 50002: the text is damaged/)
  })
})

test.each([
  [
    '501 columns',
    `${Array.from({ length: 501 }, (_, at) => `c${at}`).join(',')}\n`,
    /^Line 1: it has 501 columns; the maximum is 500/,
  ],
  ['a heading of 201 characters', `code,price,${'x'.repeat(201)}\n`, /^Line 1: a heading is longer than 200/],
])('a file with %s is rejected, because pages list them', async (_name, content, message) => {
  expect(await failure(content)).toMatch(message)
})

test('a report that cannot be written fails its caller', async () => {
  const problem = { line: 1, reason: 'x'.repeat(1000), cells: [] }
  await expect(writeReport('/dev/full', [], Array(5_000).fill(problem))).rejects.toMatchObject({
    code: 'ENOSPC',
  })
})
