/** Small files as programs write them: right ones with the values of their items, and wrong ones with each of their problems. */
import { texts } from '../../../../src/features/supplier/catalogue-files/texts.ts'
import { encode, type Mistake } from './support.ts'

/** Returns a row of the table for `test.each`. */
const file = <Outcome>(name: string, bytes: string | Buffer, ...outcome: Outcome[]) =>
  [name, bytes, outcome] as const

export const RIGHT = [
  file('Excel, “CSV UTF-8”', '\ufeffcode,price,name\r\nA1,1.50,Ä\r\n', ['A1', 1.5, 'Ä']),
  file(
    'Excel, “CSV (Comma delimited)”',
    'code,price,name\r\nA1,1,"M10, galv"\r\nA2,3,"2"" nail"\r\n',
    ['A1', 1, 'M10, galv'],
    ['A2', 3, '2" nail'],
  ),
  file('Excel, “Unicode Text”', encode('code\tprice\tname\r\nA1\t1\t½"\r\n', 'utf-16le'), ['A1', 1, '½"']),
  file('Excel, “CSV (Macintosh)”', 'code,price\rA1,1\rA2,3\r', ['A1', 1], ['A2', 3]),
  file('Excel, with empty columns and lines', 'code,price,,\r\nA1,1,,\r\n,,,\r\n,,,\r\n', ['A1', 1]),
  file(
    'Excel, fewer or more separators from line 17 on',
    'code,price,name\r\nA1,1\r\nA2,3,x,,,\r\n',
    ['A1', 1],
    ['A2', 3, 'x'],
  ),
  file('Numbers', 'code;price;name\r\nA1;1.50;"2"" nail; bright"', ['A1', 1.5, '2" nail; bright']),
  file('Java, UTF-16', encode('code,price,name\nA1,1,Größe\n', 'utf-16be'), ['A1', 1, 'Größe']),
  file('blanks around the cells', ' code , price ,name\n A1 ,\u00a01\u00a0, x \n', ['A1', 1, 'x']),
  file(
    'all columns in another order',
    'Category,UNIT,Description,Name,Price,Code\nNails,box,"Bright, 5 kg",Nail,64.5,N1\n',
    ['N1', 64.5, 'Nail', 'Bright, 5 kg', 'box', 'Nails'],
  ),
  file(
    'all line ends, and blank lines',
    '\n \r\n,,\ncode,price\rA1,1\r\n\r\nA2,2\n\n , \n"",""\n',
    ['A1', 1],
    ['A2', 2],
  ),
  file(
    'all forms of a price',
    'code,price\nA,0\nB,0.05\nC,12\nD,12.5\nE,12.5000\nF,999999999.9999\nG,007.10',
    ...Object.entries({ A: 0, B: 0.05, C: 12, D: 12.5, E: 12.5, F: 999999999.9999, G: 7.1 }),
  ),
  file(
    'codes of all kinds',
    `code,price\n007,1\n#12/A,2\n2E10,3\n+61,4\n-1,5\nA B,6\n9312345678901,7\nTotal,8\n${'x'.repeat(100)},9\n`,
    ...['007', '#12/A', '2E10', '+61', '-1', 'A B', '9312345678901', 'Total', 'x'.repeat(100)].map(
      (code, at) => [code, at + 1],
    ),
  ),
]

const { refused, unknownColumn } = texts
const TEXTS = ['name', 'description', 'unit', 'category']

const wrong = file<Mistake>

export const WRONG = [
  wrong(
    'Excel, prices in the format “Currency”',
    'code,price\r\nA1,$12.50\r\nA2,"$1,234.50"\r\nA3, $-   \r\nA4,"12,50 €"\r\n',
    [2, 'price', 'currency', '$12.50'],
    [3, 'price', 'currency', '$1,234.50'],
    [4, 'price', 'currency', '$-'],
    [5, 'price', 'currency', '12,50 €'],
  ),
  wrong(
    'Excel, prices with thousands',
    'code,price\r\nA1,"1,234.50"\r\nA2,"12,345"\r\nA3,1’234.50\r\nA4,1 234.50\r\n',
    [2, 'price', 'thousands', '1,234.50'],
    [3, 'price', 'thousands', '12,345'],
    [4, 'price', 'thousands', '1’234.50'],
    [5, 'price', 'thousands', '1 234.50'],
  ),
  wrong(
    'Excel, decimal commas',
    '\ufeffcode;price\r\nA1;12,50\r\nA2;1.234,50\r\nA3;1\u202f234,50\r\n',
    [2, 'price', 'decimalComma', '12,50'],
    [3, 'price', 'decimalComma', '1.234,50'],
    [4, 'price', 'decimalComma', '1\u202f234,50'],
  ),
  wrong(
    'Excel and LibreOffice, formulas that failed',
    'code,price,name\r\nA1,#N/A,#REF!\r\n#NAME?,1,########\r\nA3,Err:502,\r\n',
    [2, 'price', 'formula', '#N/A'],
    [2, 'name', 'formula', '#REF!'],
    [3, 'code', 'formula', '#NAME?'],
    [3, 'name', 'formula', '########'],
    [4, 'price', 'formula', 'Err:502'],
  ),
  wrong(
    'Excel, “CSV (Comma delimited)” with letters beyond ASCII',
    Buffer.from('code,price,name\r\nA1,1,Gr\xf6\xdfe\r\nA\xbd,2,\r\n', 'latin1'),
    [2, 'name', 'encoding', 'Gr��e'],
    [3, 'code', 'encoding', 'A�'],
  ),
  wrong(
    'Excel, a text with a line break',
    'code,name,price\r\nA1,"Decking\n90 mm",12.50\r\n',
    [2, 'name', 'quote', '"Decking'],
    [3, 'price', 'noPrice', ''],
  ),
  wrong(
    'Excel, its line that names the separator',
    'sep=;\r\ncode;price\r\nA1;12.50\r\n',
    refused.noHeader('sep=;'),
  ),
  wrong(
    'Excel, results of formulas with all of their digits',
    'code,price\r\nA1,926.6400000000001\r\nA2,1234567890\r\n',
    [2, 'price', 'decimals', '926.6400000000001'],
    [3, 'price', 'noNumber', '1234567890'],
  ),
  wrong(
    'LibreOffice, formulas instead of their values',
    'code,price,name\nA1,=B1*1.1,=A2\n="00123",1,\n',
    [2, 'price', 'formula', '=B1*1.1'],
    [2, 'name', 'formula', '=A2'],
    [3, 'code', 'formula', '="00123"'],
  ),
  wrong(
    'LibreOffice, negative prices and percentages',
    'code,price\nA1,-5\nA2,−5.00\nA3,5-\nA4,-$5\nA5,12.5 %\n',
    [2, 'price', 'negative', '-5'],
    [3, 'price', 'negative', '−5.00'],
    [4, 'price', 'negative', '5-'],
    [5, 'price', 'negative', '-$5'],
    [6, 'price', 'percent', '12.5 %'],
  ),
  wrong(
    'Google Sheets, empty cells',
    'code,price,name\r\nA1,,Decking\r\n,12.50,Bolt\r\n',
    [2, 'price', 'noPrice', ''],
    [3, 'code', 'noCode', ''],
  ),
  wrong(
    'a price on request',
    'code,price\nA1,POA\nA2,12.50 each\nA3,.50\n',
    [2, 'price', 'noNumber', 'POA'],
    [3, 'price', 'noNumber', '12.50 each'],
    [4, 'price', 'noNumber', '.50'],
  ),
  wrong(
    'floats of scripts',
    'code,price\nA1,1.2E+3\nA2,1e-05\nA3,1e21\n',
    [2, 'price', 'exponent', '1.2E+3'],
    [3, 'price', 'exponent', '1e-05'],
    [4, 'price', 'exponent', '1e21'],
  ),
  wrong(
    'commas in a text and in a price without quotes',
    'code,name,price\nA1,Nail, galvanised,12.50\nA2,Bolt,1,234.50\n',
    [2, texts.column(4), 'surplus', '12.50'],
    [3, texts.column(4), 'surplus', '234.50'],
  ),
  wrong(
    'quotes that are never closed, or not doubled',
    'code,name,price\nA1,"2 inch,12.50\nA2,"2" nail",3\n"A3,Nail,4\n',
    [2, 'name', 'quote', '"2 inch,12.50'],
    [3, 'name', 'quote', '"2" nail",3'],
    [4, 'code', 'quote', '"A3,Nail,4'],
  ),
  wrong(
    'the same code twice',
    'code,price\nA1,1\nB1,2\na1,3\nA1,4\n',
    [4, 'code', 'doubledCode', texts.also('a1', texts.line(2))],
    [5, 'code', 'doubledCode', texts.also('A1', texts.line(2))],
  ),
  wrong('a code of 101 characters', `code,price\n${'x'.repeat(101)},1\n`, [
    2,
    'code',
    'longCode',
    `${'x'.repeat(39)}…`,
  ]),
  wrong('an invisible character in a code', 'code,price,name\nA1\u200b,1,x\nA2,2,Famil\u00ady\n', [
    2,
    'code',
    'invisible',
    `A1${texts.invisible('200B')}`,
  ]),
  wrong(
    'pandas, with its index',
    ',code,price\n0,A1,12.5\n1,A2,3.0\n',
    [2, texts.column(1), 'unnamed', '0'],
    [3, texts.column(1), 'unnamed', '1'],
  ),
  wrong(
    'other names',
    'Item Code,Unit of measure,Descripton,RRP\nA1,m,Decking,12.50\n',
    refused.noHeader('Item Code,Unit of measure,Descripton,RRP'),
    [1, texts.column(1), unknownColumn(['code']), 'Item Code'],
    [1, texts.column(2), unknownColumn(['unit']), 'Unit of measure'],
    [1, texts.column(3), unknownColumn(['description']), 'Descripton'],
    [1, texts.column(4), unknownColumn(['price']), 'RRP'],
    [1, 'code', 'missingColumn', 'Item Code, Unit of measure, Descripton,…'],
    [1, 'price', 'missingColumn', 'Item Code, Unit of measure, Descripton,…'],
  ),
  wrong(
    'names that the template doesn’t have',
    'code,price,Barcode,Brand\nA1,12.50,931,Acme\n',
    [1, texts.column(3), unknownColumn(TEXTS), 'Barcode'],
    [1, texts.column(4), unknownColumn(TEXTS), 'Brand'],
  ),
  wrong(
    'wrong names and wrong lines',
    'code,RRP,name\n,12.50,x\nA1,1,=x\nA1,2,\n',
    [1, texts.column(2), unknownColumn(['price']), 'RRP'],
    [1, 'price', 'missingColumn', 'code, RRP, name'],
    [2, 'code', 'noCode', ''],
    [3, 'name', 'formula', '=x'],
    [4, 'code', 'doubledCode', texts.also('A1', texts.line(3))],
  ),
  wrong(
    'a column twice',
    'Code,price,Price,code\nA1,1,2,A1\n',
    [1, texts.column(3), 'doubledColumn', texts.also('Price', texts.column(2))],
    [1, texts.column(4), 'doubledColumn', texts.also('code', texts.column(1))],
  ),
  wrong('an empty file', '', refused.empty),
  wrong('101 cells', `code,price\nA1,1${','.repeat(99)}x\n`, refused.manyCells(2)),
]
