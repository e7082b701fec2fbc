import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import {
  openPriceList,
  PRICE_LIST_FOLDERS,
} from '../../../src/features/live-pricing/csv-price-provider/price-list.ts'
import { tempDir } from '../../support/env.ts'
import { workbook } from '../../support/xlsx.ts'
import { layoutOf } from '../price-files/read-support.ts'
import { type Files, line, loadPrices, SAMPLE, SMALL, testSupplier, writeFiles } from './support.ts'

const { dir, remove } = tempDir()
afterEach(() => remove())

/** The small price list with these items, as the file `name`. */
function folderWith(items: string | Uint8Array, name = 'items.csv'): string {
  const { stores = [], members = [] } = SMALL
  const folder = writeFiles(join(dir, `csv-${Math.random()}`), { stores, members })
  rmSync(join(folder, 'items.csv'), { force: true })
  writeFileSync(join(folder, name), items)
  return folder
}

/** The unit prices of items at a store, in the list that is live. */
async function livePrices(...codes: string[]) {
  const list = openPriceList(join(dir, PRICE_LIST_FOLDERS.production))
  const lines = codes.map((itemId) => ({ itemId, storeId: 'S1', quantity: 1 }))
  const priced = await list.prices(lines, null, AbortSignal.timeout(5_000))
  list.close()
  return priced.map((price) => ('unitPrice' in price ? Number(price.unitPrice) : null))
}
const load = (folder: string, options?: Parameters<typeof loadPriceList>[2]) =>
  loadPriceList(folder, join(dir, PRICE_LIST_FOLDERS.production), options)

describe('a load reads the same files as an import:', () => {
  test.each<[string, string, Record<string, number>]>([
    ['prices with currency and thousands', 'code,price\nA,$1.50\nB,"1,234.50"\n', { A: 1.5, B: 1234.5 }],
    ['thousands', 'code,price\nA,"1,250"\nB,12.50\n', { A: 1250, B: 12.5 }],
    ['the same item twice', 'code,price\nA,1\nB,2\nA,1.00\n', { A: 1, B: 2 }],
    ['headings in any case and order', 'Unit,PRICE,Code\neach,1.5,A\neach,2,B\n', { A: 1.5, B: 2 }],
  ])('%s', async (_name, items, prices) => {
    await load(folderWith(items))
    expect(await livePrices(...Object.keys(prices))).toEqual(Object.values(prices))
  })

  test('Windows-1252, UTF-16 and a workbook', async () => {
    const text = 'code\tprice\nA\u00eb\t1.5\n'
    for (const items of [Buffer.from(text, 'latin1'), Buffer.from(`\ufeff${text}`, 'utf16le')]) {
      await load(folderWith(items))
      expect(await livePrices('A\u00eb')).toEqual([1.5])
    }
    const rows = [
      ['Code', 'Price'],
      ['A', { value: 1250, format: '#,##0' }],
      ['B', 12.5],
    ]
    await load(folderWith(workbook([{ name: 'Items', rows }]), 'items.xlsx'))
    expect(await livePrices('A', 'B')).toEqual([1250, 12.5])
  })

  test('decimal commas, if that is said', async () => {
    await load(folderWith('code;price\nA;1.250\nB;12,50\n'), { decimal: 'comma' })
    expect(await livePrices('A', 'B')).toEqual([1250, 12.5])
  })
})

test('only stores and items are required', async () => {
  const { stores = [] } = SMALL
  const folder = writeFiles(join(dir, 'csv'), { stores, items: ['code,price', 'A,1'] })
  expect((await load(folder)).counts).toMatchObject({ items: 1, openings: 0, members: 0, discounts: 0 })
})

test('a discount applies from its first to its last day, in the time zone of the store', async () => {
  let ms = 0
  const supplier = await testSupplier(
    { ...SMALL, discounts: ['item,percent,from,until', 'A,10,2026-07-02,2026-07-02'] },
    { now: () => ms, tokenSeconds: 4_000_000_000 },
  )
  const seen = []
  // Midnight in Melbourne is 14:00 UTC in July.
  for (const time of ['01T13:59:59Z', '01T14:00:00Z', '02T13:59:59Z', '02T14:00:00Z']) {
    ms = Date.parse(`2026-07-${time}`)
    seen.push((await supplier.prices([line('A')]))[0]?.discount)
  }
  expect(seen).toEqual([0, 1.25, 1.25, 0])
})

test('a request during which a load ends is answered from the old list as a whole', async () => {
  const { stores = [], members = [] } = SMALL
  const [before = '', after = ''] = ['1', '2'].map((price) =>
    writeFiles(join(dir, `csv-${price}`), { stores, members, items: ['code,price', `A,${price}`] }),
  )
  await load(before)
  // The clock is read after the first query of a request.
  const now = () => {
    const script = 'src/features/live-pricing/cli-load-prices.ts'
    execFileSync(process.execPath, [script, after], { env: { ...process.env, DATA_DIR: dir } })
    return Date.now()
  }
  const list = openPriceList(join(dir, PRICE_LIST_FOLDERS.production), now)
  const price = () =>
    list.prices([{ itemId: 'A', storeId: 'S1', quantity: 1 }], 'CUST1', AbortSignal.timeout(60_000))
  expect([await price(), await price()]).toEqual([[{ unitPrice: '1' }], [{ unitPrice: '2' }]])
  list.close()
})

test('a load that has a problem, or begins during another, is refused and leaves the current prices live', async () => {
  const priced = (price: string): Files => ({
    ...SMALL,
    items: ['code,price', `A,${price}`, 'B,1', 'D,1'],
    discounts: ['item,percent'],
  })
  const supplier = await testSupplier(priced('1'))
  const price = async () => (await supplier.prices([line('A')]))[0]?.unitPrice
  await expect(supplier.load(priced('free'))).rejects.toThrow('nothing was loaded')
  expect(await price()).toBe(1)
  const [first, second] = await Promise.allSettled([supplier.load(priced('2')), supplier.load(priced('3'))])
  expect(first.status).toBe('fulfilled')
  expect(second).toMatchObject({ reason: { message: expect.stringContaining('another load is running') } })
  expect(await price()).toBe(2)
})

describe('npm run feature -- live-pricing load-prices', () => {
  const OWN = 'Trade list\nArtikel,Preis,Inkl.\nA,11,Y\nB,2,N\n'
  const USES = { Artikel: 'code', Preis: 'price' } as const
  const pathTo = (layout: object) => {
    const path = join(dir, 'layout.json')
    writeFileSync(path, JSON.stringify(layout))
    return path
  }

  test('loads the sample, for production and for staging, and says what it loaded', async () => {
    for (const args of [[SAMPLE], [SAMPLE, '--staging']]) {
      const { code, output } = await loadPrices(dir, ...args)
      expect(code).toBe(0)
      expect(output).toMatch(
        /^Loaded 1,960 items, 40 stores, 292 openings, 26 holidays, 455 prices of single stores, 5 members, 54 discounts( for staging)?\. The price list is live\.\n$/,
      )
    }
  })

  test('explains what is wrong and exits with 1', async () => {
    const bad = folderWith('code,price\nA,free')
    for (const [args, words] of [
      [
        [bad],
        /^The price list has 1 problem; nothing was loaded\.\nitems\.csv, line 2: the price "free" is not an amount/,
      ],
      [[join(dir, 'nowhere')], /^The folder .*nowhere does not exist\.$/m],
      [[], /missing required argument 'folder'[\s\S]*Usage: npm run feature -- live-pricing load-prices/],
    ] as [string[], RegExp][])
      expect(await loadPrices(dir, ...args)).toEqual({ code: 1, output: expect.stringMatching(words) })
  })

  test('with --skip-problems leaves rows with problems out, and lists them', async () => {
    const folder = folderWith('code,price\nA,1\nB,=cmd\nC,3\nD,4\nD,5\n')
    const { code, output } = await loadPrices(dir, folder, '--skip-problems')
    expect(code, output).toBe(0)
    expect(output.trim().split('\n')).toEqual([
      expect.stringMatching(/^Loaded 2 items/),
      expect.stringMatching(/^Left out: items\.csv, line 3: the price "=cmd" is not an amount/),
      expect.stringMatching(/^Left out: items\.csv, line 6: .*different prices/),
    ])
  })

  test('reads headings of its own as a layout says that somebody has confirmed', async () => {
    const uses = { ...USES, 'Inkl.': { use: 'tax included', yes: ['Y'] } } as const
    const folder = folderWith(OWN)
    const layout = pathTo(await layoutOf(OWN, { uses, tax: 10 }))
    const { code, output } = await loadPrices(dir, folder, '--layout', layout)
    expect(code, output).toBe(0)
    expect(await livePrices('A', 'B')).toEqual([10, 2])
  })

  test('ends with 2 and loads nothing if nobody has confirmed the layout, and says how to', async () => {
    const folder = folderWith(OWN)
    const layout = pathTo(await layoutOf(OWN.replace('Trade', 'Retail'), { uses: USES }))
    const { code, output } = await loadPrices(dir, folder, '--layout', layout)
    expect(code).toBe(2)
    expect(output).toContain('the file now says “Trade list”')
    expect(output).toMatch(/load-prices \S+ --save-layout layout\.json/)
    await expect(livePrices('A')).rejects.toThrow()
  })

  test('of a layout with a row that has a problem loads nothing, and with --skip-problems the others', async () => {
    const folder = folderWith(`${OWN}C,1-,N\n`)
    const layout = pathTo(await layoutOf(OWN, { uses: USES }))
    expect(await loadPrices(dir, folder, '--layout', layout)).toEqual({
      code: 1,
      output: expect.stringContaining('items.csv, line 5: the price is negative'),
    })
    expect(await loadPrices(dir, folder, '--layout', layout, '--skip-problems')).toEqual({
      code: 0,
      output: expect.stringContaining('Loaded 2 items'),
    })
  })
})
