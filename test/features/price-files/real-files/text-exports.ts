import { type RealFile, table } from './real-file.ts'

/** Text that spreadsheets and other programs have saved: encodings, line endings, quotes and titles. */
export const TEXT_EXPORTS: RealFile[] = [
  {
    file: 'excel-title-and-total.csv',
    items: table(
      'code name unit category price',
      ['10045', 'Decking 90x19, merbau', 'lm', 'Decking', 8.95],
      ['10046', 'Decking 140x19, merbau', 'lm', 'Decking', 13.6],
      ['10100', 'Post 100x100 H4, 2.4m', 'ea', 'Posts', 1045],
    ),
    problems: [10, 12, 13],
  },
  {
    file: 'excel-semicolon-sep-line.csv',
    items: table(
      'code name unit price',
      ['FX-10', 'Schraube M10, verzinkt', 'EA', 0.85],
      ['FX-12', 'Schraube M12, verzinkt', 'EA', 1.1],
      ['FX-99', 'Dübel "Duo" 10x80', 'PK', 1234.5],
    ),
  },
  {
    file: 'excel-unicode-text-utf16le.txt',
    items: table(
      'code name unit price',
      ['P-001', 'Pipe Ø25 × 6 m', 'each', 41.2],
      ['P-002', 'Elbow 90°, Ø25', 'each', 3.35],
      ['P-003', 'Tee, Ø25 "long"', 'each', 4.9],
    ),
  },
  {
    file: 'mainframe-utf16be.csv',
    items: table(
      'code name price',
      ['HX-200', 'Heat pump – 2.0 kW', 1499],
      ['HX-350', 'Heat pump – 3.5 kW', 1999],
      ['HX-500', 'Heat pump – 5.0 kW “quiet”', 2649.5],
    ),
  },
  {
    file: 'excel-utf8-bom.csv',
    items: table(
      'code name price',
      ['GBH-2-26', 'Rotary hammer “Pro” 830 W', 289],
      ['GDX-18', 'Impact driver 18 V', 219.5],
    ),
  },
  {
    file: 'excel-macintosh-cr.csv',
    items: table(
      'code name unit price',
      ['K-1', 'Kitchen sink, 1 bowl', 'ea', 189],
      ['K-2', 'Kitchen sink, 1.5 bowl\rincl. waste', 'ea', 249],
      ['K-3', 'Sink mixer', 'ea', 99.5],
    ),
    problems: [6],
  },
  {
    file: 'windows-1252-degrees.csv',
    items: table(
      'code name unit price',
      ['D45', 'Bend 45° × 100', 'EA', 8.7],
      ['D90', 'Bend 90° × 100 – “DWV”', 'EA', 9.95],
      ['E1', 'Entrée door lever (pair)', 'PR', 64],
    ),
  },
  {
    file: 'google-sheets-all-quoted.csv',
    items: table(
      'code name unit price',
      ['9312345678907', 'Silicone, clear 300g', 'ea', 11.95],
      ['9312345678914', 'Silicone, white 300g', 'ea', 11.95],
      ['0012345678905', 'Sealant gun, "Pro"', 'ea', 34],
    ),
  },
  {
    file: 'google-sheets-plain.csv',
    items: table(
      'code name price',
      ['A-1', 'Nail 75mm', 4.5],
      ['A-2', 'Nail 100mm, bright', 5.25],
      ['A-3', 'Multi-line\nname here', 6],
      ['A-4', 'Clout 30mm', 3.75],
    ),
  },
  {
    file: 'libreoffice-quoted-text.csv',
    items: table(
      'code name unit price',
      ['001', 'Hammer 16 oz', 'ea', 24.5],
      ['002', 'Hammer 20 oz; fibreglass', 'ea', 29],
      ['010', 'Crow bar 24"', 'ea', 33.75],
    ),
  },
  {
    file: 'floats-of-a-spreadsheet.csv',
    items: table(
      'code name price',
      ['W-1', 'Window 600x900', 926.64],
      ['W-2', 'Window 900x900', 0.3],
      ['W-3', 'Window 1200x900', 1100],
      ['W-4', 'Window 1500x900', 1234.5],
    ),
    problems: [6],
  },
  {
    file: 'codes-shortened-by-a-spreadsheet.csv',
    items: table(
      'code name price',
      ['9312345000043', 'Tap washer 18mm', 2.35],
      ['12E10', 'Tap handle 12E10', 8.9],
    ),
    problems: [2, 3, 5],
  },
  {
    file: 'zeros-kept-as-formulas.csv',
    items: table(
      'code name price',
      ['00123', 'Left hand door', 1.5],
      ['00124', 'Right hand door', 1.6],
      ['00125', 'Door stop', 1.7],
    ),
  },
  {
    file: 'mixed-line-endings-joined.csv',
    items: table(
      'code name price',
      ['L-1', 'Lintel 100x75', 64],
      ['L-2', 'Lintel 150x90', 98],
      ['L-3', 'Lintel 200x90', 1120],
    ),
    problems: [4],
  },
]
