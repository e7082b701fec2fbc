import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import { openPriceList } from '../../../src/features/live-pricing/csv-price-provider/price-list.ts'
import { tempDir } from '../../support/env.ts'
import { type Files, SMALL, writeFiles } from './support.ts'

const { dir, remove } = tempDir()
afterEach(() => remove())

/** The problems of a folder, of which nothing is loaded. */
async function problemsOf(folder: string): Promise<string[]> {
  const lists = join(dir, 'lists')
  const failure = await loadPriceList(folder, lists).catch(
    (error: unknown) => error as Error & { problems: string[] },
  )
  expect(failure).toMatchObject({ name: 'PriceListError' })
  const list = openPriceList(lists)
  expect(list.loaded()).toBe(false)
  list.close()
  return (failure as { problems: string[] }).problems
}

/** A file of the small price list, or another one that begins with these lines, and lines with what is wrong with them. */
const LINES: [file: string, begin: string[] | undefined, lines: [line: string, problem?: RegExp][]][] = [
  [
    'items',
    SMALL.items,
    [
      ['E,x,y,1,2', /it has 5 cells instead of 4/],
      ['E,x,y,abc', /the price "abc" is not an amount.* Or write POA\.$/],
      ['F,x,y,-1', /the price is negative/],
      ['G,x,y,1.23456', /the price "1\.23456" must have at most 9 digits and 4 decimals/],
      ['H,x,y,USD 1', /the price "USD 1" is not an amount in AUD/],
      ['I,x,y,poa', /the price "poa" is not an amount.* Or write POA\.$/],
      ['A,Board,Timber,1', /the item A occurs more than once/],
      [',Board,Timber,1', /code must have/],
      ['J\u200b,Board,Timber,1', /code must have.* invisible/],
      ['9.31E+12,Board,Timber,1', /the code "9\.31E\+12" was shortened/],
      ['"F\nG",Board,Timber,1', /code must have/],
    ],
  ],
  [
    'stores',
    SMALL.stores,
    [
      ['S1,x,1,2,UTC,', /the store S1 occurs more than once/],
      ['S3,x,91,2,UTC,', /latitude/],
      ['S4,x,1,abc,UTC,', /longitude/],
      ['S5,x,,2,UTC,', /latitude/],
      ['nearest,x,1,2,UTC,', /id must/],
      ['..,x,1,2,UTC,', /id must/],
      ['S6,x,1,2,Mars/Base,', /time_zone/],
      ['S7,,1,2,UTC,', /name/],
    ],
  ],
  [
    'prices',
    SMALL.prices,
    [
      ['A,S9,1', /unknown store S9/],
      ['Z,S1,1', /unknown item Z/],
      ['A,S2,2', /the item A has two prices at the store S2/],
    ],
  ],
  ['members', SMALL.members, [['CUST1,trade', /the member CUST1 occurs twice with this group/]]],
  [
    'hours',
    ['store,day,opens,closes'],
    [
      ['S9,Mon,07:00,17:00', /unknown store S9/],
      ['S1,Someday,07:00,17:00', /day/],
      ['S1,Mon,25:00,26:00', /opens and closes/],
      ['S1,Mon,17:00,07:00', /closes must be later/],
      ['S1,Mon,07:00,12:00'],
      ['S1,Mon,11:00,13:00', /Monday has overlapping opening hours/],
    ],
  ],
  [
    'holidays',
    ['date,name,store,state,opens,closes'],
    [
      ['2026-12-25,,,,,', /name must not be empty/],
      ['2026-02-30,x,,,,', /date/],
      ['25.12.2026,x,,,,', /date/],
      ['2026-12-25,x,S9,,,', /unknown store S9/],
      ['2026-12-25,x,,XX,,', /no store is in XX/],
      ['2026-12-25,x,S1,VIC,,', /specify either a store or a state/],
      ['2026-12-26,x,,,,'],
      ['2026-12-26,x,,,09:00,10:00', /2026-12-26 occurs twice, once without/],
      ['2026-12-27,x,,,09:00,10:00'],
      ['2026-12-27,x,,,,', /2026-12-27 occurs twice, once without/],
    ],
  ],
  [
    'discounts',
    ['item,category,store,percent,amount,min_quantity,from,until'],
    [
      ['A,Timber,,5,,,,', /specify either an item or a category/],
      [',Nothing,,5,,,,', /no item has the category Nothing/],
      ['Z,,,5,,,,', /unknown item Z/],
      ['A,,S9,5,,,,', /unknown store S9/],
      ['A,,,,,,,', /specify exactly one of percent, amount .* or price/],
      ['A,,,5,1,,,', /specify exactly one of percent, amount .* or price/],
      ['A,,,101,,,,', /percent/],
      ['A,,,5,,x,,', /min_quantity/],
      ['A,,,5,,,2026-02-30,', /from and until/],
      ['A,,,5,,,2026-03-01,2026-02-01', /until is before from/],
    ],
  ],
]

describe('a price list with a problem is not loaded, and every problem is reported with its file and line:', () => {
  test.each(LINES)('lines of %s.csv', async (file, begin = [], lines) => {
    const files = { ...SMALL, [file]: [...begin, ...lines.map(([line]) => line)] }
    const expected = lines.flatMap(([, problem], at) =>
      problem ? [new RegExp(`^${file}\\.csv, line ${begin.length + 1 + at}: .*${problem.source}`)] : [],
    )
    expect(await problemsOf(writeFiles(join(dir, 'csv'), files))).toEqual(
      expected.map((problem) => expect.stringMatching(problem)),
    )
  })

  const { stores = [], items = [] } = SMALL
  test.each<[string, Files, RegExp[]]>([
    ['no items.csv', { stores }, [/^items\.csv: the folder has no file with this name\.$/]],
    ['no stores.csv', { items }, [/^stores\.csv: the folder has no file with this name\.$/]],
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
    [
      'files with other names',
      { stores, items, discount: ['item,percent', 'A,5'], Prices: [] },
      [
        /^Prices\.csv: rename or remove this file\. A price list has stores\.csv, .*prices\.csv/,
        /^discount\.csv: rename or remove this file/,
      ],
    ],
    [
      'only headings',
      { stores: stores.slice(0, 1), items: ['code,price'] },
      [/^stores\.csv: the file has no stores/, /^items\.csv: the file has no items/],
    ],
    [
      'problems in several files',
      {
        ...SMALL,
        stores: [...stores, 'S1,x,1,2,UTC,'],
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
    [
      'a price with the other decimal sign',
      { ...SMALL, items: ['code;price', 'A;1,250', 'B;12,50'] },
      [/^items\.csv, line 3: the price "12,50" is invalid; .* add --decimal comma\./],
    ],
  ])('%s', async (_name, files, problems) => {
    expect(await problemsOf(writeFiles(join(dir, 'csv'), files))).toEqual(
      problems.map((problem) => expect.stringMatching(problem)),
    )
  })

  test('a damaged workbook', async () => {
    const folder = writeFiles(join(dir, 'csv'), SMALL)
    writeFileSync(join(folder, 'items.csv'), Buffer.from([0x50, 0x4b, 0x03, 0x04, 0x0a]))
    expect(await problemsOf(folder)).toEqual([
      expect.stringMatching(/^items\.csv, line 1: the workbook is damaged/),
    ])
  })

  test('two files with items, of which none is chosen', async () => {
    const folder = writeFiles(join(dir, 'csv'), SMALL)
    writeFileSync(join(folder, 'items.xlsx'), '')
    expect(await problemsOf(folder)).toEqual(['items.csv: keep only one of items.csv and items.xlsx.'])
  })
})
