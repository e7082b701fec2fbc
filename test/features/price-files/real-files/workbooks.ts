import { type Cell, workbook } from '../../../support/xlsx.ts'
import { type RealFile, table } from './real-file.ts'

/** The built-in formats of spreadsheets: date, two decimals, dollars and accounting. */
const [DATE, FIXED, DOLLARS, ACCOUNTING] = [14, 4, 7, 44]
const JULY_1_2026 = { value: 46_204, format: DATE }
const dollars = (value: number): Cell => ({ value, format: ACCOUNTING })

/** Workbooks as people keep them in Excel. */
export const WORKBOOKS: RealFile[] = [
  {
    file: 'excel-price-book.xlsx',
    content: () =>
      workbook([
        {
          name: 'Costs',
          hidden: true,
          rows: [
            ['Code', 'Price'],
            ['SECRET', 1],
          ],
        },
        {
          name: 'Price Book',
          merged: ['A1:E1', 'A2:C2', 'A9:D9'],
          rows: [
            ['Summit Supplies Pty Ltd'],
            ['Retail price book', null, null, 'Valid from', JULY_1_2026],
            [],
            ['Item No.', 'Description', 'UOM', 'Cost', 'RRP ex GST'],
            [10045, 'Decking 90x19, merbau', 'lm', dollars(5.1), dollars(8.95)],
            [10046, 'Decking 140x19, merbau', 'lm', dollars(7.75), dollars(13.6)],
            [10100, 'Post 100x100 H4', 'ea', dollars(600), dollars(1045)],
            [],
            [
              'Total',
              null,
              null,
              { formula: 'SUM(D5:D7)', value: 612.85, format: ACCOUNTING },
              { formula: 'SUM(E5:E7)', value: 1067.55, format: ACCOUNTING },
            ],
            ['E&OE'],
          ],
        },
        { name: 'Terms', rows: [['Terms of trade'], ['30 days']] },
      ]),
    items: table(
      'code name unit price',
      ['10045', 'Decking 90x19, merbau', 'lm', 8.95],
      ['10046', 'Decking 140x19, merbau', 'lm', 13.6],
      ['10100', 'Post 100x100 H4', 'ea', 1045],
    ),
    problems: [9, 10],
  },
  {
    file: 'excel-formulas-and-errors.xlsx',
    content: () =>
      workbook([
        {
          name: 'Sheet1',
          rows: [
            ['SKU', 'Name', 'Cost', 'Markup', 'Sell Price'],
            [
              'F1',
              { formula: '"Fan "&A2', value: 'Fan F1' },
              80,
              { value: 0.45, format: '0%' },
              { formula: 'C2*(1+D2)', value: 115.99999999999999, format: DOLLARS },
            ],
            [
              'F2',
              { formula: 'VLOOKUP(A3,X:Y,2,0)', value: 'Fan F2' },
              { error: '#N/A' },
              { value: 0.45, format: '0%' },
              { error: '#N/A' },
            ],
            [
              'F3',
              { error: '#REF!' },
              20,
              { value: 0.5, format: '0%' },
              { formula: 'C4*(1+D4)', value: 30, format: DOLLARS },
            ],
            [{ error: '#N/A' }, 'Fan', 20, null, 33],
            ['F5', 'Fan F5', 20, null, { formula: 'IF(C6>50,C6*2,"")', value: '' }],
            ['F6', 'Fan F6', 926.64, null, { formula: 'C7*1', value: 926.6400000000001 }],
            ['F7', 'Fan F7', 0, null, { error: '#DIV/0!' }],
          ],
        },
      ]),
    items: table('code name price', ['F1', 'Fan F1', 116], ['F6', 'Fan F6', 926.64]),
    problems: [3, 4, 5, 6, 8],
  },
  {
    file: 'excel-cover-sheet-first.xlsx',
    content: () =>
      workbook([
        {
          name: 'Cover',
          rows: [[], ['Bowden Electrical'], [], ['Price list July 2026'], ['See the next sheet']],
        },
        {
          name: 'Price List',
          rows: [
            ['Cat No', 'Product Description', 'Retail'],
            ['SW-1', 'Switch', 8.4],
            ['SW-2', 'Dimmer', 56],
          ],
        },
      ]),
    items: table('code name price', ['SW-1', 'Switch', 8.4], ['SW-2', 'Dimmer', 56]),
  },
  {
    file: 'excel-numbers-stored-as-text.xlsx',
    content: () =>
      workbook([
        {
          name: 'Export',
          rows: [
            ['Part Number', 'Description', 'Unit Price'],
            ['00981', 'Hinge', '12.50'],
            ['00982', 'Door closer', '$1,250.00'],
            ['00983', 'Panic bar', '1,480'],
            ['00984', 'Lock', 64],
            ['00985', 'Key', ' 7.5 '],
            ['00986', 'Master key', '7.5 0'],
          ],
        },
      ]),
    items: table(
      'code name price',
      ['00981', 'Hinge', 12.5],
      ['00982', 'Door closer', 1250],
      ['00983', 'Panic bar', 1480],
      ['00984', 'Lock', 64],
      ['00985', 'Key', 7.5],
    ),
    problems: [7],
  },
  {
    file: 'excel-one-ambiguous-text.xlsx',
    content: () =>
      workbook([
        {
          name: 'Export',
          rows: [
            ['Code', 'Name', 'Price'],
            ['A', 'Bath', '1,480'],
            ['B', 'Spa', 2475],
          ],
        },
      ]),
    questions: ['decimal'],
    choices: { decimal: 'point' },
    items: table('code name price', ['A', 'Bath', 1480], ['B', 'Spa', 2475]),
  },
  {
    file: 'excel-barcodes-and-padded-codes.xlsx',
    content: () =>
      workbook([
        {
          name: 'Items',
          rows: [
            ['Stock Code', 'Barcode', 'Name', 'Category', 'RRP'],
            [
              { value: 450, format: '00000' },
              9_312_345_678_907,
              316,
              { value: 3, format: '"Aisle "0' },
              { value: 18.5, format: FIXED },
            ],
            [
              { value: 12_001, format: '00000' },
              { value: 9_312_345_678_914, format: '0' },
              'Bit',
              null,
              { value: 1200, format: FIXED },
            ],
            [{ value: 7, format: '"TB-"000' }, null, 'Brush', null, 4],
          ],
        },
      ]),
    items: table(
      'code name category price',
      ['00450', '316', 'Aisle 3', 18.5],
      ['12001', 'Bit', null, 1200],
      ['TB-007', 'Brush', null, 4],
    ),
  },
  {
    file: 'excel-barcodes-as-codes.xlsx',
    content: () =>
      workbook([
        {
          name: 'Items',
          rows: [
            ['Barcode', 'Item Name', 'Sale Price'],
            [9_312_345_678_907, 'Silicone clear', 11.95],
            [{ value: 9_312_345_678_914, format: '0.00E+00' }, 'Silicone white', 11.95],
            ['9.31235E+12', 'Silicone grey', 11.95],
            ['0012345678905', 'Gun', 34],
          ],
        },
      ]),
    items: table(
      'code name price',
      ['9312345678907', 'Silicone clear', 11.95],
      ['9312345678914', 'Silicone white', 11.95],
      ['0012345678905', 'Gun', 34],
    ),
    problems: [4],
  },
  {
    file: 'excel-rounded-as-shown.xlsx',
    content: () =>
      workbook([
        {
          name: 'P',
          rows: [
            ['Code', 'Description', 'List Price', 'Effective Date'],
            ['R1', 'Third', { value: 33.333_333_333, format: '"$"#,##0.00' }, JULY_1_2026],
            ['R2', 'Whole dollars', { value: 1499.5, format: '"$"#,##0' }, JULY_1_2026],
            ['R3', 'Cents up', { value: 2.675, format: '0.00' }, JULY_1_2026],
            ['R4', 'Four digits', { value: 0.0345, format: '"$"0.0000' }, JULY_1_2026],
            ['R5', 'A date by mistake', JULY_1_2026, JULY_1_2026],
            ['R6', 'A percentage', { value: 0.15, format: 9 }, null],
            ['R7', 'In thousands', { value: 12_500, format: '#,##0.00,' }, null],
          ],
        },
      ]),
    items: table(
      'code name price',
      ['R1', 'Third', 33.33],
      ['R2', 'Whole dollars', 1500],
      ['R3', 'Cents up', 2.68],
      ['R4', 'Four digits', 0.0345],
    ),
    problems: [6, 7, 8],
  },
  {
    file: 'excel-words-for-zero.xlsx',
    content: () =>
      workbook([
        {
          name: 'P',
          rows: [
            ['Code', 'Name', 'Price'],
            ['Z1', 'Lamp', { value: 12, format: '0.00;-0.00;"POA"' }],
            ['Z2', 'Pendant', { value: 0, format: '0.00;-0.00;"POA"' }],
            ['Z3', 'Chandelier', { value: 0, format: '$0.00;;"Call for price"' }],
            [
              'Z4',
              'Globe',
              {
                value: 0,
                format: '_-[$A$-C09]* #,##0.00_-;-[$A$-C09]* #,##0.00_-;_-[$A$-C09]* "-"??_-;_-@_-',
              },
            ],
            ['Z5', 'Sample', { value: 0, format: ACCOUNTING }],
            ['Z6', 'Sconce', { value: 99, format: '"POA";;;' }],
            ['Z7', 'Wall light', { value: 45, format: ';;;' }],
            ['Z8', 'Batten', { value: 27.5, format: '[Red][<10]0.00;[Blue]0.00' }],
          ],
        },
      ]),
    items: table('code name price', ['Z1', 'Lamp', 12], ['Z8', 'Batten', 27.5]),
    problems: [3, 4, 5, 6, 7, 8],
  },
  {
    file: 'excel-words-beside-numbers.xlsx',
    content: () =>
      workbook([
        {
          name: 'P',
          rows: [
            ['Code', 'Name', 'Price'],
            ['U1', 'Screw', { value: 21, format: '0.00" per 100"' }],
            ['U2', 'Joist', { value: 12.4, format: '"$"0.00" / lm"' }],
            ['U3', 'Aus', { value: 31, format: '[$AUD] #,##0.00' }],
            ['U4', 'Euro', { value: 31, format: '[$€-2] #,##0.00' }],
            ['U5', 'US', { value: 31, format: '[$USD] #,##0.00' }],
            ['U6', 'Dollar', { value: 1031, format: '[$$-C09]#,##0.00;[RED]-[$$-C09]#,##0.00' }],
            ['U7', 'From', { value: 8, format: '"from "0.00' }],
          ],
        },
      ]),
    items: table('code name price', ['U3', 'Aus', 31], ['U6', 'Dollar', 1031]),
    problems: [2, 3, 5, 6, 8],
  },
]
