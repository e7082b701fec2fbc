import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import { openPriceLists } from '../../../src/features/live-pricing/csv-price-provider/price-lists.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { tempDir } from '../../support/env.ts'
import { command } from '../../support/process.ts'
import { workbook } from '../../support/xlsx.ts'
import { SMALL, writeFiles } from './support.ts'

const { dir, remove } = tempDir()
afterEach(() => remove())
const lists = () => join(dir, 'lists')

/** The small price list with these items, as the file `name`. */
function folderWith(items: string | Uint8Array, name = 'items.csv'): string {
  const folder = writeFiles(join(dir, `csv-${Math.random()}`), {
    stores: SMALL.stores ?? [],
    members: SMALL.members ?? [],
  })
  rmSync(join(folder, 'items.csv'), { force: true })
  writeFileSync(join(folder, name), items)
  return folder
}

/** The unit prices of items at a store after a load. */
async function pricesOf(folder: string, codes: string[], options?: Parameters<typeof loadPriceList>[2]) {
  await loadPriceList(folder, lists(), options)
  const provider = openPriceLists(lists(), createLog('silent'))
  const lines = codes.map((itemId) => ({ itemId, storeId: 'S1', quantity: 1 }))
  const priced = await provider.prices(lines, null, AbortSignal.timeout(5_000))
  provider.close?.()
  return priced.map((line) => ('unitPrice' in line ? Number(line.unitPrice) : null))
}

describe('load-prices reads the same files as an import:', () => {
  test.each([
    ['prices with currency and thousands', 'code,price\nA,$1.50\nB,"1,234.50"\nC,AUD 3\n', [1.5, 1234.5, 3]],
    ['thousands', 'code,price\nA,"1,250"\nB,12.50\nC,2\n', [1250, 12.5, 2]],
    ['floats of a spreadsheet', 'code,price\nA,926.6400000000001\nB,2\nC,3\n', [926.64, 2, 3]],
    ['the same item twice', 'code,price\nA,1\nB,2\nC,3\nA,1.00\n', [1, 2, 3]],
    ['titles above the headings', 'Summit Supplies,\n\nCode,Price\nA,1\nB,2\nC,3\n', [1, 2, 3]],
  ])('%s', async (_name, items, prices) => {
    expect(await pricesOf(folderWith(items), ['A', 'B', 'C'])).toEqual(prices)
  })

  test('Windows-1252 and UTF-16', async () => {
    const text = 'code\tprice\nZo\u00eb\t1.5\n'
    expect(await pricesOf(folderWith(Buffer.from(text, 'latin1')), ['Zoë'])).toEqual([1.5])
    expect(await pricesOf(folderWith(Buffer.from(`\ufeff${text}`, 'utf16le')), ['Zoë'])).toEqual([1.5])
  })

  test('a workbook', async () => {
    const rows = [
      ['Code', 'Price'],
      ['A', { value: 1250, format: '#,##0' }],
      ['B', 12.5],
    ]
    const items = workbook([{ name: 'Items', rows }])
    expect(await pricesOf(folderWith(items, 'items.xlsx'), ['A', 'B'])).toEqual([1250, 12.5])
  })

  test('decimal commas, if that is said', async () => {
    const folder = folderWith('code;price\nA;1.250\nB;12,50\nC;2\n')
    await expect(loadPriceList(folder, lists())).rejects.toThrow(
      'the price "12,50" is invalid; write it as 1234.50',
    )
    expect(await pricesOf(folder, ['A', 'B', 'C'], { decimal: 'comma' })).toEqual([1250, 12.5, 2])
  })

  test('but not one of two files of the same name', async () => {
    const folder = folderWith('code,price\nA,1\n')
    writeFileSync(join(folder, 'items.tsv'), 'code\tprice\nA\t2\n')
    await expect(loadPriceList(folder, lists())).rejects.toThrow(
      'items.csv and items.tsv are both there: keep one of them.',
    )
  })
})

test('load-prices --skip-problems leaves rows with problems out, and reports them', async () => {
  const folder = folderWith('code,price\nA,1\nB,=cmd\nC,3\nD,4\nD,5\n')
  const report = join(dir, 'report.csv')
  const program = await command(
    'src/features/live-pricing/cli-load-prices.ts',
    { DATA_DIR: dir },
    { args: [folder, '--skip-problems', '--report', report] },
  )
  expect(program.code, program.output).toBe(0)
  expect(program.output).toMatch(/^Loaded 2 items/)
  expect(program.output).toContain('Left out: items.csv, line 3: the price "=cmd" has words')
  expect(readFileSync(report, 'utf8').trim().split('\n')).toEqual([
    'File,Line,Reason',
    expect.stringMatching(/^items\.csv,3,/),
    expect.stringMatching(/^items\.csv,6,.*different prices/),
  ])
})

test('load-prices refuses a report that could replace a file of the price list', async () => {
  const folder = folderWith('code,price\nA,1\n')
  const args = [folder, '--skip-problems', '--report', join(folder, 'items.csv')]
  const program = await command('src/features/live-pricing/cli-load-prices.ts', { DATA_DIR: dir }, { args })
  expect(program.code).toBe(1)
  expect(program.output).toContain('must not be in the folder of the price list')
  expect(readFileSync(join(folder, 'items.csv'), 'utf8')).toBe('code,price\nA,1\n')
})

test.each<[string, string, () => string | Uint8Array, RegExp]>([
  [
    'a workbook with hidden columns from −1,000,000,000',
    'items.xlsx',
    () =>
      workbook([{ name: 'Items', rows: [] }], {
        parts: {
          'xl/worksheets/sheet1.xml':
            '<worksheet><cols><col min="-1000000000" max="3" hidden="1"/></cols><sheetData/></worksheet>',
        },
      }),
    /^items\.xlsx, line 0: the sheet describes a column without a valid number/m,
  ],
  [
    'a row of 20 MB of commas',
    'items.csv',
    () => `code,price\n${','.repeat(20_000_000)}\nA,1\n`,
    /^items\.csv, line 2: it has more than 16384 columns/m,
  ],
])('load-prices refuses %s, and names the file and the line', async (_name, name, create, message) => {
  await expect(loadPriceList(folderWith(create(), name), lists())).rejects.toThrow(message)
})
