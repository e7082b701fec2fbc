import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import { openPriceList } from '../../../src/features/live-pricing/csv-price-provider/price-list.ts'
import { tempDir } from '../../support/env.ts'
import { type Files, SMALL, writeFiles } from './support.ts'

const { dir, remove } = tempDir()
afterEach(() => remove())
const lists = () => join(dir, 'lists')

describe('a price list with a problem is not loaded, and every problem is reported with its file and line:', () => {
  const change = (name: string, ...lines: string[]): Files => ({
    ...SMALL,
    [name]: [...(SMALL[name] ?? []), ...lines],
  })
  test.each<[string, Files, RegExp[]]>([
    [
      'no items.csv',
      { stores: SMALL.stores ?? [] },
      [/^items\.csv: the folder has no file with this name\.$/],
    ],
    [
      'no stores.csv',
      { items: SMALL.items ?? [] },
      [/^stores\.csv: the folder has no file with this name\.$/],
    ],
    [
      'a missing column',
      { ...SMALL, items: ['code,name', 'A,1'] },
      [/^items\.csv, line 1: the column "price" is missing/],
    ],
    [
      'a misspelt column',
      { ...SMALL, discounts: ['item,percent,untill', 'A,5,2026-01-01'] },
      [/^discounts\.csv, line 1: "untill" is an unknown column\. Use item, category,/],
    ],
    [
      'a column that may say something about the prices',
      { ...SMALL, items: ['code,price,Price Includes Taxes', 'A,1,Yes'] },
      [/^items\.csv, line 1: "price_includes_taxes" is an unknown column\. .*--layout/],
    ],
    [
      'a repeated column',
      { ...SMALL, items: ['code,price,Price', 'A,1,2'] },
      [/line 1: the column "price" occurs more than once/],
    ],
    ['too many cells', change('items', 'E,x,y,1,2'), [/^items\.csv, line 6: it has 5 cells instead of 4/]],
    [
      'invalid prices',
      { ...SMALL, items: ['code,price', 'E,abc', 'F,-1', 'G,1.23456', 'H,USD 1', 'I,poa'] },
      [
        /line 2: the price "abc" has words .* Or write POA\.$/,
        /line 3: the price is negative/,
        /line 4: the price "1\.23456" must have at most 9 digits and 4 decimals/,
        /line 5: the price "USD 1" has words or another currency/,
        /line 6: the price "poa" has words .* Or write POA\.$/,
      ],
    ],
    [
      'a repeated code',
      change('items', 'A,Board,Timber,1'),
      [/^items\.csv, line 6: the item A occurs more than once/],
    ],
    ['no code', change('items', ',Board,Timber,1'), [/^items\.csv, line 6: code must have/]],
    [
      'codes with invisible characters',
      change('items', 'E\u200b,Board,Timber,1', '"F\nG",Board,Timber,1'),
      [/line 6: code must have.* invisible/, /line 7: code must have/],
    ],
    [
      'files with other names',
      { stores: SMALL.stores ?? [], items: SMALL.items ?? [], discount: ['item,percent', 'A,5'], Prices: [] },
      [
        /^Prices\.csv: rename or remove this file\. A price list has stores\.csv, .*prices\.csv/,
        /^discount\.csv: rename or remove this file/,
      ],
    ],
    [
      'a holiday without a name',
      { ...SMALL, holidays: ['date,name', '2026-12-25,'] },
      [/^holidays\.csv, line 2: name must not be empty/],
    ],
    [
      'a repeated store',
      change('stores', 'S1,x,1,2,UTC,'),
      [/^stores\.csv, line 4: the store S1 occurs more than once/],
    ],
    [
      'invalid coordinates',
      change('stores', 'S3,x,91,2,UTC,', 'S4,x,1,abc,UTC,', 'S5,x,,2,UTC,'),
      [/line 4: latitude/, /line 5: longitude/, /line 6: latitude/],
    ],
    [
      'only headings',
      { stores: SMALL.stores?.slice(0, 1) ?? [], items: ['code,price'] },
      [/^stores\.csv: the file has no stores/, /^items\.csv: the file has no items/],
    ],
    [
      'ids that cannot be requested',
      change('stores', 'nearest,x,1,2,UTC,', '..,x,1,2,UTC,'),
      [/line 4: id must/, /line 5: id must/],
    ],
    [
      'holidays that contradict each other',
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
      [/line 3: 2026-12-25 occurs twice, once without/, /line 5: 2026-12-26 occurs twice, once without/],
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
        /^members\.csv, line 1: the column "number" is missing/,
        /^members\.csv, line 1: "no" is an unknown column\. Use number, group/,
      ],
    ],
    ['an invalid time zone', change('stores', 'S3,x,1,2,Mars/Base,'), [/line 4: time_zone/]],
    ['a store without a name', change('stores', 'S3,,1,2,UTC,'), [/line 4: name/]],
    [
      'prices of unknown or repeated items and stores',
      change('prices', 'A,S9,1', 'Z,S1,1', 'A,S2,2'),
      [
        /line 5: unknown store S9/,
        /line 6: unknown item Z/,
        /line 7: the item A has two prices at the store S2/,
      ],
    ],
    [
      'invalid opening hours',
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
        /line 2: unknown store S9/,
        /line 3: day/,
        /line 4: opens and closes/,
        /line 5: closes must be later/,
        /line 7: Monday has overlapping opening hours/,
      ],
    ],
    [
      'invalid holidays',
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
        /line 4: unknown store S9/,
        /line 5: no store is in XX/,
        /line 6: specify either a store or a state/,
      ],
    ],
    [
      'a repeated member',
      change('members', 'CUST1,trade'),
      [/^members\.csv, line 4: the member CUST1 occurs twice with this group/],
    ],
    [
      'invalid discounts',
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
        /line 2: specify either an item or a category/,
        /line 3: no item has the category Nothing/,
        /line 4: unknown item Z/,
        /line 5: unknown store S9/,
        /line 6: specify exactly one of percent, amount .* or price/,
        /line 7: specify exactly one of percent, amount .* or price/,
        /line 8: percent/,
        /line 9: min_quantity/,
        /line 10: from and until/,
        /line 11: until is before from/,
      ],
    ],
    ['a damaged workbook', SMALL, [/^items\.csv, line 1: the workbook is damaged/]],
    [
      'a price with the other decimal sign',
      { ...SMALL, items: ['code;price', 'A;1,250', 'B;12,50'] },
      [/^items\.csv, line 3: the price "12,50" is invalid; .* add --decimal comma\./],
    ],
    [
      'a code that a spreadsheet has shortened',
      change('items', '9.31E+12,Board,Timber,1'),
      [/^items\.csv, line 6: the code "9\.31E\+12" was shortened/],
    ],
  ])('%s', async (name, files, problems) => {
    const folder = writeFiles(join(dir, 'csv'), files)
    if (name === 'a damaged workbook')
      writeFileSync(join(folder, 'items.csv'), Buffer.from([0x50, 0x4b, 0x03, 0x04, 0x0a]))
    const failure = await loadPriceList(folder, lists()).catch(
      (error: unknown) => error as Error & { problems: string[] },
    )
    expect(failure).toMatchObject({ name: 'PriceListError' })
    const reported = (failure as { problems: string[] }).problems
    expect(reported).toHaveLength(problems.length)
    for (const [at, problem] of problems.entries()) expect(reported[at]).toMatch(problem)
    const list = openPriceList(lists())
    expect(list.loaded()).toBe(false)
    list.close()
  })
})

test('two files with items are refused, not chosen from', async () => {
  const folder = writeFiles(join(dir, 'two'), SMALL)
  writeFileSync(join(folder, 'items.xlsx'), '')
  await expect(loadPriceList(folder, lists())).rejects.toThrow(
    'items.csv: keep only one of items.csv and items.xlsx.',
  )
})
