import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import { tempDir } from '../../support/env.ts'
import { command } from '../../support/process.ts'
import { type Files, line, SAMPLE, SMALL, startSupplier, writeFiles } from './support.ts'

const { dir, remove } = tempDir()
afterEach(() => remove())
const lists = () => join(dir, 'lists')
const load = (files: Files) => loadPriceList(writeFiles(join(dir, `csv-${Math.random()}`), files), lists())

test('columns can be in any order, items can have other columns, and only stores and items are required', async () => {
  const loaded = await load({
    items: ['Price,Supplier note,CODE', '1.5,whatever,A'],
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

describe('a new price list', () => {
  const items = Array.from({ length: 10 }, (_, at) => `IT-${at}`)
  const priced = (price: string): Files => ({
    ...SMALL,
    prices: ['item,store,price'],
    discounts: ['item,percent'],
    items: ['code,price', ...items.map((code) => `${code},${price}`)],
  })

  test('under 200 concurrent requests: each response uses either the old or the new list, and none fails', async () => {
    const supplier = await startSupplier(priced('1'))
    const seen = new Set<string>()
    let going = true
    let calls = 0
    const caller = async () => {
      while (going) {
        const answers = await supplier.prices(items.map((code) => line(code)))
        const prices = new Set(answers.map(({ unitPrice }) => String(unitPrice)))
        expect(prices.size, [...prices].join()).toBe(1)
        seen.add([...prices].join())
        calls++
        // Room for the load, which runs in this process too.
        await pause(200)
      }
    }
    const callers = Array.from({ length: 200 }, caller)
    for (const price of ['2', '3', '4']) {
      await supplier.load(priced(price))
      await vi.waitFor(() => expect(seen).toContain(price), 10_000)
    }
    going = false
    await Promise.all(callers)
    expect([...seen].sort()).toEqual(['1', '2', '3', '4'])
    expect(calls).toBeGreaterThan(200)
    await supplier.close()
  })

  test('that has a problem leaves the current prices live, and so does a load that is refused during another', async () => {
    const supplier = await startSupplier(priced('1'))
    await expect(supplier.load(priced('free'))).rejects.toThrow('nothing was loaded')
    const [first, second] = await Promise.allSettled([supplier.load(priced('2')), supplier.load(priced('3'))])
    expect([first.status, second]).toEqual([
      'fulfilled',
      {
        status: 'rejected',
        reason: expect.objectContaining({ message: expect.stringContaining('another load') }),
      },
    ])
    expect((await supplier.prices([line('IT-0')]))[0]?.unitPrice).toBe(2)
    await supplier.close()
  })
})

describe('npm run load-prices', () => {
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
        /^The price list has 1 problem; nothing was loaded\.\nitems\.csv, line 2: the price "free" is invalid/,
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
    expect(program.output).toMatch(/^Usage: npm run load-prices --/)
  })
})
