import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import { openPriceLists } from '../../../src/features/live-pricing/csv-price-provider/price-lists.ts'
import { createLog } from '../../../src/runtime/log.ts'
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

test('a load keeps the live list and the previous one, and deletes older ones and drafts of a killed load', async () => {
  for (let load_ = 0; load_ < 4; load_++) await load(SMALL)
  expect(readdirSync(lists()).filter((name) => name.endsWith('.sqlite'))).toHaveLength(2)
  expect(readdirSync(lists())).toHaveLength(2)
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

  test('replaces the existing ones, even if the clock was set back', async () => {
    const supplier = await startSupplier(priced('1'))
    const [first = ''] = readdirSync(supplier.lists)
    renameSync(join(supplier.lists, first), join(supplier.lists, '2999-01-01T00-00-00-000Z-00000000.sqlite'))
    await supplier.load(priced('2'))
    await vi.waitFor(async () => expect((await supplier.prices([line('IT-0')]))[0]?.unitPrice).toBe(2), 5_000)
    await supplier.close()
  })

  test('keeps the previous one, which becomes live again when the newest is deleted', async () => {
    const supplier = await startSupplier(priced('1'))
    const price = async () => (await supplier.prices([line('IT-0')]))[0]?.unitPrice
    for (const next of [2, 3]) {
      await supplier.load(priced(String(next)))
      await vi.waitFor(async () => expect(await price()).toBe(next), 5_000)
    }
    rmSync(join(supplier.lists, readdirSync(supplier.lists).sort().at(-1) ?? ''))
    await vi.waitFor(async () => expect(await price()).toBe(2), 5_000)
    await supplier.close()
  })

  test('that cannot be read is skipped, and the current prices stay live', async () => {
    const supplier = await startSupplier(priced('1'))
    const price = async () => (await supplier.prices([line('IT-0')]))[0]?.unitPrice
    expect(await price()).toBe(1)
    writeFileSync(join(supplier.lists, '2999-01-01T00-00-00-000Z-00000000.sqlite'), 'no database')
    await vi.waitFor(async () => {
      expect(await price()).toBe(1)
      expect(supplier.logLines.join('')).toContain('cannot be read')
    })
    // Nor does it hinder a process that starts now.
    const lists = openPriceLists(supplier.lists, createLog('silent'))
    expect(lists.loaded()).toBe(true)
    lists.close()
    // A good one comes after it, whatever the clock says.
    await supplier.load(priced('2'))
    await vi.waitFor(async () => expect(await price()).toBe(2), 5_000)
    await supplier.close()
  })
})

test('likely mistakes are noted: no opening hours, a group without members, unknown files', async () => {
  const { notes } = await load({ ...SMALL, members: ['number,group', 'CUST2,'], rebates: ['a,b'] })
  expect(notes).toEqual([
    expect.stringContaining('rebates.csv was ignored'),
    expect.stringContaining('hours.csv'),
    expect.stringContaining('the group "trade"'),
  ])
  const hours = ['store,day,opens,closes', 'S1,Mon,7:00,17:00']
  expect((await load({ ...SMALL, hours })).notes).toEqual([])
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
    expect(readdirSync(dir).sort()).toEqual(['price-lists', 'price-lists-staging'])
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
    expect(program.output).toMatch(/^Usage: npm run feature -- live-pricing load-prices/)
  })
})
