import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { guessColumns } from '../../../src/features/price-files/columns.ts'
import { writeReport } from '../../../src/features/price-files/report.ts'
import { countMissing, createSeenCodes } from '../../../src/features/price-files/seen-codes.ts'
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
    '\tx',
    '\rx',
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
    ...cells.slice(2, 9).map((cell) => `'${cell.replace(/[\t\r]/, ' ')}`),
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

test('codes of an earlier file that a later one does not have are counted', () => {
  const { dir, remove } = tempDir()
  const save = (name: string, codes: string[]) => {
    const seen = createSeenCodes()
    for (const [row, code] of codes.entries()) seen.add(code, row + 1, 1)
    seen.save(`${dir}/${name}`)
    return `${dir}/${name}`
  }
  const all = Array.from({ length: 5_000 }, (_, row) => `C${row}`)
  const later = save('later', [...all.filter((_, row) => row % 10 > 0), 'new'])
  expect(countMissing(save('earlier', all), later)).toBe(500)
  expect(countMissing(later, later)).toBe(0)
  remove()
})
