import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { createBatchWriter } from '../../../src/features/price-files/batches.ts'
import { guessColumns } from '../../../src/features/price-files/columns.ts'
import { comparePrices } from '../../../src/features/price-files/comparison.ts'
import type { Item } from '../../../src/features/price-files/item.ts'
import { prependPrices } from '../../../src/features/price-files/last-prices.ts'
import { writeReport } from '../../../src/features/price-files/report.ts'
import { createSeenCodes } from '../../../src/features/price-files/seen-codes.ts'
import { tempDir } from '../../support/env.ts'

import { read } from './read-support.ts'

describe('columns', () => {
  test.each([
    [['SKU', 'Product name', 'UOM', 'RRP (ex GST)'], { code: 0, name: 1, unit: 2, price: 3 }],
    [['Item Code', 'Description', 'Price'], { code: 0, name: 1, price: 2 }],
    [['id', 'Title', 'Category', 'Unit price', 'Unit'], { code: 0, name: 1, category: 2, price: 3, unit: 4 }],
  ])('are guessed from %j', (headings, columns) => {
    expect(guessColumns(headings)).toEqual({ columns, mappingErrors: [] })
  })

  test('that cannot be guessed are requested from the user before rows are checked', async () => {
    const check = await read('Artikel,Preis\nA1,x\n')
    expect(check.mappingErrors).toEqual([expect.stringContaining('code'), expect.stringContaining('price')])
    expect(check).toMatchObject({ rows: 1, validRows: 0, invalidRows: 0, problems: [] })
  })

  test('with a repeated heading are left for the user to choose', () => {
    expect(guessColumns(['code', 'price', 'price']).mappingErrors).toEqual([
      'The heading "price" occurs more than once (columns 2 and 3): choose which one is the price.',
    ])
  })

  test('that are chosen twice, or are not in the file, are rejected', async () => {
    const mappingErrors = async (columns: Record<string, number>) =>
      (await read('a,b\nA1,1\n', { columns })).mappingErrors
    expect(await mappingErrors({ code: 0, price: 0 })).toEqual(['Two fields use the same column.'])
    expect(await mappingErrors({ code: 0, price: 7 })).toEqual(['A chosen column is not in the file.'])
    expect(await mappingErrors({ code: 0 })).toEqual(['Choose the column for the price.'])
    expect(await mappingErrors({ code: 0, price: 1 })).toEqual([])
  })
})

test('a report never turns a cell into a formula', async () => {
  const cells = [
    'multi\n=2+2',
    'foo;=1+1;bar',
    '=1+1',
    '+1',
    '-1',
    '@x',
    '\t=x',
    '\r=x',
    '＝1',
    'plain',
    'a,"b"',
  ]
  const { dir, remove } = tempDir()
  const problem = { line: 3, reason: 'the price is negative.', cells }
  await writeReport(`${dir}/report.csv`, ['Code', '=evil()'], [problem])
  const text = readFileSync(`${dir}/report.csv`, 'utf8')
  remove()
  expect(text.startsWith('\ufeff"Line","Reason","Code",')).toBe(true)
  const { parse } = await import('csv-parse/sync')
  const [head, row] = parse(text, { bom: true, relax_column_count: true })
  expect(head).toEqual(['Line', 'Reason', 'Code', "'=evil()"])
  expect(row).toEqual([
    '3',
    'the price is negative.',
    'multi =2+2',
    'foo;=1+1;bar',
    ...cells.slice(2, 9).map((cell) => `'${cell.trim()}`),
    'plain',
    'a,"b"',
  ])
})

test('repeated codes are recognised, whatever they contain and however many there are', () => {
  const seen = createSeenCodes(10)
  const codes = Array.from({ length: 200_000 }, (_, row) => `${row % 2 ? 'ITEM-' : ''}${row}`)
  expect(codes.findIndex((code, row) => seen.add(code, row + 1, 1) !== undefined)).toBe(-1)
  expect(codes.findIndex((code, row) => seen.add(code, 1, 1)?.line !== row + 1)).toBe(-1)
})

describe('a comparison with the file before', () => {
  const { dir, remove } = tempDir()
  afterAll(remove)

  /** Writes the prices and the items of a file. */
  function save(name: string, items: Item[]) {
    const later = { pricesPath: `${dir}/${name}.prices`, itemsPath: `${dir}/${name}.items` }
    const seen = createSeenCodes()
    const writer = createBatchWriter(later.itemsPath)
    for (const [row, item] of items.entries()) {
      seen.add(item.code, row + 1, item.price)
      writer.add(item)
    }
    writer.end()
    seen.save(later.pricesPath)
    return later
  }
  const all = Array.from({ length: 5_000 }, (_, row) => ({ code: `C${row}`, price: 100 }))

  test('counts new, missing and changed items, and lists the ten that have changed by the largest factor', async () => {
    const earlier = save('earlier', all)
    const later = save('later', [
      ...all
        .filter((_, row) => row % 10 > 0)
        .map(({ code }, index) => ({ code, price: index < 40 ? 100 + index : 100 })),
      { code: 'new', price: 1 },
    ])
    const largest = [...Array(10).keys()].map((index) => 139 - index)
    const comparison = await comparePrices(earlier.pricesPath, later)
    // Those from 121 to 139 have changed by more than 20%.
    expect(comparison).toMatchObject({ added: 1, missing: 500, changed: 39, changedMuch: 19 })
    expect(comparison.largest.map(({ now }) => now)).toEqual(largest)
    expect(comparison.largest[0]).toEqual({ code: 'C44', before: 100, now: 139 })
  })

  test.each([
    ['a price at a hundredth', 100, 1, true],
    ['a price that is free now', 100, 0, true],
    ['a price that was free', 0, 5, true],
    ['a rise by exactly 20%', 1.1, 1.32, false],
    ['a fall by exactly 20%', 100, 80, false],
  ])('counts %s as much: %s to %s', async (_name, before, now, isMuch) => {
    const earlier = save('before', [{ code: 'A', price: before }])
    const { changedMuch, largest } = await comparePrices(
      earlier.pricesPath,
      save('now', [{ code: 'A', price: now }]),
    )
    expect({ changedMuch, largest }).toEqual({
      changedMuch: isMuch ? 1 : 0,
      largest: isMuch ? [{ code: 'A', before, now }] : [],
    })
  })

  test('finds no difference between a file and itself', async () => {
    const file = save('same', all)
    const none = { added: 0, missing: 0, changed: 0, changedMuch: 0, largest: [] }
    expect(await comparePrices(file.pricesPath, file)).toEqual(none)
  })

  test('with a damaged file is refused', async () => {
    const file = save('damaged', all)
    writeFileSync(file.pricesPath, Buffer.alloc(17))
    await expect(comparePrices(file.pricesPath, file)).rejects.toThrow('damaged')
  })

  test('counts rows that were corrected later with those of their file', async () => {
    const file = save('file', all)
    const corrected = save('corrected', [
      { code: 'D', price: 1 },
      { code: 'C0', price: 5 },
    ])
    prependPrices(file.pricesPath, corrected.pricesPath)
    const next = save('next', [...all, { code: 'D', price: 1 }])
    expect(await comparePrices(corrected.pricesPath, next)).toMatchObject({
      added: 0,
      missing: 0,
      changed: 1,
    })
  })
})
