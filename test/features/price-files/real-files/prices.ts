import { type RealFile, table } from './real-file.ts'

/** Price columns, currencies, decimal signs and GST. */
export const PRICES: RealFile[] = [
  {
    file: 'prices-in-many-shapes.csv',
    items: table(
      'code name price',
      ['P01', 'plain', 12.5],
      ['P02', 'dollar', 12.5],
      ['P03', 'dollar and space', 7],
      ['P04', 'Australian', 12.5],
      ['P05', 'AUD before', 12.5],
      ['P06', 'AUD after', 12.5],
      ['P07', 'thousands', 1234.5],
      ['P08', 'space for thousands', 1234.5],
      ['P09', 'no-break space', 1234.5],
      ['P10', 'scientific', 110],
      ['P11', 'nothing before the point', 0.95],
      ['P12', 'no cents', 85],
    ),
    problems: [14, 15, 16, 17, 18, 19, 20, 21],
  },
  {
    file: 'prices-on-application.csv',
    items: table('code name price', ['LX-1', 'Light fitting', 129], ['LX-8', 'Lamp', 17.5]),
    problems: [3, 4, 5, 6, 7, 8, 10, 11, 12],
  },
  {
    file: 'decimal-commas.csv',
    questions: ['columns'],
    choices: { columns: { code: 0, name: 1, price: 2 } },
    items: table(
      'code name price',
      ['Z100', 'Fliese 30x30', 12.5],
      ['Z101', 'Fliese 60x60', 1249],
      ['Z102', 'Fliese 90x90', 1250],
      ['Z103', 'Fugenmasse', 7.9],
    ),
  },
  {
    file: 'ambiguous-thousands.csv',
    questions: ['decimal'],
    choices: { decimal: 'point' },
    items: table(
      'code name price',
      ['V-1', 'Vanity 900', 1250],
      ['V-2', 'Vanity 1200', 2475],
      ['V-3', 'Vanity 600', 900],
    ),
  },
  {
    file: 'thousands-told-by-others.csv',
    items: table(
      'code name price',
      ['V-1', 'Vanity 900', 1250],
      ['V-2', 'Vanity 1200', 2475],
      ['V-3', 'Vanity 600', 900],
    ),
  },
  {
    // The prices of this list are in Australian dollars: one in New Zealand dollars would be a wrong price.
    file: 'other-currencies.csv',
    items: table('code name price', ['X-1', 'Local pump', 1200]),
    problems: [3, 4, 5, 6, 7, 8],
  },
  {
    file: 'price-in-usd.csv',
    questions: ['columns'],
    choices: { columns: { code: 0, description: 1, price: 2 } },
    items: table('code description price', ['U-1', 'Compressor', 450], ['U-2', 'Compressor filter', 12]),
  },
  {
    file: 'price-per-100.csv',
    questions: ['columns'],
    choices: { columns: { code: 0, description: 1, unit: 2, price: 3 } },
    items: table(
      'code description unit price',
      ['B-8', 'Batten screw 8g', 'C', 21],
      ['B-14', 'Batten screw 14g', 'C', 38.5],
    ),
  },
  {
    file: 'unit-and-pack-prices.csv',
    questions: ['columns'],
    choices: { columns: { code: 0, description: 1, price: 4 } },
    items: table('code description price', ['S-1', 'Shelf pin', 0.15], ['S-2', 'Shelf bracket', 4.2]),
  },
  {
    file: 'quantity-breaks.csv',
    questions: ['columns'],
    choices: { columns: { code: 0, description: 1, price: 2 } },
    items: table('code description price', ['Q-1', 'Cable tie 200mm', 0.12], ['Q-2', 'Cable tie 300mm', 0.2]),
  },
  {
    file: 'discount-percent.csv',
    items: table('code name price', ['D-1', 'Drill bit 6mm', 9.9], ['D-2', 'Drill bit 8mm', 12.9]),
    problems: [4],
  },
  {
    file: 'cost-trade-rrp.csv',
    items: table('code name price', ['C-1', 'Cistern', 149], ['C-2', 'Cistern seat', 39.95]),
  },
  {
    file: 'trade-price-only.csv',
    questions: ['columns'],
    choices: { columns: { code: 0, description: 1, price: 2 } },
    items: table('code description price', ['T-1', 'Toilet suite', 310], ['T-2', 'Bidet', 275]),
  },
  {
    file: 'qty-rate-amount.csv',
    questions: ['columns'],
    choices: { columns: { code: 0, name: 1, price: 3 } },
    items: table('code name price', ['R-1', 'Concrete 25MPa', 285], ['R-2', 'Pump hire', 450]),
  },
  {
    file: 'quote-with-unit-price.csv',
    items: table(
      'code name unit price',
      ['1001', 'Concrete 25MPa', 'm3', 285],
      ['1002', 'Pump hire', 'day', 950],
    ),
    problems: [4, 5, 6],
  },
  {
    file: 'rrp-inc-gst.csv',
    questions: ['gst'],
    choices: { gst: 10 },
    items: table(
      'code name price',
      ['G-1', 'Gutter 115 quad', 30],
      ['G-2', 'Downpipe 100x50', 25.41],
      ['G-3', 'Gutter guard 10m', 100],
    ),
  },
  {
    file: 'ex-and-inc-gst.csv',
    items: table('code name price', ['G-1', 'Gutter 115 quad', 30], ['G-2', 'Downpipe 100x50', 25.41]),
  },
  {
    file: 'nz-title-says-incl-gst.csv',
    questions: ['gst'],
    choices: { gst: 15 },
    items: table(
      'code name price',
      ['NZ-1', 'Weatherboard 180 bevel', 20],
      ['NZ-2', 'Weatherboard 142 bevel', 1000],
    ),
  },
  {
    file: 'note-below-says-inc-gst.csv',
    questions: ['gst'],
    choices: { gst: 10 },
    items: table('code name price', ['LX-1', 'Light fitting', 120], ['LX-2', 'Lamp', 15]),
    problems: [5],
  },
  {
    file: 'old-and-new-price.csv',
    questions: ['columns'],
    choices: { columns: { code: 0, description: 1, price: 3 } },
    items: table('code description price', ['OP-1', 'Primer 4L', 84], ['OP-2', 'Primer 10L', 178.5]),
  },
  {
    file: 'trade-price-list-title.csv',
    questions: ['columns'],
    choices: { columns: { code: 0, description: 1, price: 2 } },
    items: table(
      'code description price',
      ['TP-1', 'Tile white 300x300', 18],
      ['TP-2', 'Tile black 300x300', 19.5],
    ),
  },
  {
    file: 'prices-in-usd-title.csv',
    questions: ['columns'],
    choices: { columns: { code: 0, description: 1, price: 2 } },
    items: table('code description price', ['PI-1', 'Chain block 1t', 210]),
  },
  {
    file: 'mostly-whole-thousands.csv',
    questions: ['decimal'],
    choices: { decimal: 'point' },
    items: table('code name price', ['MW-1', 'Spa bath', 2450], ['MW-2', 'Spa pump', 1180]),
    problems: [4],
  },
  {
    file: 'new-retail-beside-retail.csv',
    questions: ['columns'],
    choices: { columns: { code: 0, description: 1, price: 3 } },
    items: table('code description price', ['NR-1', 'Paint white 10L', 199]),
  },
  {
    file: 'currency-column.csv',
    items: table(
      'code name price',
      ['CU-1', 'Crane hook', 410],
      ['CU-3', 'Sling 2m', 61.5],
      ['CU-4', 'Sling 4m', 95],
    ),
    problems: [3, 6, 7],
  },
  {
    file: 'price-plus-gst.csv',
    items: table(
      'code name unit price',
      ['H-1', 'Hose clamp 12mm', 'ea', 1.2],
      ['H-2', 'Hose clamp 20mm', 'ea', 1.35],
    ),
  },
  {
    file: 'units-in-the-prices.csv',
    items: table('code name unit price', ['J-4', 'Joist glue', 'ea', 11]),
    problems: [2, 3, 4],
  },
]
