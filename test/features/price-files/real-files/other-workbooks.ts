import { type Cell, workbook } from '../../../support/xlsx.ts'
import { type RealFile, table } from './real-file.ts'

const LIBREOFFICE_DOLLARS = '[$$-C09]#,##0.00;[RED]-[$$-C09]#,##0.00'
const dollars = (value: number): Cell => ({ value, format: LIBREOFFICE_DOLLARS })

/** Workbooks of LibreOffice, Google Sheets and business systems, and lists that are laid out for printing. */
export const OTHER_WORKBOOKS: RealFile[] = [
  {
    file: 'libreoffice.xlsx',
    content: () =>
      workbook([
        {
          name: 'Tabelle1',
          rows: [
            ['Catalogue No', 'Title', 'Unit', 'Price (ex GST)'],
            ['LO-1', 'Paver 400x400', 'ea', dollars(9.9)],
            ['LO-2', 'Paver 600x600', 'ea', dollars(1_019.9)],
            ['LO-3', 'Credit', 'ea', dollars(-5)],
            ['LO-4', 'Sample', 'ea', { boolean: true }],
          ],
        },
      ]),
    items: table(
      'code name unit price',
      ['LO-1', 'Paver 400x400', 'ea', 9.9],
      ['LO-2', 'Paver 600x600', 'ea', 1019.9],
    ),
    problems: [4, 5],
  },
  {
    file: 'google-sheets.xlsx',
    content: () =>
      workbook(
        [
          {
            name: 'Price list',
            rows: [
              ['Model', { rich: ['Product', ' Name'] }, { rich: ['RRP ', '(incl. GST)'] }],
              [
                { rich: ['GS', '-1'] },
                { rich: ['Heater ', '2.4 kW'] },
                { formula: 'B2*1.1', value: 330.00000000000006 },
              ],
              ['GS-2', 'Heater 3 kW', { formula: 'TEXT(440,"$0.00")', value: '$440.00' }],
              ['GS-3', 'Heater\n(wall)', 0.1 + 0.2],
            ],
          },
        ],
        { texts: 'inline' },
      ),
    questions: ['gst'],
    choices: { gst: 10 },
    items: table(
      'code name price',
      ['GS-1', 'Heater 2.4 kW', 300],
      ['GS-2', 'Heater 3 kW', 400],
      ['GS-3', 'Heater\n(wall)', 0.27],
    ),
  },
  {
    file: 'erp-without-references.xlsx',
    content: () =>
      workbook(
        [
          {
            name: 'Sheet0',
            rows: [
              ['MATERIAL_NO', 'DESCRIPTION', 'UOM', 'LIST_PRICE_AUD'],
              ['000000000010004711', 'VALVE, GATE, 50MM', 'EA', '184.20'],
              ['000000000010004712', 'VALVE, GATE, 80MM', 'EA', '1,284.20'],
            ],
          },
        ],
        { texts: 'inline', withoutReferences: true },
      ),
    items: table(
      'code name unit price',
      ['000000000010004711', 'VALVE, GATE, 50MM', 'EA', 184.2],
      ['000000000010004712', 'VALVE, GATE, 80MM', 'EA', 1284.2],
    ),
  },
  {
    file: 'printed-list-with-sections.xlsx',
    content: () =>
      workbook([
        {
          name: 'A4',
          merged: ['B2:D2', 'B5:D5', 'B9:D9'],
          rows: [
            [],
            [null, 'KIWI PLUMBING — RETAIL 2026'],
            [],
            [null, 'Code', 'Description', 'Retail ex GST'],
            [null, 'TAPS & MIXERS'],
            [null, 'T-1', 'Basin mixer', 149],
            [null, 'T-2', 'Sink mixer\nswivel', 189],
            [null, 'Code', 'Description', 'Retail ex GST'],
            [null, 'TOILETS'],
            [null, 'W-1', 'Toilet suite', 'POA'],
            [null, 'W-2', 'Seat', 59.5],
            [],
            [null, 'Page 1 of 1', null, { value: 46_204, format: 'd/mm/yyyy' }],
          ],
        },
      ]),
    items: table(
      'code name price',
      ['T-1', 'Basin mixer', 149],
      ['T-2', 'Sink mixer\nswivel', 189],
      ['W-2', 'Seat', 59.5],
    ),
    problems: [5, 8, 9, 10, 13],
  },
  {
    file: 'prices-by-state.xlsx',
    content: () =>
      workbook([
        {
          name: 'Bricks',
          rows: [
            ['SKU', 'Description', 'NSW Price', 'VIC Price', 'QLD Price'],
            ['BR-1', 'Brick red', 1.1, 1.15, 1.3],
            ['BR-2', 'Brick cream', 1.4, 1.45, null],
          ],
        },
      ]),
    questions: ['columns'],
    choices: { columns: { code: 0, description: 1, price: 4 } },
    items: table('code description price', ['BR-1', 'Brick red', 1.3]),
    problems: [3],
  },
  {
    file: 'two-tables-side-by-side.xlsx',
    content: () =>
      workbook([
        {
          name: 'Both',
          rows: [
            ['Code', 'Price', null, 'Code', 'Price'],
            ['L1', 10, null, 'R1', 20],
            ['L2', 11, null, 'R2', 21],
          ],
        },
      ]),
    questions: ['columns'],
    choices: { columns: { code: 3, price: 4 } },
    items: table('code price', ['R1', 20], ['R2', 21]),
  },
  {
    file: 'discounts-and-history.xlsx',
    content: () =>
      workbook([
        {
          name: 'Prices',
          rows: [
            [
              'Item Code',
              'Item Name',
              'Old Price',
              'Price Change %',
              'Price',
              'Price Date',
              'Disc %',
              'Net Price',
            ],
            [
              'H1',
              'Drill',
              180,
              { value: 0.05, format: '0.0%' },
              189,
              { value: 46_204, format: 14 },
              { value: 0.3, format: '0%' },
              132.3,
            ],
            [
              'H2',
              'Saw',
              200,
              { value: 0, format: '0.0%' },
              200,
              { value: 46_204, format: 14 },
              { value: 0.3, format: '0%' },
              140,
            ],
          ],
        },
      ]),
    items: table('code name price', ['H1', 'Drill', 189], ['H2', 'Saw', 200]),
  },
  {
    file: 'dates-from-1904.xlsx',
    content: () =>
      workbook(
        [
          {
            name: 'Mac',
            rows: [
              ['Ref', 'Name', 'Category', 'Price AUD'],
              [
                'M1',
                { value: 44_742, format: 'd mmm yyyy' },
                { date: '2026-07-01' },
                { value: 5.5, format: 2 },
              ],
              ['M2', 'Wrong', null, { value: 44_742, format: 14 }],
              ['M3', 'Wrong too', null, { date: '2026-07-01' }],
            ],
          },
        ],
        { date1904: true },
      ),
    items: table('code name category price', ['M1', '1 Jul 2026', '2026-07-01', 5.5]),
    problems: [3, 4],
  },
]
