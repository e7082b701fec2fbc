import { describe, expect, test } from 'vitest'
import {
  doubtsPrice,
  guessColumns,
  isNumber,
  isPricePerSeveral,
  isTitlePerSeveral,
  mayBePrice,
} from '../../../src/features/price-files/columns.ts'
import { findHeadings } from '../../../src/features/price-files/headings.ts'
import { createItemReader } from '../../../src/features/price-files/items.ts'
import {
  saysTaxExcluded,
  saysTaxIncluded,
  saysTaxOfSome,
  taxMarkOf,
} from '../../../src/features/price-files/tax.ts'
import { createCellFormats } from '../../../src/tables/cell-formats.ts'
import { createPriceReader, namesOtherCurrency } from '../../../src/tables/prices.ts'
import { hasLostDigits, isConverted, isShortened } from '../../../src/tables/shortened-codes.ts'
import { workbook } from '../../support/xlsx.ts'
import { failure, read } from './read-support.ts'

/** How often a part is repeated. An expression that takes time with the square of that needs half a second and more. */
const TIMES = 20_000
/** CPU time, in ms, that linear ones stay far below. */
const MAX_MS = 250

/** The CPU time of some work, in ms: other programs do not count. */
async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const HOSTILE: [name: string, text: string][] = [
  ['blanks', `1${' '.repeat(TIMES)}x`],
  ['blanks behind a currency', `$${' '.repeat(TIMES)}x`],
  ['digits', `${'1'.repeat(TIMES)}x`],
  ['thousands', `${'1,234'.repeat(TIMES)}x`],
  ['points', `1${'.'.repeat(TIMES)}x`],
  ['tabs and digits', `${'1\t'.repeat(TIMES)}x`],
  ['the word price', 'price '.repeat(TIMES)],
  ['the word prices', `${'prices '.repeat(TIMES)} 5%`],
  ['the word add', `${'add '.repeat(TIMES)} 5%`],
  ['the words per and a number', `price ${'per 1'.repeat(TIMES)}x`],
  ['words about tax', 'inc of all the 10 '.repeat(TIMES)],
  ['words about the trade', `prices ${'list are all '.repeat(TIMES)}`],
  ['the word new', `sell ${'new'.repeat(TIMES)}`],
  ['quotes and line breaks', '"\n'.repeat(TIMES)],
  ['the number of a date', `${'1/'.repeat(TIMES)}x`],
]

const reader = () =>
  createItemReader({
    headings: ['Code', 'Price', 'Remarks', 'Per', 'Currency', 'GST', 'Action', 'Price level'],
    columns: { code: 0, price: 1 },
    delimiter: ',',
    gst: undefined,
  })
const inEachCell = (text: string) => {
  for (let column = 0; column < 8; column++) {
    const cells = ['A', '1.50', '', '', '', '', '', ''].with(column, text)
    reader().read({ line: 2, cells })
  }
}
const asHeadings = (text: string) => {
  const rows = [
    { line: 1, cells: ['Code', 'Price', text] },
    { line: 2, cells: ['A', '1', text] },
  ]
  return findHeadings(rows, undefined, [])
}
const refused = (work: () => unknown) => {
  try {
    work()
  } catch {
    // What is too long may be refused.
  }
}

const READERS: [name: string, (text: string) => unknown][] = [
  ['a price', (text) => createPriceReader().read(text)],
  ['a price with a comma', (text) => createPriceReader('comma').read(text)],
  ['a price as it is shown', (text) => createPriceReader().read(text, 1)],
  ['a number', isNumber],
  ['a currency', namesOtherCurrency],
  ['a code', (text) => [isShortened(text), isConverted(text), hasLostDigits(text)]],
  ['a note', (text) => doubtsPrice(text, 'Price')],
  ['a name', isPricePerSeveral],
  ['a title', isTitlePerSeveral],
  ['a heading', (text) => [mayBePrice(text), guessColumns(['Code', text])]],
  [
    'tax',
    (text) => [saysTaxIncluded(text), saysTaxExcluded(text), saysTaxOfSome(text), taxMarkOf('GST', text)],
  ],
  ['the cells of a row', inEachCell],
  ['headings', (text) => refused(() => asHeadings(text))],
]

describe('a cell of 20,000 repetitions takes no time with the square of its length, read as', () => {
  test.each(READERS)('%s', async (_name, readText) => {
    readText('warm')
    for (const [name, text] of HOSTILE)
      expect({ name, ms: await cpuOf(() => readText(text)) }).toEqual({ name, ms: expect.toSatisfy(isShort) })
  })
})

const isShort = (ms: number) => ms < MAX_MS

test('a number whose format is a long text takes no time with the square of it', async () => {
  const formats = createCellFormats(false)
  const { open } = formats.events
  open('numFmt', { numFmtId: '200', formatCode: `"${'x'.repeat(TIMES)}"0"${'y'.repeat(TIMES)}1"` })
  open('cellXfs', {})
  open('xf', { numFmtId: '200' })
  expect(await cpuOf(() => formats.show(1, 0))).toSatisfy(isShort)
})

test.each([
  ['merged cells', `<mergeCells><mergeCell ref="A1:${'1'.repeat(200_000)}x"/></mergeCells>`],
  ['a page header', `<headerFooter><oddHeader>${'&amp;"'.repeat(200_000)}x</oddHeader></headerFooter>`],
])('%s with a text of 200,000 repetitions take no time with the square of it', async (_name, after) => {
  const parts = {
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData><row><c t="inlineStr"><is><t>Code</t></is></c></row></sheetData>${after}</worksheet>`,
  }
  const file = workbook([{ name: 'P', rows: [] }], { parts })
  expect(await cpuOf(() => failure(file))).toBeLessThan(2_000)
})

test('thousands of columns of headings in two rows take no time with the square of their number', async () => {
  const wide = (cell: string) => Array(16_000).fill(cell).join(',')
  expect(await cpuOf(() => failure(`${wide('x')}\n${wide('y')}\n`))).toBeLessThan(2_000)
  expect(await failure(`${wide('x')}\n${wide('y')}\n`)).toMatch(/it has 16000 columns; the maximum is 500/)
})

test('a long note is still understood: what it says behind its first words counts', async () => {
  const note = `Prices ${'of these items '.repeat(200)}are per 100`
  const { questions } = await read(`${note},\nCode,Price\nA,1\n`)
  expect(questions).toEqual(['columns'])
  expect(doubtsPrice(`Add 5.5% ${'to each of them '.repeat(200)}and to all prices`, 'Price')).toBe(true)
  expect(doubtsPrice('Add 5%. New prices', 'Price')).toBe(false)
})
