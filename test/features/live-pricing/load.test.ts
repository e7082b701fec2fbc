import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import { openPriceLists } from '../../../src/features/live-pricing/csv-price-provider/price-lists.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { tempDir } from '../../support/app.ts'
import { run } from '../../support/process.ts'
import { type Files, line, SAMPLE, SMALL, startSupplier, writeFiles } from './support.ts'

const { dir, remove } = tempDir()
afterEach(() => remove())
const lists = () => join(dir, 'lists')
const load = (files: Files) => loadPriceList(writeFiles(join(dir, `csv-${Math.random()}`), files), lists())

describe('a price list with a problem is not loaded, and every problem is told by file and line:', () => {
  const change = (name: string, ...lines: string[]): Files => ({
    ...SMALL,
    [name]: [...(SMALL[name] ?? []), ...lines],
  })
  test.each<[string, Files, RegExp[]]>([
    ['no items.csv', { stores: SMALL.stores ?? [] }, [/^items\.csv: there is no such file/]],
    ['no stores.csv', { items: SMALL.items ?? [] }, [/^stores\.csv: there is no such file/]],
    [
      'a missing column',
      { ...SMALL, items: ['code,cost', 'A,1'] },
      [/^items\.csv, line 1: there is no column "price"/],
    ],
    [
      'a misspelt column',
      { ...SMALL, discounts: ['item,percent,untill', 'A,5,2026-01-01'] },
      [/^discounts\.csv, line 1: "untill" is no column/],
    ],
    [
      'a column twice',
      { ...SMALL, items: ['code,price,Price', 'A,1,2'] },
      [/line 1: the column "price" is there twice/],
    ],
    [
      'another number of cells',
      change('items', 'E,1'),
      [/^items\.csv, line 6: it has 2 cells, and there are 4/],
    ],
    [
      'prices that are none',
      { ...SMALL, items: ['code,price', 'E,abc', 'F,-1', 'G,1.23456', 'H,"$1"', 'I,poa'] },
      [2, 3, 4, 5, 6].map((at) => new RegExp(`^items\\.csv, line ${at}: price ".+" must be dollars`)),
    ],
    [
      'a code twice',
      change('items', 'A,Board,Timber,1'),
      [/^items\.csv, line 6: the item A was there before/],
    ],
    ['no code', change('items', ',Board,Timber,1'), [/^items\.csv, line 6: code must have/]],
    [
      'codes with what cannot be seen',
      change('items', 'E\u200b,Board,Timber,1', '"F\nG",Board,Timber,1'),
      [/line 6: code must have.* invisible/, /line 7: code must have/],
    ],
    [
      'a file whose name is nearly right',
      { stores: SMALL.stores ?? [], items: SMALL.items ?? [], discount: ['item,percent', 'A,5'], Prices: [] },
      [/^Prices\.csv, line 1: the name of this file must be prices\.csv/, /^discount\.csv, .*discounts\.csv/],
    ],
    [
      'a needed file whose name is nearly right',
      { Stores: SMALL.stores ?? [], item: SMALL.items ?? [] },
      [/^Stores\.csv, .* must be stores\.csv/, /^item\.csv, .* must be items\.csv/],
    ],
    [
      'a holiday without a name',
      { ...SMALL, holidays: ['date,name', '2026-12-25,'] },
      [/^holidays\.csv, line 2: name must not be empty/],
    ],
    [
      'a store twice',
      change('stores', 'S1,x,1,2,UTC,'),
      [/^stores\.csv, line 4: the store S1 was there before/],
    ],
    [
      'places that are none',
      change('stores', 'S3,x,91,2,UTC,', 'S4,x,1,abc,UTC,', 'S5,x,,2,UTC,'),
      [/line 4: latitude/, /line 5: longitude/, /line 6: latitude/],
    ],
    [
      'nothing but headings',
      { stores: SMALL.stores?.slice(0, 1) ?? [], items: ['code,price'] },
      [/^stores\.csv, line 1: there is no store/, /^items\.csv, line 1: there is no item/],
    ],
    [
      'ids that cannot be asked for',
      change('stores', 'nearest,x,1,2,UTC,', '..,x,1,2,UTC,'),
      [/line 4: id must/, /line 5: id must/],
    ],
    [
      'holidays that contradict',
      {
        ...SMALL,
        holidays: [
          'date,name,opens,closes',
          '2026-12-25,x,,',
          '2026-12-25,x,09:00,10:00',
          '2026-12-26,x,09:00,10:00',
          '2026-12-26,x,,',
        ],
      },
      [/line 3: 2026-12-25 was there before/, /line 5: 2026-12-26 was there before/],
    ],
    [
      'problems in several files',
      {
        ...change('stores', 'S1,x,1,2,UTC,'),
        items: ['code,price', 'A,free', 'B,1', 'D,1'],
        members: ['no'],
      },
      [
        /^stores\.csv, line 4/,
        /^items\.csv, line 2/,
        /^members\.csv, line 1: there is no column "number"/,
        /^members\.csv, line 1: "no" is no column/,
      ],
    ],
    ['a time zone that is none', change('stores', 'S3,x,1,2,Mars/Base,'), [/line 4: time_zone/]],
    ['a store without a name', change('stores', 'S3,,1,2,UTC,'), [/line 4: name/]],
    [
      'prices of nothing',
      change('prices', 'A,S9,1', 'Z,S1,1', 'A,S2,2'),
      [
        /line 5: there is no store S9/,
        /line 6: there is no item Z/,
        /line 7: the item A had a price at the store S2 before/,
      ],
    ],
    [
      'hours that are none',
      {
        ...SMALL,
        hours: [
          'store,day,opens,closes',
          'S9,Mon,07:00,17:00',
          'S1,Someday,07:00,17:00',
          'S1,Mon,25:00,26:00',
          'S1,Mon,17:00,07:00',
          'S1,Mon,07:00,12:00',
          'S1,Mon,11:00,13:00',
        ],
      },
      [
        /line 2: there is no store S9/,
        /line 3: day/,
        /line 4: opens and closes/,
        /line 5: closes must be later/,
        /line 7: Monday has another opening/,
      ],
    ],
    [
      'holidays that are none',
      {
        ...SMALL,
        holidays: [
          'date,name,store,state',
          '2026-02-30,x,,',
          '25.12.2026,x,,',
          '2026-12-25,x,S9,',
          '2026-12-25,x,,XX',
          '2026-12-25,x,S1,VIC',
        ],
      },
      [
        /line 2: date/,
        /line 3: date/,
        /line 4: there is no store S9/,
        /line 5: there is no store in XX/,
        /line 6: it names a store and a state/,
      ],
    ],
    [
      'a member twice',
      change('members', 'CUST1,trade'),
      [/^members\.csv, line 4: the member CUST1 was in that group before/],
    ],
    [
      'discounts that are none',
      {
        ...SMALL,
        discounts: [
          'item,category,store,percent,amount,min_quantity,from,until',
          'A,Timber,,5,,,,',
          ',Nothing,,5,,,,',
          'Z,,,5,,,,',
          'A,,S9,5,,,,',
          'A,,,,,,,',
          'A,,,5,1,,,',
          'A,,,101,,,,',
          'A,,,5,,x,,',
          'A,,,5,,,2026-02-30,',
          'A,,,5,,,2026-03-01,2026-02-01',
        ],
      },
      [
        /line 2: it names an item and a category/,
        /line 3: there is no item of the category Nothing/,
        /line 4: there is no item Z/,
        /line 5: there is no store S9/,
        /line 6: it must have one of/,
        /line 7: it must have one of/,
        /line 8: percent/,
        /line 9: min_quantity/,
        /line 10: from and until/,
        /line 11: until is before from/,
      ],
    ],
    ['a file that is not UTF-8', SMALL, [/^items\.csv, line 1: .*Excel/]],
  ])('%s', async (name, files, problems) => {
    const folder = writeFiles(join(dir, 'csv'), files)
    if (name === 'a file that is not UTF-8')
      writeFileSync(join(folder, 'items.csv'), Buffer.from([0x50, 0x4b, 0x03, 0x04, 0x0a]))
    const failure = await loadPriceList(folder, lists()).catch(
      (error: unknown) => error as Error & { problems: string[] },
    )
    expect(failure).toMatchObject({ name: 'PriceListError' })
    const told = (failure as { problems: string[] }).problems
    expect(told).toHaveLength(problems.length)
    for (const [at, problem] of problems.entries()) expect(told[at]).toMatch(problem)
    expect(readdirSync(lists())).toEqual([])
  })
})

test('columns may stand in any order, items may have more of them, and only stores and items are needed', async () => {
  const loaded = await load({
    items: ['Price,Supplier note,CODE', '1.5,whatever,A'],
    stores: ['time_zone,longitude,latitude,name,id', 'UTC,1,2,First,S1'],
  })
  expect(loaded.counts).toMatchObject({ items: 1, stores: 1, openings: 0, members: 0, discounts: 0 })
})

test('the live list and the one before it stay; older ones and drafts of a killed load go', async () => {
  for (let load_ = 0; load_ < 4; load_++) await load(SMALL)
  expect(readdirSync(lists()).filter((name) => name.endsWith('.sqlite'))).toHaveLength(2)
  expect(readdirSync(lists())).toHaveLength(2)
})

test('a discount holds from its first to its last day, as days are at the store', async () => {
  let ms = Date.parse('2026-07-01T13:59:59Z')
  const supplier = await startSupplier(
    { ...SMALL, discounts: ['item,percent,from,until', 'A,10,2026-07-02,2026-07-02'] },
    { now: () => ms, tokenSeconds: 1_000_000 },
  )
  const discount = async () => (await supplier.prices([line('A', 'S1', 1)]))[0].discount
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
  const items = Array.from({ length: 40 }, (_, at) => `IT-${at}`)
  const priced = (price: string): Files => ({
    ...SMALL,
    prices: ['item,store,price'],
    discounts: ['item,percent'],
    items: ['code,price', ...items.map((code) => `${code},${price}`)],
  })

  test('under 200 concurrent requests: each answer is wholly of the old or wholly of the new, and none fails', async () => {
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

  test('comes after those that are there, also if the clock has gone back', async () => {
    const supplier = await startSupplier(priced('1'))
    const [first = ''] = readdirSync(supplier.lists)
    renameSync(join(supplier.lists, first), join(supplier.lists, '2999-01-01T00-00-00-000Z-00000000.sqlite'))
    await supplier.load(priced('2'))
    await vi.waitFor(async () => expect((await supplier.prices([line('IT-0')]))[0].unitPrice).toBe(2), 5_000)
    await supplier.close()
  })

  test('leaves the one before it there, which is live again when the newest is deleted', async () => {
    const supplier = await startSupplier(priced('1'))
    const price = async () => (await supplier.prices([line('IT-0')]))[0].unitPrice
    for (const next of [2, 3]) {
      await supplier.load(priced(String(next)))
      await vi.waitFor(async () => expect(await price()).toBe(next), 5_000)
    }
    rmSync(join(supplier.lists, readdirSync(supplier.lists).sort().at(-1) ?? ''))
    await vi.waitFor(async () => expect(await price()).toBe(2), 5_000)
    await supplier.close()
  })

  test('that cannot be read is passed over, and prices go on', async () => {
    const supplier = await startSupplier(priced('1'))
    const price = async () => (await supplier.prices([line('IT-0')]))[0].unitPrice
    expect(await price()).toBe(1)
    writeFileSync(join(supplier.lists, '2999-01-01T00-00-00-000Z-00000000.sqlite'), 'no database')
    await vi.waitFor(async () => {
      expect(await price()).toBe(1)
      expect(supplier.logLines.join('')).toContain('cannot be read')
    }, 5_000)
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

test('what is more often a mistake is noted: no opening hours, a group without members, files of other names', async () => {
  const { notes } = await load({ ...SMALL, members: ['number,group', 'CUST2,'], rebates: ['a,b'] })
  expect(notes).toEqual([
    expect.stringContaining('rebates.csv was passed over'),
    expect.stringContaining('hours.csv'),
    expect.stringContaining('the group "trade"'),
  ])
  const hours = ['store,day,opens,closes', 'S1,Mon,7:00,17:00']
  expect((await load({ ...SMALL, hours })).notes).toEqual([])
})

describe('npm run load-prices', () => {
  test('loads the sample, for production and for staging, and says what it loaded', async () => {
    for (const args of [[SAMPLE], [SAMPLE, '--staging']]) {
      const program = run('src/features/live-pricing/cli-load-prices.ts', { DATA_DIR: dir }, { args })
      expect(await program.exited).toBe(0)
      expect(program.output()).toMatch(
        /^Loaded 1,960 items, 40 stores, 292 openings, 26 holidays, 455 prices of single stores, 5 members, 54 discounts( for staging)?\. They are live now\.\n$/,
      )
    }
    expect(readdirSync(dir).sort()).toEqual(['price-lists', 'price-lists-staging'])
  })

  test('says in words what is wrong and exits 1', async () => {
    const folder = writeFiles(join(dir, 'csv'), { ...SMALL, items: ['code,price', 'A,free'] })
    for (const [args, words] of [
      [
        [folder],
        /^The price list has 1 problem; nothing was loaded\.\nitems\.csv, line 2: price "free" must be dollars/,
      ],
      [[join(dir, 'nowhere')], /^There is no folder .*nowhere\.\n\nUsage/],
      [[], /^Name one folder/],
    ] as [string[], RegExp][]) {
      const program = run('src/features/live-pricing/cli-load-prices.ts', { DATA_DIR: dir }, { args })
      expect(await program.exited).toBe(1)
      expect(program.output()).toMatch(words)
    }
  })
})
