import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { FILES, TABLES } from '../../../../src/features/supplier/live-pricing/csv-price-provider/files.ts'
import { loadPriceList } from '../../../../src/features/supplier/live-pricing/csv-price-provider/load.ts'
import {
  openPriceList,
  priceListFolder,
} from '../../../../src/features/supplier/live-pricing/csv-price-provider/price-list.ts'
import { codeIn, read, rows } from '../../../support/documents.ts'
import { tempDir } from '../../../support/env.ts'
import { type Files, line, loadPrices, SAMPLE, SMALL, testSupplier, writeFiles } from './support.ts'

const { dir, remove } = tempDir()
afterEach(() => remove())

const LIST = priceListFolder(dir)
const { stores = [] } = SMALL
/** The smallest valid price list, with these items. */
const only = (...items: string[]): Files => ({ stores, items: ['code,price', ...items] })
const load = (files: Files) => loadPriceList(writeFiles(join(dir, `csv-${Math.random()}`), files), LIST)

/** The unit prices of items at a store, in the list that is live. */
async function livePrices(...codes: string[]) {
  const list = openPriceList(LIST)
  const lines = codes.map((itemId) => ({ itemId, storeId: 'S1', quantity: 1 }))
  const priced = await list.prices(lines, null, AbortSignal.timeout(5_000)).finally(list.close)
  return priced.map((price) => ('unitPrice' in price ? Number(price.unitPrice) : null))
}

/** The problems of a price list. Expects that the list was not loaded. */
async function problemsOf(files: Files, write: (folder: string) => void = () => {}): Promise<string[]> {
  const folder = writeFiles(join(dir, 'csv'), files)
  write(folder)
  const failure = await loadPriceList(folder, LIST).then(
    () => 'none',
    (error: Error) => error.message,
  )
  const [title, ...problems] = failure.split('\n')
  expect(title).toMatch(/^The price list has \d+ problems?; nothing was loaded\.$/)
  await expect(livePrices('A')).rejects.toThrow('no price list')
  return problems
}

/** Blocks of rows, each below the name and the headings of its file, with the problem of each row. */
const INVALID = `
items code,name,category,price
E,x,y,1,2 -> it has 5 cells instead of 4.
F,x,y,"1,250" -> price "1,250" must be dollars such as 1250.00, with a decimal point and at most 4 decimals, or POA.
F,x,y,"1.250,00" -> price "1.250,00" must be dollars
F,x,y,$12 -> price "$12" must be dollars
F,x,y,-1 -> price "-1" must be dollars
F,x,y,1.23456 -> price "1.23456" must be dollars
F,x,y,1e3 -> price "1e3" must be dollars
F,x,y,AUD 1 -> price "AUD 1" must be dollars
F,x,y,poa -> price "poa" must be dollars
,x,y,1 -> code is blank.
J\u200b,x,y,1 -> code "J\u200b" must have 1 to 100 characters
G,x,y,1
G,x,y,1 -> code G occurs more than once.
stores id,name,latitude,longitude,time_zone
S3,x,91,2,UTC -> latitude "91" must be degrees from -90 to 90.
S5,x,,2,UTC -> latitude is blank.
nearest,x,1,2,UTC -> id "nearest" is reserved
S6,,1,2,Mars/Base -> name is blank. time_zone "Mars/Base" must be an IANA name such as Australia/Sydney.
members number,group
M,
M, -> number M, group  occurs more than once.
hours store,day,opens,closes
S1,Someday,07:00,17:00 -> day "Someday" must be a day of the week
S1,Mon,25:00,1 -> opens "25:00" must be a time such as 07:00 or 17:30. closes "1" must be a time
holidays date,name
2026-02-30,x -> date "2026-02-30" must be a date such as 2026-12-25.
2026-12-25, -> name is blank.
prices item,store,price
A,S1, -> price is blank.
A,S1,"1,2" -> price "1,2" must be dollars such as 1250.00, with a decimal point and at most 4 decimals, or POA, or NONE.
discounts percent,amount,min_quantity
101,,x -> percent "101" must be a percentage from 0 to 100. min_quantity "x" must be a number.
,"1,5", -> amount "1,5" must be dollars`

/** Rows that are valid alone, but contradict each other. */
const MISFITS = `
items code,price,category
A,1,Timber
C,,x -> code "C" has no price, neither here nor in prices.csv.
D,,x
prices item,store,price
D,S1,1
C,S1,NONE
A,S9,1 -> store "S9" is not in stores.csv.
Z,S1,1 -> item "Z" is not in items.csv.
hours store,day,opens,closes
S9,Mon,07:00,17:00 -> store "S9" is not in stores.csv.
S1,Mon,17:00,07:00 -> closes "07:00" must be later than opens; split hours past midnight
S1,Tue,7:00,12:00
S1,tuesday,11:00,13:00 -> opens "11:00" contradicts another row for that day.
holidays date,name,store,state,opens,closes
2026-12-25,x,S9,,, -> store "S9" is not in stores.csv.
2026-12-25,x,,XX,, -> state "XX" is the state of no store.
2026-12-25,x,S1,VIC,, -> state "VIC" cannot stand beside a store.
2026-12-26,x,,,,
2026-12-26,x,,,09:00,10:00 -> date "2026-12-26" contradicts another row for that day.
2026-12-27,x,,,09:00, -> must be later than opens
discounts item,category,group,store,percent,amount,from,until
A,Timber,,,5,,, -> category "Timber" cannot stand beside an item.
,Nothing,,,5,,, -> category "Nothing" is the category of no item.
Z,,,,5,,, -> item "Z" is not in items.csv.
,,none,,5,,, -> group "none" is the group of no member.
,,,S9,5,,, -> store "S9" is not in stores.csv.
A,,,,,,, -> specify one of percent, amount (off each unit) and price (per unit).
A,,,,5,1,, -> specify one of percent, amount (off each unit) and price (per unit).
A,,,,5,,2026-03-01,2026-02-01 -> until "2026-02-01" is before from.`

/** The files of such blocks, and the problems that they have. */
function parse(blocks: string) {
  const files: Files = {}
  const problems: string[] = []
  let lines: string[] = []
  let name = ''
  for (const text of blocks.trim().split('\n')) {
    const [, file, headings] = /^(\w+) (\w+,.*)$/.exec(text) ?? []
    const [row = '', problem] = text.split(' -> ')
    if (file) name = file
    if (file) files[name] = lines = []
    lines.push(headings ?? row)
    if (problem !== undefined) problems.push(`${name}.csv, line ${lines.length}: ${problem}`)
  }
  return { files: { ...SMALL, ...files }, problems }
}

const TAX = [
  'items.csv, line 1: the column "incl_tax" is unknown or occurs twice. Use code, price, category, ',
]

describe('a price list with a problem is not loaded:', () => {
  test.each([
    ['of each cell', INVALID],
    ['of rows that do not go together', MISFITS],
  ])('every problem %s is reported with its file and line', async (_, blocks) => {
    const { files, problems } = parse(blocks)
    const found = (await problemsOf(files)).filter((text) => !text.startsWith('Whether the rows')).sort()
    const beginnings = problems.sort()
    expect(found.map((text, at) => text.slice(0, beginnings[at]?.length))).toEqual(beginnings)
  })

  test.each<[string, Files, string[]]>([
    ['no items.csv', { stores }, ['items.csv: the folder has no file with this name.']],
    ['only headings', { stores, items: ['code,price'] }, ['items.csv: the file is empty.']],
    ['an empty file', { ...SMALL, prices: [] }, ['prices.csv: the file is empty.']],
    ['no column', { ...SMALL, members: ['group'] }, ['members.csv, line 1: the column "number" is missing.']],
    [
      'a repeated column',
      { stores, items: ['code,price,Price'] },
      ['items.csv, line 1: the column "price" '],
    ],
    ['a column that may say something about the prices', { stores, items: ['code,price,Incl Tax'] }, TAX],
    [
      'semicolons',
      { stores, items: ['code;price'] },
      ['items.csv, line 1: the column "code" is missing.', ''],
    ],
    ['an open quote', only('A,1', '"B,1', 'C,1'), ['items.csv, line 3: a quote that begins here']],
    [
      'another name',
      { ...only('A,1'), discount: [] },
      ['discount.csv: rename, convert or remove this file.'],
    ],
  ])('%s', async (_, files, problems) => {
    const found = (await problemsOf(files)).filter((text) => !text.startsWith('Whether the rows'))
    expect(found.map((text, at) => text.slice(0, problems[at]?.length))).toEqual(problems)
  })

  test.each<[string, number, Buffer]>([
    ['Windows-1252', 3, Buffer.from('code,price\nA,1\n\xeb,1\n', 'latin1')],
    ['UTF-16', 1, Buffer.from('\ufeffcode,price\nA,1\n', 'utf16le')],
    ['a workbook', 1, Buffer.from('PK\x03\x04\x14\x00\x06\x00')],
  ])('%s', async (_, at, bytes) => {
    const found = await problemsOf(only(), (folder) => writeFileSync(join(folder, 'items.csv'), bytes))
    expect(found[0]).toBe(`items.csv, line ${at}: the file is not text in UTF-8. Save it as CSV in UTF-8.`)
  })

  test('of very many problems, the first hundred are listed', async () => {
    const problems = await problemsOf(only(...Array.from({ length: 500 }, (_, at) => `A${at},free`)))
    expect(problems).toHaveLength(101)
    expect(problems.slice(-2)).toEqual([
      expect.stringMatching(/^items\.csv, line 101: /),
      'There may be more.',
    ])
  })
})

test('a load reads what the tables in the documentation say', async () => {
  const items = ['\ufeffUnit,PRICE, Code ', '"2"" nail",1250.00, A ', '', 'a "b" c,0.0835,"B"', ',0,0']
  expect(Object.fromEntries(await load({ stores, items }))).toMatchObject({ 'items.csv': 3, 'hours.csv': 0 })
  expect(await livePrices('A', 'B', '0')).toEqual([1250, 0.0835, 0])
})

test('a discount applies from its first to its last day, in the time zone of the store', async () => {
  let ms = 0
  const supplier = await testSupplier(
    { ...SMALL, discounts: ['item,percent,from,until', 'A,10,2026-07-02,2026-07-02'] },
    { now: () => ms, tokenSeconds: 4_000_000_000 },
  )
  const seen = []
  // Midnight in Melbourne is 14:00 UTC in July.
  for (const time of ['01T13:59:59Z', '01T14:00:00Z', '02T13:59:59Z', '02T14:00:00Z']) {
    ms = Date.parse(`2026-07-${time}`)
    seen.push((await supplier.prices([line('A')]))[0]?.discount)
  }
  expect(seen).toEqual([0, 1.25, 1.25, 0])
})

test('a request during which a load ends is answered from the old list as a whole', async () => {
  await load({ ...only('A,1'), members: ['number', 'CUST1'] })
  const after = writeFiles(join(dir, 'csv'), { ...only('A,2'), members: ['number', 'CUST1'] })
  let isLoaded = false
  // The clock is read after the first query of a request.
  const now = () => {
    const script = 'src/features/supplier/live-pricing/cli-load-prices.ts'
    const env = { ...process.env, DATA_DIR: dir }
    if (!isLoaded) execFileSync(process.execPath, [script, after], { env })
    isLoaded = true
    return Date.now()
  }
  const list = openPriceList(LIST, now)
  const price = () =>
    list.prices([{ itemId: 'A', storeId: 'S1', quantity: 1 }], 'CUST1', AbortSignal.timeout(60_000))
  expect([await price(), await price()]).toEqual([[{ unitPrice: '1' }], [{ unitPrice: '2' }]])
  list.close()
})

test('a load that has a problem, or begins during another, is refused and leaves the current prices live', async () => {
  await load(only('A,1'))
  await expect(load(only('A,free'))).rejects.toThrow('nothing was loaded')
  expect(await livePrices('A')).toEqual([1])
  const [first, second] = await Promise.allSettled([load(only('A,2')), load(only('A,3'))])
  expect(first.status).toBe('fulfilled')
  expect(second).toMatchObject({ reason: { message: expect.stringContaining('another load is running') } })
  expect(await livePrices('A')).toEqual([2])
})

describe('npm run feature -- live-pricing load-prices', () => {
  test('loads the sample, and says what it loaded', async () => {
    const live = await loadPrices(dir, SAMPLE)
    expect(live.code).toBe(0)
    expect(live.output).toMatch(/^Loaded 40 rows of stores\.csv, .*1,960 rows of items\.csv, .*live\.\n$/)
  })

  test('explains what is wrong and exits with 1', async () => {
    const bad = await loadPrices(dir, writeFiles(join(dir, 'csv'), only('A,free')))
    expect(bad).toMatchObject({
      code: 1,
      output: expect.stringContaining('\nitems.csv, line 2: price "free"'),
    })
    const nowhere = await loadPrices(dir, join(dir, 'nowhere'))
    expect(nowhere).toMatchObject({ code: 1, output: expect.stringMatching(/nowhere does not exist\.$/m) })
  })
})

test('docs/supplier/live-pricing.md has exactly these files, and every heading', () => {
  const documented = rows(read('docs/supplier/live-pricing.md'), 'File')
  expect(documented.flatMap(([file]) => codeIn(file)).sort()).toEqual([...FILES].sort())
  for (const [file, headings] of documented)
    for (const name of Object.keys(TABLES[codeIn(file)[0]?.replace('.csv', '') ?? '']?.cells.shape ?? {}))
      expect(codeIn(headings), file).toContain(name)
})
