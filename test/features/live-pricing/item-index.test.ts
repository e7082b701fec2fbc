import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import {
  createItemIndex,
  itemFinder,
} from '../../../src/features/live-pricing/csv-price-provider/item-index.ts'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import { openPriceList } from '../../../src/features/live-pricing/csv-price-provider/price-list.ts'
import { tempDir } from '../../support/env.ts'
import { line, SMALL, writeFiles } from './support.ts'

const code = fc.oneof(
  fc.string({ minLength: 1, maxLength: 3 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }),
)
const price = fc.oneof(fc.constantFrom(null, 'POA', '123456789.1234'), fc.nat().map(String))
const record = fc.record({
  price,
  category: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 0xffffff })),
  flags: fc.integer({ min: 0, max: 3 }),
})

describe('the index of items', () => {
  test('finds what a Map finds, of any codes, flags and removals', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(code, record)), fc.array(code), (added, others) => {
        const [index, map] = [createItemIndex(), new Map<string, unknown>()]
        for (const [code, record] of added) {
          expect(index.add(code, record)).toBe(!map.has(code))
          if (!map.has(code)) map.set(code, record)
          else expect(index.priceOf(code)).toBe((map.get(code) as typeof record).price)
        }
        for (const other of others) expect(index.flag(other, 4)).toBe(map.has(other))
        for (const [code] of added.slice(0, 3)) {
          index.remove(code)
          map.delete(code)
          expect(index.flag(code, 1)).toBe(false)
        }
        const codes = [...added.map(([code]) => code), ...others.filter((other) => !map.has(other))]
        const expected = codes.map((code) => {
          const record = map.get(code) as { flags: number } | undefined
          return record && { ...record, flags: record.flags | (others.includes(code) ? 4 : 0) }
        })
        expect(itemFinder(index.pages())(codes)).toEqual(expected)
      }),
      { numRuns: 500 },
    )
  })

  test('finds each of 200,000 items, in several pages, and no other', () => {
    const index = createItemIndex()
    const numbers = Array.from({ length: 200_000 }, (_, number) => number)
    for (const number of numbers) index.add(`IT-${number}`, { price: `${number}`, category: null, flags: 0 })
    const pages = index.pages()
    expect(pages.length).toBeGreaterThan(1)
    const find = itemFinder(pages)
    expect(find(numbers.map((number) => `IT-${number}`)).map((item) => item?.price)).toEqual(
      numbers.map(String),
    )
    expect(find(numbers.map((number) => `TI-${number}`)).filter(Boolean)).toEqual([])
  })

  test('tells codes with the same hash apart', () => {
    // Both have the same FNV-1a hash.
    const index = createItemIndex()
    index.add('costarring', { price: '1', category: null, flags: 0 })
    expect(itemFinder(index.pages())(['liquid', 'costarring']).map((item) => item?.price)).toEqual([
      undefined,
      '1',
    ])
    index.add('liquid', { price: '2', category: null, flags: 0 })
    expect(itemFinder(index.pages())(['liquid', 'costarring']).map((item) => item?.price)).toEqual(['2', '1'])
  })

  test('does not find halves of a surrogate pair, cut codes, or codes of 10,000 characters', () => {
    const index = createItemIndex()
    const long = '\u{10000}'.repeat(100)
    for (const code of ['\ufffd', 'A', long]) index.add(code, { price: '1', category: null, flags: 0 })
    const find = itemFinder(index.pages())
    expect(find(['\ud800', '', 'A\0', `${long}A`, '\u20ac'.repeat(200), 'A'.repeat(10_000)])).toEqual(
      Array(6).fill(undefined),
    )
    expect(find(['\ufffd', 'A', long]).map((item) => item?.price)).toEqual(['1', '1', '1'])
  })
})

describe('a price list file', () => {
  const { dir, remove } = tempDir()
  afterEach(() => remove())
  const load = async () => {
    const lists = join(dir, 'lists')
    await loadPriceList(writeFiles(join(dir, 'csv'), SMALL), lists)
    return join(lists, readdirSync(lists)[0] ?? '')
  }
  const change = (file: string, sql: string) => {
    const db = new DatabaseSync(file)
    db.exec(sql)
    db.close()
  }

  test('of version 1, with a table of items, has the same prices', async () => {
    const file = await load()
    const lines = ['A', 'B', 'C', 'D', 'E'].flatMap((item) => [line(item, 'S1', 100), line(item, 'S2', 1)])
    const asked = [...lines, line('A', 'S3')] as Parameters<ReturnType<typeof openPriceList>['prices']>[0]
    const { signal } = new AbortController()
    const pricesIn = async () => {
      const list = openPriceList(file)
      const found = [await list.prices(asked, 'CUST1', signal), await list.prices(asked, null, signal)]
      list.close()
      return found
    }
    const before = await pricesIn()
    expect(before[0]?.slice(0, 2)).toEqual([
      { unitPrice: '12.5', discount: '200' },
      { unitPrice: '13.75', discount: '1.38' },
    ])
    change(
      file,
      `DROP TABLE item_pages; PRAGMA user_version = 1;
      CREATE TABLE items (
        code TEXT PRIMARY KEY, price TEXT, category INTEGER, more INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      INSERT INTO items VALUES ('A', '12.5', 1, 3), ('B', '0.0835', 2, 1), ('C', 'POA', 1, 0), ('D', NULL, 3, 1)`,
    )
    expect(await pricesIn()).toEqual(before)
  })

  test.each([
    ['is of a later version', 'PRAGMA user_version = 3', 'not a price list of version 2'],
    ['has lost its items', 'DELETE FROM item_pages', 'the items are damaged'],
    [
      'has lost some of its items',
      'UPDATE item_pages SET page = substr(page, 1, length(page) - 1)',
      'damaged',
    ],
  ])('that %s is refused', async (_, sql, message) => {
    const file = await load()
    change(file, sql)
    expect(() => openPriceList(file)).toThrow(message)
  })
})
