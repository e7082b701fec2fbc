/** Sixty files of suppliers, whose right items were written down first: with the right confirmations, all of them arrive right. */
import { expect, test } from 'vitest'
import { type Cell, workbook } from '../../support/xlsx.ts'
import { type Answers, read } from './read-support.ts'

type Case = [name: string, content: string | Uint8Array, answers: Answers, items: string]

const inc = (percent: number, uses: Answers['uses'] = {}): Answers => ({ tax: percent, uses })
const PER = 'price is for this many' as const
const not = (yes: string[]) => ({ use: 'not for sale if' as const, yes })
const xlsx = (...rows: Cell[][]) => workbook([{ name: 'Prices', rows }])
const usd = (value: number): Cell => ({ value, format: '"$"#,##0.00' })

const CASES: Case[] = [
  // The samples that were sent wrong.
  [
    'SAP price unit',
    'Material,Description,UoM,List Price,Price Unit\nBLT-1,Bolt M8x40,EA,48.20,100 EA\nBLT-2,Bolt M8x50,EA,61.75,100 EA\nBLT-3,Bolt M20,EA,1.20,1 EA\n',
    { uses: { 'Price Unit': { use: PER, divide: true } } },
    'BLT-1=0.482 BLT-2=0.6175 BLT-3=1.2',
  ],
  [
    'contractor list',
    'Ace Plumbing Supplies,,\nContractor Price List - July 2026,,\nCode,Description,Price\nPV-40,Pipe 40mm,13.10\nPV-50,Pipe 50mm,17.65\n',
    { audience: 'selected' },
    'PV-40=13.1 PV-50=17.65',
  ],
  [
    'price groups',
    'Item No.,Description,Unit of Measure Code,Unit Price,Customer Price Group\nA1,Bracket,PCS,20.00,RETAIL\nA2,Clamp,PCS,11.00,TRADE\nA3,Clip,PCS,5.00,TRADE\n',
    { uses: { 'Customer Price Group': not(['TRADE']) } },
    'A1=20',
  ],
  [
    'GST has been added',
    'Code,Description,Price\nV-1,Valve 15,33.00\nV-2,Valve 20,44.00\n\nGST has already been added to these prices.,,\n',
    inc(10),
    'V-1=30 V-2=40',
  ],
  [
    'price includes taxes',
    'Item Number,Item Name,Price,Cost,Price Includes Taxes,Tax Rate\nTAP01,Kitchen mixer,220.00,120.00,Yes,GST\nTAP02,Bath spout,110.00,60.00,Yes,GST\n',
    inc(10, { 'Price Includes Taxes': { use: 'tax included', yes: ['Yes'] } }),
    'TAP01=200 TAP02=100',
  ],
  [
    'basis quantity',
    'Code,Description,UOM,List Price,Basis Quantity\nA1,Bolt,EA,37.28,100\nA2,Hook,EA,3.00,1\n',
    {},
    'A2=3',
  ],
  // Plain lists.
  ['plain', 'Code,Name,Price\nA,Nail,1.50\nB,Board,12\n', {}, 'A=1.5 B=12'],
  ['SKU and RRP', 'SKU,Product Name,RRP\nS1,Tap,99.95\n', {}, 'S1=99.95'],
  ['ex GST heading', 'Item Code,Description,UOM,RRP ex GST\nX1,Pine,LM,8.95\n', {}, 'X1=8.95'],
  ['inc GST heading', 'Item Code,Description,RRP inc GST\nX1,Pine,11.00\n', inc(10), 'X1=10'],
  [
    'New Zealand',
    'Code,Description,Price incl GST (NZD)\nK1,Kauri,$23.00\n',
    { ...inc(15), currency: 'NZD' },
    'K1=20',
  ],
  [
    'NZ dollars in cells',
    'Code,Price\nK1,NZ$5.00\nK2,NZ$7.50\n',
    { currency: 'NZD', uses: { Price: 'price' } },
    'K1=5 K2=7.5',
  ],
  ['dollars and thousands', 'Code,Name,Price\nA,Boiler,"$1,250.00"\nB,Valve,"$99.00"\n', {}, 'A=1250 B=99'],
  ['tabs', 'Code\tName\tPrice\nA\tNail; 2" long\t1.50\n', {}, 'A=1.5'],
  [
    'semicolons and commas',
    'Code;Name;Preis\nA;Nagel;1,50\nB;Brett;1.234,50\n',
    { decimal: 'comma', uses: { Preis: 'price' } },
    'A=1.5 B=1234.5',
  ],
  ['pipes', 'Code|Name|Price\nA|Nail|1.50\n', {}, 'A=1.5'],
  ['CR line ends', 'Code,Name,Price\rA,Nail,1.50\r', {}, 'A=1.5'],
  ['quoted', '"Code","Name","Price"\n"A","Hook, large","1.50"\n', {}, 'A=1.5'],
  ['sep line', 'sep=;\nCode;Name;Price\nA;Nail;1.50\n', {}, 'A=1.5'],
  ['byte order mark', '\ufeffCode,Name,Price\nA,Näil,1.50\n', {}, 'A=1.5'],
  // Several prices.
  ['cost, trade and RRP', 'Code,Name,Cost,Trade,RRP\nA,Nail,1,2,3\n', {}, 'A=3'],
  ['ex and inc columns', 'Code,Name,Price ex GST,Price inc GST\nA,Nail,10,11\n', {}, 'A=10'],
  [
    'old and new price',
    'Code,Name,Old Price,New Price\nA,Nail,1,2\nB,Bolt,3,4\n',
    { uses: { 'Old Price': 'ignored', 'New Price': 'price' } },
    'A=2 B=4',
  ],
  ['unit and carton price', 'Code,Name,Unit Price,Carton Price\nA,Nail,1,90\n', {}, 'A=1'],
  [
    'quantity, rate, amount',
    'Code,Name,Qty,Rate,Amount\nA,Nail,10,1.5,15\n',
    { uses: { Rate: 'price', Qty: 'ignored' } },
    'A=1.5',
  ],
  ['discount percent', 'Code,Name,List Price,Discount %\nA,Nail,10,20\n', {}, 'A=10'],
  // Titles, notes and footers.
  [
    'titles and blank rows',
    'Summit Supplies\n\nPrice list July 2026\n\nCode,Name,Price\nA,Nail,1\n',
    {},
    'A=1',
  ],
  ['sections', 'Code,Name,Price\nNAILS,,\nA,Nail,1\nBOARDS,,\nB,Board,2\n', {}, 'A=1 B=2'],
  ['page headings again', 'Code,Name,Price\nA,Nail,1\nCode,Name,Price\nB,Board,2\n', {}, 'A=1 B=2'],
  ['disclaimer below', 'Code,Name,Price\nA,Nail,1\n"E&OE, prices subject to change",,\n', {}, 'A=1'],
  ['note beside', 'Code,Name,Price\nA,Nail,1,ask for volume prices\nB,Board,2\n', {}, 'B=2'],
  [
    'per 100 in the title',
    'All prices per 100\nCode,Name,Price,Per\nA,Nail,5.00,100\nB,Bolt,7.00,100\n',
    { uses: { Per: { use: PER, divide: true } } },
    'A=0.05 B=0.07',
  ],
  // What is not sold, and what has no price.
  [
    'status',
    'Code,Name,Price,Status\nA,Nail,1,Active\nB,Board,2,Discontinued\nC,Beam,3,Active\n',
    { uses: { Status: not(['Discontinued']) } },
    'A=1 C=3',
  ],
  [
    'active flag',
    'Code,Name,Price,Active\nA,Nail,1,Y\nB,Board,2,N\n',
    { uses: { Active: not(['N']) } },
    'A=1',
  ],
  ['price on application', 'Code,Name,Price\nA,Nail,POA\nB,Board,2\nC,Beam,TBA\n', {}, 'B=2'],
  ['blank prices', 'Code,Name,Price\nA,Nail,\nB,Board,2\n', {}, 'B=2'],
  [
    'currency column',
    'Code,Name,Price,Currency\nA,Nail,1,AUD\nB,Board,2,USD\n',
    { uses: { Currency: not(['USD']) } },
    'A=1',
  ],
  [
    'currency in cells',
    'Code,Name,Price\nA,Nail,A$1.00\nB,Board,USD 2.00\n',
    { uses: { Price: 'price' } },
    'A=1',
  ],
  [
    'price level',
    'Code,Name,Price,Price Level\nA,Nail,1,1\nB,Board,2,2\n',
    { uses: { 'Price Level': not(['2']) } },
    'A=1',
  ],
  // Tax by rows.
  [
    'MYOB inclusive',
    'Item Number,Item Name,Selling Price,Inclusive\nA,Nail,11,X\nB,Board,10,\n',
    inc(10, { Inclusive: { use: 'tax included', yes: ['X'] } }),
    'A=10 B=10',
  ],
  [
    'GST free',
    'Code,Name,Price,GST\nA,Nail,11,GST\nB,Book,10,FRE\n',
    inc(10, { GST: { use: 'tax included', yes: ['GST'] } }),
    'A=10 B=10',
  ],
  [
    'inc or ex',
    'Code,Name,Price,Inc/Ex\nA,Nail,11,Inc\nB,Board,10,Ex\n',
    inc(10, { 'Inc/Ex': { use: 'tax included', yes: ['Inc'] } }),
    'A=10 B=10',
  ],
  // Codes and duplicates.
  ['duplicates with another price', 'Code,Name,Price\nA,Nail,1\nA,Nail,2\nB,Board,3\n', {}, 'B=3'],
  ['the same row twice', 'Code,Name,Price\nA,Nail,1\nA,Nail,1.00\n', {}, 'A=1'],
  ['damaged codes', 'Code,Name,Price\n9.31E+12,Nail,1\n1-Feb,Board,2\nC,Beam,3\n', {}, 'C=3'],
  ['kept zeros', 'Code,Name,Price\n="00123",Nail,1\n\'0045,Board,2\n', {}, '00123=1 0045=2'],
  ['formula errors', 'Code,Name,Price\nA,Nail,#N/A\n#REF!,Board,2\nC,Beam,3\n', {}, 'C=3'],
  ['model and part number', 'Model,Part Number,Price\nM1,P1,1\nM1,P2,2\n', {}, 'P1=1 P2=2'],
  ['barcode first', 'Barcode,Product Code,Product,Price\n9312345678901,P1,Nail,1\n', {}, 'P1=1'],
  // Without headings, or with strange ones.
  [
    'no headings',
    'A,Nail,1.50\nB,Board,2.50\n',
    { headingsRow: 0, uses: { 1: 'code', 2: 'name', 3: 'price' } },
    'A=1.5 B=2.5',
  ],
  [
    'German headings',
    'Artikel;Bezeichnung;Preis\nA;Nagel;1,50\n',
    { decimal: 'comma', uses: { Artikel: 'code', Bezeichnung: 'name', Preis: 'price' } },
    'A=1.5',
  ],
  [
    'two rows of headings',
    'Item,,Price,\nCode,Description,Trade,Retail\nA,Nail,1,2\n',
    { headingsRow: 2 },
    'A=2',
  ],
  [
    'Xero',
    '*ItemCode,ItemName,PurchasesUnitPrice,SalesDescription,SalesUnitPrice,SalesTaxRate\nA,Nail,1,A nail,2,GST on Income\n',
    { uses: { PurchasesUnitPrice: 'ignored', SalesUnitPrice: 'price' } },
    'A=2',
  ],
  // Workbooks.
  [
    'workbook',
    xlsx(['Code', 'Name', 'Price'], ['A', 'Nail', usd(1.5)], ['B', 'Board', usd(1250)]),
    {},
    'A=1.5 B=1250',
  ],
  [
    'workbook with a title',
    xlsx(['Trade prices'], [], ['Code', 'Name', 'List'], ['A', 'Nail', 10]),
    { audience: 'selected', uses: { List: 'price' } },
    'A=10',
  ],
  ['floats', xlsx(['Code', 'Price'], ['A', 926.640_000_000_000_1]), {}, 'A=926.64'],
  [
    'padded codes',
    xlsx(['Code', 'Name', 'Price'], [{ value: 45, format: '00000' }, 'Nail', 1]),
    {},
    '00045=1',
  ],
  [
    'a date as a price',
    xlsx(
      ['Code', 'Name', 'Price'],
      ['A', 'Nail', { value: 46_000, format: 'dd/mm/yyyy' }],
      ['B', 'Board', 2],
    ),
    {},
    'B=2',
  ],
  [
    'two sheets',
    workbook(
      ['Taps', 'Sinks'].map((name, at) => ({
        name,
        rows: [
          ['Code', 'Name', 'Price'],
          [`${name}-1`, 'x', at + 1],
        ],
      })),
    ),
    { sheets: ['Taps', 'Sinks'] },
    'Taps-1=1 Sinks-1=2',
  ],
  [
    'old sheet beside',
    workbook(
      ['2026', '2025'].map((name, at) => ({
        name,
        rows: [
          ['Code', 'Name', 'Price'],
          ['A', 'x', at + 1],
        ],
      })),
    ),
    { sheets: ['2026'] },
    'A=1',
  ],
]

test('there are sixty files', () => {
  expect(CASES.length).toBeGreaterThanOrEqual(60)
})

test.each(CASES)('%s', async (_name, content, answers, expected) => {
  const { items } = await read(content, answers)
  expect(items.map(({ code, price }) => `${code}=${price}`).join(' ')).toBe(expected)
})

test('at most one suggestion of five is changed by hand', async () => {
  let [columns, changed] = [0, 0]
  for (const [, content, answers] of CASES) {
    const suggested = await read(content)
    columns += suggested.draft.sheets.flatMap((sheet) => sheet.columns).length
    changed += Object.keys(answers.uses ?? {}).length
  }
  expect(changed / columns).toBeLessThanOrEqual(0.2)
})
