import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import { openPriceList } from '../../../src/features/live-pricing/csv-price-provider/price-list.ts'
import { tempDir } from '../../support/env.ts'
import { command } from '../../support/process.ts'
import { workbook } from '../../support/xlsx.ts'
import { layoutOf } from '../price-files/read-support.ts'
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
  const provider = openPriceList(lists())
  const lines = codes.map((itemId) => ({ itemId, storeId: 'S1', quantity: 1 }))
  const priced = await provider.prices(lines, null, AbortSignal.timeout(5_000))
  provider.close?.()
  return priced.map((line) => ('unitPrice' in line ? Number(line.unitPrice) : null))
}

describe('load-prices reads the same files as an import:', () => {
  test.each([
    ['prices with currency and thousands', 'code,price\nA,$1.50\nB,"1,234.50"\nC,AUD 3\n', [1.5, 1234.5, 3]],
    ['thousands', 'code,price\nA,"1,250"\nB,12.50\nC,2\n', [1250, 12.5, 2]],
    ['the same item twice', 'code,price\nA,1\nB,2\nC,3\nA,1.00\n', [1, 2, 3]],
    ['headings in any case', 'Code,PRICE\nA,1\nB,2\nC,3\n', [1, 2, 3]],
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
    expect(await pricesOf(folder, ['A', 'B', 'C'], { decimal: 'comma' })).toEqual([1250, 12.5, 2])
  })
})

test('load-prices --skip-problems leaves rows with problems out, and lists them', async () => {
  const folder = folderWith('code,price\nA,1\nB,=cmd\nC,3\nD,4\nD,5\n')
  const program = await command(
    'src/features/live-pricing/cli-load-prices.ts',
    { DATA_DIR: dir },
    { args: [folder, '--skip-problems'] },
  )
  expect(program.code, program.output).toBe(0)
  expect(program.output.trim().split('\n')).toEqual([
    expect.stringMatching(/^Loaded 2 items/),
    expect.stringMatching(/^Left out: items\.csv, line 3: the price "=cmd" has words/),
    expect.stringMatching(/^Left out: items\.csv, line 6: .*different prices/),
  ])
})

describe('load-prices of a price list with headings of its own', () => {
  const OWN = 'Trade list\nArtikel,Preis,Inkl.\nA,11,Y\nB,2,N\n'
  const load = (folder: string, ...options: string[]) =>
    command('src/features/live-pricing/cli-load-prices.ts', { DATA_DIR: dir }, { args: [folder, ...options] })
  const pathTo = (layout: object) => {
    const path = join(dir, 'layout.json')
    writeFileSync(path, JSON.stringify(layout))
    return path
  }

  test('reads it as a layout says that somebody has confirmed', async () => {
    const folder = folderWith(OWN)
    const uses = { Artikel: 'code', Preis: 'price', 'Inkl.': { use: 'tax included', yes: ['Y'] } } as const
    const layout = await layoutOf(OWN, { uses, tax: 10 })
    const { code, output } = await load(folder, '--layout', pathTo(layout))
    expect(code, output).toBe(0)
    const provider = openPriceList(join(dir, 'price-lists'))
    const lines = ['A', 'B'].map((itemId) => ({ itemId, storeId: 'S1', quantity: 1 }))
    expect(await provider.prices(lines, null, AbortSignal.timeout(5_000))).toMatchObject([
      { unitPrice: '10' },
      { unitPrice: '2' },
    ])
    provider.close()
  })

  test('ends with 2 and loads nothing if nobody has confirmed it, and says how to', async () => {
    const folder = folderWith(OWN)
    const other = await layoutOf(OWN.replace('Trade', 'Retail'), {
      uses: { Artikel: 'code', Preis: 'price' },
    })
    const { code, output } = await load(folder, '--layout', pathTo(other))
    expect(code).toBe(2)
    expect(output).toContain('the file now says “Trade list”')
    expect(output).toMatch(/load-prices \S+ --save-layout layout\.json/)
    expect(openPriceList(join(dir, 'price-lists')).loaded()).toBe(false)
  })

  test('with a row that has a problem loads nothing, and with --skip-problems the others', async () => {
    const folder = folderWith(`${OWN}C,1-,N\n`)
    const layout = pathTo(await layoutOf(OWN, { uses: { Artikel: 'code', Preis: 'price' } }))
    const refused = await load(folder, '--layout', layout)
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringContaining('items.csv, line 5: the price is negative'),
    })
    const { code, output } = await load(folder, '--layout', layout, '--skip-problems')
    expect(code, output).toBe(0)
    expect(output).toContain('Loaded 2 items')
  })
})
