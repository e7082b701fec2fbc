/**
 * Reads a price file as its last one was chosen, and compares it with that; or only its rows, or those in a bare loop of csv-parse.
 * Prints its CPU time in ms, and its peak memory in bytes.
 */
import { createReadStream } from 'node:fs'
import { parse } from 'csv-parse'
import { readPriceFile } from '../../../../src/features/price-files/read-price-file.ts'
import { openFile } from '../../../../src/tables/table.ts'
import { itemsOfRows } from '../support.ts'

const { FILE = '', WHAT } = process.env
const column = (heading: string, number: number) => ({ heading, number })
const choice = {
  sheet: '',
  headingsRow: 1,
  code: column('code', 1),
  name: column('name', 2),
  unit: column('unit', 3),
  category: column('category', 4),
  price: column('price', 5),
  only: [],
  money: 'AUD before GST' as const,
  units: 1,
  decimal: null,
}
const memory = { headings: ['code', 'name', 'unit', 'category', 'price'], texts: [], values: [] }
const at = '2026-07-01T00:00:00.000Z'
const received = {
  revision: '',
  isUnfinished: false,
  isOwn: false,
  files: [{ number: 1, fileName: 'prices.csv', at, by: null, choice, memory }],
  prices: [...itemsOfRows(100_000).values()].map(({ code, price }) => ({
    code,
    price: price + 0.5,
    file: 1,
  })),
}
const before = process.cpuUsage()
if (WHAT === 'bare') for await (const _ of createReadStream(FILE).pipe(parse()));
else if (WHAT === 'rows') for await (const _ of (await openFile(FILE)).sheets[0]?.rows() ?? []);
else {
  const options = { draft: null, goOn: true, received, leftOut: [], itemsPath: `${FILE}.items` }
  const { found } = await readPriceFile(FILE, options)
  if (found?.compared.lower !== 100_000) throw new Error('the file was not compared')
}
const { user, system } = process.cpuUsage(before)
console.log(JSON.stringify({ ms: (user + system) / 1000, bytes: process.resourceUsage().maxRSS * 1024 }))
