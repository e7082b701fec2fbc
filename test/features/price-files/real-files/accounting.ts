import { type RealFile, table } from './real-file.ts'

/** Exports of accounting and stock systems. */
export const ACCOUNTING: RealFile[] = [
  {
    file: 'myob-accountright-items.txt',
    items: table(
      'code name description unit price',
      ['100-01', 'Café table 90×60', 'Oak, 25mm – seats two', 'Each', 1249],
      ['100-02', 'Bolt ½" galv', null, 'Each', 0.85],
      ['100-03', 'Site labour', null, 'Hour', 95],
    ),
  },
  {
    file: 'myob-tax-inclusive-items.txt',
    questions: ['gst'],
    choices: { gst: 10 },
    items: table(
      'code name unit price',
      ['200-01', 'Ladder 1.8m', 'Each', 180],
      ['200-02', 'Ladder 2.4m', 'Each', 220],
    ),
    problems: [4],
  },
  {
    file: 'myob-exo-stock.csv',
    questions: ['columns'],
    choices: { columns: { code: 0, description: 1, price: 4 } },
    items: table(
      'code description price',
      ['AIRFIL01', 'Airfilter - Standard', 16.95],
      ['AIRFIL02', 'Airfilter - "Ram flow"', 29.5],
      ['BRKPAD', 'Brake pads (set of 4)', 112],
    ),
  },
  {
    file: 'xero-inventory-items.csv',
    items: table(
      'code name description price',
      ['PL-10', 'Plasterboard 10mm', 'Plasterboard 10mm 2400 x 1200', 18.9],
      ['PL-13', 'Plasterboard 13mm', 'Plasterboard 13mm, 2400 x 1200', 23.5],
      ['DEL', 'Delivery', 'Delivery (metro)', 66],
    ),
    problems: [5],
  },
  {
    file: 'quickbooks-online-products.csv',
    questions: ['columns'],
    choices: { columns: { code: 2, name: 0, description: 1, price: 4 } },
    items: table(
      'code name description price',
      ['RC24', 'Ridge cap 2.4m', 'Ridge cap Colorbond 2.4m', 48.4],
      ['RS65', 'Roofing screw 65mm (100)', 'Roofing screw 65mm box of 100', 36.9],
      ['WB300', 'Whirlybird 300mm', null, 119],
    ),
  },
  {
    file: 'quickbooks-desktop-item-list.csv',
    items: table(
      'code name unit category price',
      ['Cabinets', 'Cabinets', null, 'Inventory Part', 0],
      ['Cabinets:Cab-600', 'Base cabinet 600mm, white', 'ea', 'Inventory Part', 385],
      ['Cabinets:Cab-900', 'Base cabinet 900mm, white', 'ea', 'Inventory Part', 1045.5],
      ['Install', 'Installation, per hour', 'hr', 'Service', 88],
    ),
  },
  {
    file: 'reckon-items.iif',
    questions: ['columns'],
    choices: { columns: { code: 1, description: 4, price: 7 } },
    items: table(
      'code description price',
      ['HOSE-12', 'Garden hose 12mm x 30m', 42.75],
      ['HOSE-18', 'Garden hose 18mm x 30m', 58.9],
      ['FITT-12', 'Fitting 12mm, brass', 7],
    ),
  },
  {
    file: 'attache-price-report.txt',
    questions: ['columns'],
    choices: { columns: { code: 0, description: 1, unit: 2, price: 4 } },
    items: table(
      'code description unit price',
      ['000450', 'Hinge butt 75mm SC', 'EA', 2.95],
      ['000451', 'Hinge butt 100mm SC', 'EA', 4.1],
      ['001200', 'Latch gravity D&D', 'EA', 31.5],
    ),
  },
  {
    // Two of the prices are for 100 and for 1,000 units.
    file: 'sap-price-unit.txt',
    items: table('code name unit price', ['000010004712', 'BOLT M12X100', 'EA', 3.15]),
    problems: [2, 4],
  },
  {
    file: 'pipe-separated-nightly.txt',
    items: table(
      'code name unit category price',
      ['TIM-9045-24', 'Pine MGP10 90x45 2.4m', 'LGTH', 'Timber/Framing', 12.84],
      ['TIM-9045-30', 'Pine MGP10 90x45 3.0m', 'LGTH', 'Timber/Framing', 16.05],
      ['ADH-375', 'Liquid Nails 375mL, "Fast Grab"', 'EA', 'Adhesives', 9.12],
    ),
  },
]
