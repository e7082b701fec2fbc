import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import { openPriceList } from '../../../src/features/live-pricing/csv-price-provider/price-list.ts'
import { tempDir } from '../../support/env.ts'
import { command } from '../../support/process.ts'
import { type Files, line, SAMPLE, SMALL, startSupplier, writeFiles } from './support.ts'

const { dir, remove } = tempDir()
afterEach(() => remove())
const lists = () => join(dir, 'lists')
const load = (files: Files) => loadPriceList(writeFiles(join(dir, `csv-${Math.random()}`), files), lists())

test('columns can be in any order, items can have names and units, and only stores and items are required', async () => {
  const loaded = await load({
    items: ['Price,Unit,CODE', '1.5,each,A'],
    stores: ['time_zone,longitude,latitude,name,id', 'UTC,1,2,First,S1'],
  })
  expect(loaded.counts).toMatchObject({ items: 1, stores: 1, openings: 0, members: 0, discounts: 0 })
})

test('a discount applies from its first to its last day, in the time zone of the store', async () => {
  let ms = Date.parse('2026-07-01T13:59:59Z')
  const supplier = await startSupplier(
    { ...SMALL, discounts: ['item,percent,from,until', 'A,10,2026-07-02,2026-07-02'] },
    { now: () => ms, tokenSeconds: 1_000_000 },
  )
  const discount = async () => (await supplier.prices([line('A', 'S1', 1)]))[0]?.discount
  const seen = [await discount()]
  // Midnight in Melbourne is 14:00 UTC in July.
  for (const time of ['2026-07-01T14:00:00Z', '2026-07-02T13:59:59Z', '2026-07-02T14:00:00Z']) {
    ms = Date.parse(time)
    seen.push(await discount())
  }
  expect(seen).toEqual([0, 1.25, 1.25, 0])
  await supplier.close()
})

test('a request during which a load ends is answered from the old list as a whole', async () => {
  const [before, after] = ['1', '2'].map((price) =>
    writeFiles(join(dir, `csv-${price}`), {
      stores: SMALL.stores ?? [],
      members: SMALL.members ?? [],
      items: ['code,price', `A,${price}`],
    }),
  )
  const folder = join(dir, 'price-lists')
  await loadPriceList(before ?? '', folder)
  // The clock is read after the first query of a request.
  const now = () => {
    const script = 'src/features/live-pricing/cli-load-prices.ts'
    execFileSync(process.execPath, [script, after ?? ''], { env: { ...process.env, DATA_DIR: dir } })
    return Date.now()
  }
  const list = openPriceList(folder, now)
  const price = () =>
    list.prices([{ itemId: 'A', storeId: 'S1', quantity: 1 }], 'CUST1', AbortSignal.timeout(60_000))
  expect([await price(), await price()]).toEqual([[{ unitPrice: '1' }], [{ unitPrice: '2' }]])
  list.close()
})

test('a load that has a problem, or begins during another, is refused and leaves the current prices live', async () => {
  const priced = (price: string): Files => ({ ...SMALL, items: ['code,price', `A,${price}`, 'B,1', 'D,1'] })
  const supplier = await startSupplier({ ...priced('1'), discounts: ['item,percent'] })
  const price = async () => (await supplier.prices([line('A')]))[0]?.unitPrice
  await expect(supplier.load(priced('free'))).rejects.toThrow('nothing was loaded')
  expect(await price()).toBe(1)
  const discounts = ['item,percent']
  const [first, second] = await Promise.allSettled([
    supplier.load({ ...priced('2'), discounts }),
    supplier.load({ ...priced('3'), discounts }),
  ])
  expect(first.status).toBe('fulfilled')
  expect(second).toMatchObject({ reason: { message: expect.stringContaining('another load is running') } })
  expect(await price()).toBe(2)
  await supplier.close()
})

describe('npm run feature -- live-pricing load-prices', () => {
  test('loads the sample, for production and for staging, and says what it loaded', async () => {
    for (const args of [[SAMPLE], [SAMPLE, '--staging']]) {
      const program = await command(
        'src/features/live-pricing/cli-load-prices.ts',
        { DATA_DIR: dir },
        { args },
      )
      expect(program.code).toBe(0)
      expect(program.output).toMatch(
        /^Loaded 1,960 items, 40 stores, 292 openings, 26 holidays, 455 prices of single stores, 5 members, 54 discounts( for staging)?\. The price list is live\.\n$/,
      )
    }
  })

  test('explains what is wrong and exits 1', async () => {
    const folder = writeFiles(join(dir, 'csv'), { ...SMALL, items: ['code,price', 'A,free'] })
    for (const [args, words] of [
      [
        [folder],
        /^The price list has 1 problem; nothing was loaded\.\nitems\.csv, line 2: the price "free" has words/,
      ],
      [[join(dir, 'nowhere')], /^The folder .*nowhere does not exist\.$/m],
      [[], /missing required argument 'folder'[\s\S]*Usage/],
    ] as [string[], RegExp][]) {
      const program = await command(
        'src/features/live-pricing/cli-load-prices.ts',
        { DATA_DIR: dir },
        { args },
      )
      expect(program.code).toBe(1)
      expect(program.output).toMatch(words)
    }
  })

  test('explains itself with --help', async () => {
    const program = await command('src/features/live-pricing/cli-load-prices.ts', {}, { args: ['--help'] })
    expect(program.code).toBe(0)
    expect(program.output).toMatch(/^Usage: npm run feature -- live-pricing load-prices/)
  })
})
