import { type RealFile, table } from './real-file.ts'

/** Rows that are not items, rows that are damaged, and headings that are missing or unknown. */
export const ROWS: RealFile[] = [
  {
    file: 'section-rows-and-page-headings.csv',
    items: table(
      'code name unit price',
      ['SW1', 'Switch 1 gang', 'EA', 8.4],
      ['SW2', 'Switch 2 gang', 'EA', 11.2],
      ['PP1', 'Power point single', 'EA', 9.8],
      ['PP2', 'Power point double', 'EA', 12.4],
      ['CB25', 'Cable 2.5mm twin & earth', 'M', 2.35],
    ),
    problems: [4, 7, 8, 9, 12, 13, 14, 16],
  },
  {
    // The costs of the second table are where the first one has its prices.
    file: 'second-headings-in-another-order.csv',
    items: table(
      'code name price',
      ['SO-1', 'Spade', 39.95],
      ['SO-2', 'Rake', 29.95],
      ['SO-5', 'Tap timer', 44.95],
    ),
    problems: [5, 6, 7, 9],
  },
  {
    file: 'cost-table-below.csv',
    items: table('code name price', ['CT-1', 'Kettle', 49], ['CT-2', 'Toaster', 59]),
    problems: [5, 6, 7],
  },
  {
    file: 'quote-closed-rows-later.csv',
    items: table('code name unit price', ['QC-3', 'Line', 'm', 3.3]),
    problems: [2],
  },
  {
    file: 'sums-in-the-code-column.csv',
    items: table(
      'code name price',
      ['SM-1', 'Fence panel', 112],
      ['SM-2', 'Fence cap', 9.5],
      ['TOTAL-7', 'Total 7 oil', 55],
    ),
    problems: [4, 5, 6, 7],
  },
  {
    file: 'same-code-twice.csv',
    items: table(
      'code name unit price',
      ['M-1', 'Mirror 600', 'ea', 89],
      ['M-3', 'Mirror 1200', 'ea', 179],
      ['m-3', 'Mirror 1200 (old)', 'ea', 175],
    ),
    problems: [3, 6, 7, 8],
  },
  {
    file: 'rows-cut-short.csv',
    items: table(
      'code name unit price',
      ['C-1', 'Cement 20kg', 'bag', 11.4],
      ['C-4', 'Sand 20kg', 'bag', 6.9],
      ['C-6', 'Gravel 20kg', 'bag', 7.2],
    ),
    problems: [3, 4, 6, 8],
  },
  {
    file: 'names-like-formulas.csv',
    items: table(
      'code name price',
      ['N-1', '-20 degree glycol', 45],
      ['N-2', '+ size safety glasses', 12],
      ['N-3', '=SUM(A1:A9)', 3],
      ['N-4', '@home sensor kit', 89],
      ['-N5', 'Code with a dash', 6],
      ['+N6', 'Code with a plus', 7],
    ),
  },
  {
    file: 'quotes-and-inches.csv',
    items: table(
      'code name unit price',
      ['Q1', '2" nail', 'kg', 8.9],
      ['Q2', '3" nail, ring shank', 'kg', 9.9],
      ['Q3', '1/2" x 3/4" bush', 'ea', 2.15],
      ['Q4', 'Pipe 4" x 6m\r\nClass 12', 'ea', 45],
      ['Q5', "'Easy' hook", 'ea', 1.1],
    ),
  },
  {
    file: 'unclosed-quote.csv',
    items: table('code name price', ['U1', 'Washer', 0.2], ['U5', 'Plumb bob', 14]),
    problems: [3],
  },
  {
    file: 'no-headings.csv',
    questions: ['headings', 'columns'],
    choices: { headingsLine: 0, columns: { code: 0, name: 1, unit: 2, price: 3 } },
    items: table(
      'code name unit price',
      ['ABC123', 'Tile trim 10mm', 'ea', 12.95],
      ['ABC124', 'Tile trim 12mm', 'ea', 13.95],
      ['ABC125', 'Tile spacer, 3mm', 'bag', 4.5],
    ),
  },
  {
    file: 'no-headings-two-prices.txt',
    questions: ['headings', 'columns'],
    choices: { headingsLine: 0, columns: { code: 0, name: 1, price: 3 } },
    items: table('code name price', ['7001', 'Rake', 29.95], ['7002', 'Spade', 39.95], ['7003', 'Hoe', 27.5]),
  },
  {
    file: 'blank-columns-and-rows.csv',
    items: table('code name price', ['55-01', 'Gate latch', 24.95], ['55-02', 'Gate hinge', 31]),
  },
  {
    file: 'unknown-headings.csv',
    questions: ['columns'],
    choices: { columns: { code: 0, name: 1, price: 2 } },
    items: table('code name price', ['Y-1', 'Crusher dust', 38], ['Y-2', 'Road base', 42.5]),
  },
  {
    file: 'model-and-part-number.csv',
    items: table(
      'code name price',
      ['B26N50', 'Hot water system 26L NG', 1049],
      ['B26L50', 'Hot water system 26L LPG', 1059],
    ),
  },
  {
    file: 'notes-after-the-items.csv',
    items: table('code name price', ['F-1', 'Fence paling 1.8m', 3.1], ['F-2', 'Fence rail 2.4m', 9.8]),
    problems: [5, 6, 7, 8],
  },
]
