// Price files as suppliers send them, and what a careful clerk would make of each.
//
// A wrong code or price that nobody notices is the only real harm. Where several outcomes are honest, such as a
// question or a rejected row, `anyOf` has them all. A file that leaves no doubt expects its items, without a question.

import {
  type AnyFile,
  archive,
  type Cell,
  encryptedXlsx,
  html,
  legacyXls,
  numbers,
  ods,
  pdf,
  type Sheet,
  xlsb,
  xmlSpreadsheet,
} from './write-file.ts'

export type ExpectedItem = { code: string; price: string; unit?: string; name?: string }

export type Outcome =
  | {
      /** The items that come out: prices of one unit before tax, in dollars. */
      items: ExpectedItem[]
      /** The lines of rows that must be rejected. */
      problems?: number[]
      /** The lines of rows that are no items, such as notes: they may be rejected or left out. */
      noItems?: number[]
    }
  | { asks: 'column' | 'gst' | 'decimal' | 'headings' | 'any' }
  | { refused: RegExp }

export type Expected = Outcome | { anyOf: Outcome[] }

export type PriceFileCase = {
  name: string
  kind:
    | 'gst'
    | 'notes'
    | 'units'
    | 'currency'
    | 'codes'
    | 'shifted'
    | 'structure'
    | 'formats'
    | 'late'
    | 'prices'
    | 'ordinary'
  file: AnyFile
  /** Options of the command. */
  options?: string[]
  expect: Expected
  /** Why that is right, where it needs a word. */
  why?: string
}

const book = (rows: Cell[][], more: Partial<Sheet> = {}, fileName?: string): AnyFile => ({
  sheets: [{ name: 'Sheet1', rows, ...more }],
  ...(fileName === undefined ? {} : { fileName }),
})

/** Items in short: `'A100 12.50'` or `'A100 12.50 EA'`; the code has no spaces. */
const items = (...texts: string[]): ExpectedItem[] =>
  texts.map((text) => {
    const [code = '', price = '', ...unit] = text.split(' ')
    return { code, price, ...(unit.length > 0 ? { unit: unit.join(' ') } : {}) }
  })

const DOLLARS = '"$"#,##0.00'
const DATE = 14
const DAY_MONTH = 16
const MONTH_YEAR = 17
const TIME = 20

const gst: PriceFileCase[] = [
  {
    name: 'column Inc/Ex, all Inc',
    kind: 'gst',
    file: {
      csv: [
        'Product Code,Description,UOM,Price,Inc/Ex',
        'TP-2001,Basin mixer chrome,EA,187.00,Inc',
        'TP-2002,Sink mixer gooseneck,EA,231.00,Inc',
        'TP-2003,Bath spout 200mm,EA,99.00,Inc',
      ],
    },
    expect: { asks: 'gst' },
  },
  {
    name: 'column Inc/Ex, all Ex',
    kind: 'gst',
    file: {
      csv: [
        'Product Code,Description,UOM,Price,Inc/Ex',
        'TP-2001,Basin mixer chrome,EA,170.00,Ex',
        'TP-2002,Sink mixer gooseneck,EA,210.00,Ex',
        'TP-2003,Bath spout 200mm,EA,90.00,Ex',
      ],
    },
    expect: { items: items('TP-2001 170.00 EA', 'TP-2002 210 EA', 'TP-2003 90 EA') },
  },
  {
    name: 'column GST with Incl and Excl mixed',
    kind: 'gst',
    file: book([
      ['Stock Code', 'Description', 'Unit', 'Sell Price', 'GST'],
      ['PLY-12-2412', 'Structural ply 12mm', 'SHT', 74.25, 'Excl'],
      ['PLY-17-2412', 'Structural ply 17mm', 'SHT', 108.9, 'Incl'],
      ['PLY-25-2412', 'Structural ply 25mm', 'SHT', 151.4, 'Excl'],
    ]),
    expect: {
      anyOf: [
        { asks: 'any' },
        { items: items('PLY-12-2412 74.25', 'PLY-25-2412 151.4'), problems: [3] },
        { items: items('PLY-12-2412 74.25', 'PLY-17-2412 99', 'PLY-25-2412 151.4') },
      ],
    },
  },
  {
    name: 'column Price Basis in all rows GST Inclusive',
    kind: 'gst',
    file: book([
      ['Item', 'Item Description', 'Price Basis', 'List Price'],
      ['GLV-075', 'Galv post 75x75x2400', 'GST Inclusive', { value: 62.7, format: DOLLARS }],
      ['GLV-100', 'Galv post 100x100x2400', 'GST Inclusive', { value: 95.15, format: DOLLARS }],
    ]),
    expect: { asks: 'gst' },
  },
  {
    name: 'MYOB export, Sell Price Inclusive empty or N',
    kind: 'gst',
    file: {
      csv: [
        '{}',
        'Item Number\tItem Name\tBuy\tSell\tInventory\tSelling Price\tSell Unit Measure\tTax Code When Sold\tSell Price Inclusive',
        'CEM20\tGP cement 20kg\tB\tS\tI\t8.64\tBAG\tGST\tN',
        'SAND20\tWashed sand 20kg\tB\tS\tI\t6.82\tBAG\tGST\tN',
      ],
      fileName: 'ITEM.TXT',
    },
    expect: { items: items('CEM20 8.64', 'SAND20 6.82') },
  },
  {
    name: 'MYOB export, Sell Price Inclusive Y on one row',
    kind: 'gst',
    file: {
      csv: [
        'Item Number\tItem Name\tSelling Price\tSell Unit Measure\tTax Code When Sold\tSell Price Inclusive',
        'CEM20\tGP cement 20kg\t8.64\tBAG\tGST\tN',
        'SAND20\tWashed sand 20kg\t7.50\tBAG\tGST\tY',
        'MORT20\tMortar mix 20kg\t9.10\tBAG\tGST\tN',
      ],
      fileName: 'ITEM.TXT',
    },
    expect: { anyOf: [{ asks: 'any' }, { items: items('CEM20 8.64', 'MORT20 9.10'), problems: [3] }] },
  },
  {
    name: 'RRP ex GST with Tax Code GST, FRE and N-T',
    kind: 'gst',
    file: {
      csv: [
        'Item Code,Item Name,RRP ex GST,Tax Code',
        'FA-01,First aid kit,89.00,GST',
        'FA-02,Sunscreen 1L,21.50,FRE',
        'FA-03,Hire deposit key,40.00,N-T',
      ],
    },
    expect: { items: items('FA-01 89', 'FA-02 21.5', 'FA-03 40') },
    why: 'The heading says that all prices are before tax, whatever tax comes on top.',
  },
  {
    name: 'RRP inc GST, one row GST Free, GST of 10% removed',
    kind: 'gst',
    file: {
      csv: [
        'Item Code,Item Name,RRP inc GST,Tax Status',
        'FA-01,First aid kit,88.00,Taxable',
        'FA-02,Sunscreen 1L,22.00,GST Free',
        'FA-03,Safety glasses,11.00,Taxable',
      ],
    },
    options: ['--gst', '10'],
    expect: {
      anyOf: [
        { items: items('FA-01 80', 'FA-03 10'), problems: [3] },
        { items: items('FA-01 80', 'FA-02 22', 'FA-03 10') },
        { asks: 'any' },
      ],
    },
    why: 'A price without GST has no GST to remove.',
  },
  {
    name: 'GST as a rate of 10% beside prices ex and inc',
    kind: 'gst',
    file: book([
      ['SKU', 'Product', 'Unit Price (ex GST)', 'GST', 'Unit Price (inc GST)'],
      ['DR-820', 'Flush door 820', 64, { value: 0.1, format: '0%' }, { value: 70.4, formula: 'C2*(1+D2)' }],
      ['DR-870', 'Flush door 870', 68, { value: 0.1, format: '0%' }, { value: 74.8, formula: 'C3*(1+D3)' }],
    ]),
    expect: { anyOf: [{ items: items('DR-820 64', 'DR-870 68') }, { asks: 'column' }] },
  },
  {
    name: 'column Price Incl GST? with Yes and No',
    kind: 'gst',
    file: {
      csv: [
        'Part No,Description,Unit Price,Price Incl GST?',
        '4410-A,Downpipe 90mm 1.8m,21.40,No',
        '4410-B,Downpipe 90mm 3m,38.50,Yes',
        '4410-C,Downpipe clip 90mm,3.15,No',
      ],
    },
    expect: { anyOf: [{ asks: 'any' }, { items: items('4410-A 21.40', '4410-C 3.15'), problems: [3] }] },
  },
  {
    name: 'New Zealand, RRP incl GST, 15% removed',
    kind: 'gst',
    file: {
      csv: [
        'Code,Description,RRP incl GST',
        'GIB-10,GIB board 10mm 2400,41.40',
        'GIB-13,GIB board 13mm 2400,57.50',
      ],
    },
    options: ['--gst', '15'],
    expect: { items: items('GIB-10 36', 'GIB-13 50') },
  },
]

const notes: PriceFileCase[] = [
  {
    name: 'note below the items: prices in USD',
    kind: 'notes',
    file: {
      csv: [
        'Model,Description,Price',
        'HX-20,Heat exchanger 20kW,1450.00',
        'HX-35,Heat exchanger 35kW,1985.00',
        '',
        '* All prices are quoted in USD FOB Shanghai,,',
      ],
    },
    expect: { asks: 'any' },
  },
  {
    name: 'note below the items: per 100',
    kind: 'notes',
    file: book([
      ['Code', 'Description', 'List Price'],
      ['CS-8-50', 'Coach screw M8x50', 48.2],
      ['CS-8-75', 'Coach screw M8x75', 61.75],
      [],
      ['Fastener prices are per 100 unless otherwise stated.'],
    ]),
    expect: { asks: 'any' },
  },
  {
    name: 'note below the items: pricing above is GST inclusive',
    kind: 'notes',
    file: {
      csv: [
        'Item Code,Description,RRP',
        'GI-1,Grate 300,44.00',
        'GI-2,Grate 450,66.00',
        '',
        'Pricing above is GST inclusive and subject to change,,',
      ],
    },
    expect: { asks: 'gst' },
  },
  {
    name: 'note below the items: per thousand bricks',
    kind: 'notes',
    file: book([
      ['Product Code', 'Product Name', 'Price'],
      ['BRK-RED', 'Common red brick', 890],
      ['BRK-CRM', 'Cream face brick', 1120],
      [null, null, null],
      [null, 'Prices per 1000 bricks, ex yard'],
    ]),
    expect: { asks: 'any' },
  },
  {
    name: 'note to the right of the headings: trade',
    kind: 'notes',
    file: book([
      ['Code', 'Description', 'Unit', 'Price', null, 'TRADE PRICES - NOT FOR PUBLIC DISPLAY'],
      ['INS-R25', 'Wall batts R2.5', 'PK', 61.3],
      ['INS-R40', 'Ceiling batts R4.0', 'PK', 78.45],
    ]),
    expect: { asks: 'any' },
  },
  {
    name: 'note to the right of an item: GST inclusive',
    kind: 'notes',
    file: book([
      ['Code', 'Description', 'Price'],
      ['WT-300', 'Wall tile 300x600', 42.9, null, 'NB: all prices include GST'],
      ['FT-600', 'Floor tile 600x600', 53.9],
    ]),
    expect: { anyOf: [{ asks: 'any' }, { items: items(), problems: [2, 3] }] },
  },
  {
    name: 'note between sections: wholesale from here',
    kind: 'notes',
    file: {
      csv: [
        'SKU,Description,RRP',
        'LED-09,Downlight 9W,18.90',
        'LED-12,Downlight 12W,24.50',
        '*** BATTENS: WHOLESALE PRICES ONLY ***,,',
        'BAT-20,LED batten 20W,21.00',
        'BAT-40,LED batten 40W,29.00',
      ],
    },
    expect: {
      anyOf: [
        { asks: 'any' },
        { items: items('LED-09 18.90', 'LED-12 24.50'), problems: [5, 6], noItems: [4] },
      ],
    },
  },
  {
    name: "sheet's name Wholesale 2026",
    kind: 'notes',
    file: book(
      [
        ['Item No', 'Item Description', 'UoM', 'Price'],
        ['88010', 'Colorbond sheet 0.42', 'M', 14.2],
        ['88015', 'Ridge cap', 'M', 11.75],
      ],
      { name: 'Wholesale 2026' },
    ),
    expect: { asks: 'any' },
  },
  {
    name: "sheet's name RRP inc GST",
    kind: 'notes',
    file: book(
      [
        ['Code', 'Product', 'RRP'],
        ['TF-1', 'Timber floor oak', 121],
        ['TF-2', 'Timber floor spotted gum', 143],
      ],
      { name: 'RRP inc GST' },
    ),
    expect: { asks: 'gst' },
  },
  {
    name: "file's name says trade prices",
    kind: 'notes',
    file: {
      csv: ['Code,Description,Price', 'HNG-100,Butt hinge 100mm,6.80', 'HNG-125,Butt hinge 125mm,9.35'],
      fileName: 'Acme Hardware TRADE price list July 2026.csv',
    },
    expect: { asks: 'any' },
  },
  {
    name: "file's name says NZD cost",
    kind: 'notes',
    file: book(
      [
        ['Code', 'Description', 'Unit Price'],
        ['RF-01', 'Roof light 550', 318],
        ['RF-02', 'Roof light 780', 402.5],
      ],
      {},
      'Skylights_dealer_cost_NZD.xlsx',
    ),
    expect: { asks: 'any' },
  },
  {
    name: 'print header: trade price list',
    kind: 'notes',
    file: book(
      [
        ['Code', 'Description', 'Price'],
        ['PV-40', 'PVC pipe DWV 40mm', 13.1],
        ['PV-50', 'PVC pipe DWV 50mm', 17.65],
      ],
      { header: '&L&"Arial,Bold"Plumbing Supplies Pty Ltd&C&14Trade Price List&R&D' },
    ),
    expect: { asks: 'any' },
  },
  {
    name: 'print footer: all prices include GST',
    kind: 'notes',
    file: book(
      [
        ['Code', 'Description', 'RRP'],
        ['PV-40', 'PVC pipe DWV 40mm', 14.41],
        ['PV-50', 'PVC pipe DWV 50mm', 19.42],
      ],
      { footer: '&LAll prices include GST&RPage &P of &N' },
    ),
    expect: { asks: 'gst' },
  },
  {
    name: 'another sheet says that all prices include GST',
    kind: 'notes',
    file: {
      sheets: [
        {
          name: 'Prices',
          rows: [
            ['Code', 'Description', 'RRP'],
            ['AN-1', 'Awning 2.4m', 1320],
            ['AN-2', 'Awning 3.0m', 1540],
          ],
        },
        {
          name: 'Read me',
          rows: [['Price list notes'], ['All prices include GST of 10%'], ['Valid to 31 December 2026']],
        },
      ],
    },
    expect: { asks: 'gst' },
  },
  {
    name: 'innocent notes: ex GST, phone, ABN, updated',
    kind: 'notes',
    file: book(
      [
        ['Southern Timber & Hardware Pty Ltd'],
        ['ABN 51 824 753 556    Ph (03) 9555 0100    sales@southerntimber.example'],
        ['Price list - updated March 2026'],
        [],
        ['Code', 'Description', 'UOM', 'RRP ex GST'],
        ['MGP10-9045', 'MGP10 90x45 pine', 'LM', { value: 5.35, format: DOLLARS }],
        ['MGP12-9045', 'MGP12 90x45 pine', 'LM', { value: 6.1, format: DOLLARS }],
        [],
        ['Prices ex GST. Errors and omissions excepted. Valid until 30/06/2026.'],
      ],
      { name: 'Prices ex GST', header: '&CPrice List March 2026', footer: '&RPage &P of &N' },
    ),
    expect: { items: items('MGP10-9045 5.35 LM', 'MGP12-9045 6.1 LM'), noItems: [9] },
  },
  {
    name: 'innocent notes: freight and minimum order',
    kind: 'notes',
    file: {
      csv: [
        'Item Code,Description,List Price ex GST',
        'KB-18,Kitchen base 1800,640.00',
        'KB-24,Kitchen base 2400,815.00',
        '',
        'Minimum order 100 units. Orders under $500 incur a $25 delivery fee.,,',
        'Phone 1800 123 456 or email orders@kitchens.example,,',
      ],
    },
    expect: { items: items('KB-18 640', 'KB-24 815'), noItems: [5, 6] },
  },
  {
    name: 'innocent words in descriptions: trade, cost, per 100, USB',
    kind: 'notes',
    file: {
      csv: [
        'SKU,Name,Description,RRP ex GST',
        'PW-1,Trade Pack plugs,Trade pack of 100 plugs,22.00',
        'PW-2,USB outlet,USD style dual USB outlet,38.40',
        'PW-3,Low cost GPO,Low cost double GPO,7.95',
        'PW-4,Price label roll,Rate card holder and cost sheet,4.10',
      ],
    },
    expect: { items: items('PW-1 22', 'PW-2 38.4', 'PW-3 7.95', 'PW-4 4.1') },
  },
]

const units: PriceFileCase[] = [
  {
    name: 'column Divisor with 1 and 100',
    kind: 'units',
    file: {
      csv: [
        'STOCK CODE|DESCRIPTION|UOM|PRICE|DIVISOR',
        'NUT-M8|Hex nut M8|EA|12.40|100',
        'NUT-M20|Hex nut M20|EA|1.85|1',
        'ANC-12|Anchor M12|EA|4.20|1',
      ],
    },
    expect: { anyOf: [{ items: items('NUT-M20 1.85', 'ANC-12 4.2'), problems: [2] }, { asks: 'any' }] },
  },
  {
    name: 'column Per with Each, Hundred and Thousand',
    kind: 'units',
    file: book([
      ['Part Number', 'Description', 'Price', 'Per'],
      ['WS-06', 'Washer M6', 3.1, 'Hundred'],
      ['WS-20', 'Washer M20', 0.9, 'Each'],
      ['NL-75', 'Bullet nail 75mm', 22, 'Thousand'],
    ]),
    expect: { anyOf: [{ items: items('WS-20 0.9'), problems: [2, 4] }, { asks: 'any' }] },
    why: 'A number of pieces is no unit that a shop sells, unlike a box: the price is for several.',
  },
  {
    name: 'column Per with Hundred, Thousand and per C beside UOM EA',
    kind: 'units',
    file: {
      csv: [
        'Item Code,Description,UOM,Sell Price,Per',
        'TS-1,Tek screw 25mm,EA,14.20,Hundred',
        'TS-2,Tek screw 50mm,EA,190.00,Thousand',
        'TS-3,Dropper screw,EA,26.00,per C',
        'TS-4,Tek driver,EA,8.80,Each',
        'TS-5,Roofing screw,EA,31.00,100',
      ],
    },
    expect: { anyOf: [{ items: items('TS-4 8.8'), problems: [2, 3, 4, 6] }, { asks: 'any' }] },
  },
  {
    name: 'column Per with Each and Box of 50',
    kind: 'units',
    file: {
      csv: [
        'Code,Description,Price,Per',
        'SCR-825,Screw 8g x 25,6.40,Box of 50',
        'BIT-PH2,Driver bit PH2,2.95,Each',
      ],
    },
    expect: {
      anyOf: [
        { items: items('BIT-PH2 2.95'), problems: [2] },
        { items: items('SCR-825 6.40 Box of 50', 'BIT-PH2 2.95 Each') },
        { asks: 'any' },
      ],
    },
    why: 'The price of a box is right only with the box as its unit.',
  },
  {
    name: 'SAP Price Unit with 1, 100 and 1,000',
    kind: 'units',
    file: {
      csv: [
        'Material;Material Description;List Price;Price Unit;Sales Unit',
        '100023;Tie wire 1.57mm;4.10;1;ROL',
        '100024;Bar chair 40/50;31.00;100;EA',
        '100025;Clip 20mm;95.00;1,000;EA',
        '100026;Mesh SL82;88.00;1;SHT',
      ],
    },
    options: ['--map', 'code=1'],
    expect: { items: items('100023 4.1', '100026 88'), problems: [3, 4] },
  },
  {
    name: 'UOM EA, Price UOM C on one row',
    kind: 'units',
    file: book([
      ['Item Number', 'Description', 'Sell UOM', 'Price UOM', 'List Price'],
      ['BLT-1050', 'Bolt M10x50', 'EA', 'C', 64.5],
      ['BLT-2450', 'Bolt M24x150', 'EA', 'EA', 9.8],
      ['ROD-12', 'Threaded rod M12', 'EA', 'EA', 7.3],
    ]),
    expect: {
      anyOf: [
        { items: items('BLT-2450 9.8', 'ROD-12 7.3'), problems: [2] },
        { items: items('BLT-1050 64.5 C', 'BLT-2450 9.8 EA', 'ROD-12 7.3 EA') },
        { asks: 'any' },
      ],
    },
    why: 'The price for a hundred must not come out as the price of EA.',
  },
  {
    name: 'UOM with C, M and 100EA',
    kind: 'units',
    file: {
      csv: [
        'Code,Description,UOM,RRP ex GST',
        'RV-3,Rivet 3.2mm,C,5.10',
        'RV-4,Rivet 4.0mm,M,62.00',
        'RV-5,Rivet 4.8mm,100EA,8.30',
        'RG-1,Rivet gun,EA,44.00',
      ],
    },
    expect: {
      anyOf: [
        { items: items('RV-3 5.1 C', 'RV-4 62 M', 'RV-5 8.3 100EA', 'RG-1 44 EA') },
        { items: items('RV-3 5.1 C', 'RV-4 62 M', 'RG-1 44 EA'), problems: [4] },
        { items: items('RG-1 44 EA'), problems: [2, 3, 4] },
        { asks: 'any' },
      ],
    },
    why: 'Arguable: the unit goes with the price, so that 8.30 per 100EA is what the supplier says.',
  },
  {
    name: 'heading RRP per 100',
    kind: 'units',
    file: book([
      ['Code', 'Description', 'RRP per 100'],
      ['CL-15', 'Saddle clip 15mm', 38.5],
      ['CL-20', 'Saddle clip 20mm', 44],
    ]),
    expect: { anyOf: [{ asks: 'any' }, { items: [], problems: [2, 3] }] },
  },
  {
    name: 'prices with words: per 100, /m, ea',
    kind: 'units',
    file: {
      csv: [
        'Code,Description,Price',
        'ZN-1,Zinc nail 30mm,21.00 per 100',
        'ZN-2,Flashing roll,$8.40/m',
        'ZN-3,Tin snips,$36.00 ea',
        'ZN-4,Gutter guard,18.20',
      ],
    },
    expect: {
      anyOf: [
        { items: items('ZN-4 18.2'), problems: [2, 3, 4] },
        { items: items('ZN-3 36', 'ZN-4 18.2'), problems: [2, 3] },
        { asks: 'any' },
      ],
    },
  },
  {
    name: 'number format shows per 100 and per C',
    kind: 'units',
    file: book([
      ['SKU', 'Description', 'List Price'],
      ['TH-1', 'Thread seal tape', { value: 1.6, format: DOLLARS }],
      ['TH-2', 'Olive 15mm', { value: 42, format: '"$"0.00" per 100"' }],
      ['TH-3', 'Olive 20mm', { value: 55, format: '"$"0.00" /C"' }],
    ]),
    expect: { anyOf: [{ items: items('TH-1 1.6'), problems: [3, 4] }, { asks: 'any' }] },
  },
  {
    name: 'heading Price in cents',
    kind: 'units',
    file: {
      csv: ['Item Code,Description,Price (cents)', 'RB-1,Rubber washer,45', 'RB-2,Rubber grommet,120'],
    },
    expect: { asks: 'any' },
  },
  {
    name: 'heading Price / C',
    kind: 'units',
    file: {
      csv: [
        'Item Code,Description,UOM,List $/C',
        'LW-1,Lock washer M6,EA,4.40',
        'LW-2,Lock washer M8,EA,6.10',
      ],
    },
    expect: { asks: 'any' },
  },
  {
    name: 'heading Carton Price beside UOM EA',
    kind: 'units',
    file: book([
      ['Item Code', 'Description', 'UOM', 'Carton Qty', 'Carton Price'],
      ['CX-1', 'Caulk 450g', 'EA', 20, 84],
      ['CX-2', 'Adhesive 320g', 'EA', 12, 71.4],
    ]),
    expect: { asks: 'any' },
    why: 'The price of one unit is the carton price divided by the quantity, which the program does not do.',
  },
  {
    name: 'innocent Pack Qty and Carton Qty beside Price Each',
    kind: 'units',
    file: book([
      ['Code', 'Description', 'Pack Qty', 'Carton Qty', 'Price Each ex GST'],
      ['GL-01', 'Rigger gloves L', 12, 144, 6.2],
      ['GL-02', 'Nitrile gloves L', 100, 1000, 0.185],
    ]),
    expect: { items: items('GL-01 6.2', 'GL-02 0.185') },
  },
  {
    name: 'quantity breaks 1-9, 10-99, 100+',
    kind: 'units',
    file: {
      csv: [
        'Code,Description,Price 1-9,Price 10-99,Price 100+',
        'SIL-W,Silicone white 300g,9.90,8.70,7.95',
        'SIL-C,Silicone clear 300g,9.90,8.70,7.95',
      ],
    },
    expect: { anyOf: [{ asks: 'column' }, { items: items('SIL-W 9.9', 'SIL-C 9.9') }] },
    why: 'The price of one unit is that of 1-9; asking is fine too.',
  },
]

const currency: PriceFileCase[] = [
  {
    name: 'Crcy, all AUD',
    kind: 'currency',
    file: {
      csv: [
        'Material\tDescription\tList Price\tCrcy\tper\tUoM',
        '40012345\tCompression coupling\t18.20\tAUD\t1\tEA',
        '40012346\tCompression elbow\t21.75\tAUD\t1\tEA',
      ],
    },
    options: ['--map', 'code=1'],
    expect: { items: items('40012345 18.2 EA', '40012346 21.75 EA') },
  },
  {
    name: 'Crcy, one row USD',
    kind: 'currency',
    file: {
      csv: [
        'Material;Description;UoM;List Price;Crcy',
        'P-100;Pump 0.75kW;EA;612.00;AUD',
        'P-150;Pump 1.5kW;EA;540.00;USD',
        'P-200;Pump 2.2kW;EA;1180.00;AUD',
      ],
    },
    options: ['--map', 'code=1'],
    expect: { anyOf: [{ items: items('P-100 612', 'P-200 1180'), problems: [3] }, { asks: 'any' }] },
  },
  {
    name: 'Waers, all NZD',
    kind: 'currency',
    file: book([
      ['MATNR', 'MAKTX', 'List Price', 'WAERS', 'KPEIN', 'KMEIN'],
      ['000000000000401234', 'Weatherboard 180', 12.4, 'NZD', 1, 'M'],
      ['000000000000401235', 'Weatherboard 142', 10.15, 'NZD', 1, 'M'],
    ]),
    options: ['--map', 'code=1'],
    expect: {
      anyOf: [
        { items: items('000000000000401234 12.4', '000000000000401235 10.15') },
        { asks: 'any' },
        { items: [], problems: [2, 3] },
      ],
    },
  },
  {
    name: 'Cur, NZD below AUD',
    kind: 'currency',
    file: {
      csv: [
        'Item Code,Item Description,Cur,RRP',
        'WD-1,Window 600x900,AUD,310.00',
        'WD-2,Window 900x900,AUD,365.00',
        'WD-3,Window 1200x900,NZD,455.00',
      ],
    },
    expect: { anyOf: [{ items: items('WD-1 310', 'WD-2 365'), problems: [4] }, { asks: 'any' }] },
  },
  {
    name: 'Ccy, all USD',
    kind: 'currency',
    file: book([
      ['Part No.', 'Description', 'Ccy', 'Unit Price'],
      ['SN-1001', 'Solar inverter 5kW', 'USD', 780],
      ['SN-1002', 'Solar inverter 8kW', 'USD', 1120],
    ]),
    expect: { anyOf: [{ asks: 'any' }, { items: [], problems: [2, 3] }] },
  },
  {
    name: 'Curr. with EUR and a name such as US Dollar',
    kind: 'currency',
    file: {
      csv: [
        'No.;Description;Unit Price;Curr.',
        'D-10;Door closer;145.50;AUD',
        'D-11;Floor spring;398.00;EUR',
        'D-12;Panic bar;286.00;US Dollar',
        'D-13;Door stop;6.75;AUD',
      ],
    },
    options: ['--map', 'code=1'],
    expect: { anyOf: [{ items: items('D-10 145.5', 'D-13 6.75'), problems: [3, 4] }, { asks: 'any' }] },
  },
  {
    name: 'heading RRP (US$)',
    kind: 'currency',
    file: { csv: ['SKU,Product,RRP (US$)', 'UP-1,UPS 1kVA,310.00', 'UP-2,UPS 2kVA,540.00'] },
    expect: { anyOf: [{ asks: 'any' }, { items: [], problems: [2, 3] }] },
  },
  {
    name: 'number formats in US dollars and euros',
    kind: 'currency',
    file: book([
      ['SKU', 'Description', 'RRP'],
      ['TL-1', 'Laser level', { value: 399, format: '[$-C09]"$"#,##0.00' }],
      ['TL-2', 'Line laser', { value: 259, format: '[$USD] #,##0.00' }],
      ['TL-3', 'Rotary laser', { value: 890, format: '[$€-2] #,##0.00' }],
      ['TL-4', 'Tripod', { value: 119, format: DOLLARS }],
    ]),
    expect: { anyOf: [{ items: items('TL-1 399', 'TL-4 119'), problems: [3, 4] }, { asks: 'any' }] },
  },
]

const codes: PriceFileCase[] = [
  {
    name: 'cells that became dates in a workbook',
    kind: 'codes',
    file: book([
      ['Code', 'Description', 'RRP'],
      ['FEB-100', 'Flat end bracket 100', 8.1],
      [{ value: 46054, format: DAY_MONTH }, 'Flat end bracket 1', 5.2],
      [{ value: 46082, format: MONTH_YEAR }, 'Mild angle 26', 7.4],
      ['FEB-120', 'Flat end bracket 120', 9.3],
    ]),
    expect: { anyOf: [{ items: items('FEB-100 8.1', 'FEB-120 9.3'), problems: [3, 4] }, { asks: 'any' }] },
  },
  {
    name: 'cells with a full date format',
    kind: 'codes',
    file: book([
      ['Item No', 'Description', 'Price'],
      ['10-40-5', 'Angle 40x5', 21],
      [{ value: 45940, format: DATE }, 'Angle 10x25', 16.5],
      ['20-50-6', 'Angle 50x6', 33],
    ]),
    expect: { anyOf: [{ items: items('10-40-5 21', '20-50-6 33'), problems: [3] }, { asks: 'any' }] },
  },
  {
    name: 'text 1-Feb and Mar-05 in CSV',
    kind: 'codes',
    file: {
      csv: [
        'Code,Description,RRP',
        '10-12,Reducer 10-12,3.10',
        '1-Feb,Reducer 1-2,2.20',
        'Mar-05,Marine ply 5,66.00',
        '15-20,Reducer 15-20,4.40',
      ],
    },
    expect: { anyOf: [{ items: items('10-12 3.1', '15-20 4.4'), problems: [3, 4] }, { asks: 'any' }] },
  },
  {
    name: 'text 12/10/2026 and 2026-03-05 in CSV',
    kind: 'codes',
    file: {
      csv: [
        'Part No,Description,Price',
        '12/10/45,Tee 12x10x45,8.00',
        '12/10/2026,Tee 12x10x26,7.00',
        '2026-03-05 00:00:00,Tee 5x3x26,6.00',
        '20/15/30,Tee 20x15x30,9.00',
      ],
    },
    expect: { anyOf: [{ items: items('12/10/45 8', '20/15/30 9'), problems: [3, 4] }, { asks: 'any' }] },
  },
  {
    name: 'codes that became times',
    kind: 'codes',
    file: {
      csv: [
        'SKU,Product,RRP ex GST',
        'RT-1228,Ratio gear 12-28,120.00',
        '12:28,Ratio gear 12:28,118.00',
        '1:30:00 AM,Ratio gear 1:30,95.00',
        'RT-0130,Ratio gear 1-30,97.00',
      ],
    },
    expect: { anyOf: [{ items: items('RT-1228 120', 'RT-0130 97'), problems: [3, 4] }, { asks: 'any' }] },
  },
  {
    name: 'a time in a workbook',
    kind: 'codes',
    file: book([
      ['SKU', 'Product', 'RRP ex GST'],
      ['45:10', 'Grate 45 by 10', 64],
      [{ value: 0.5194444444444445, format: TIME }, 'Grate 12 by 28', 58],
      ['60:15', 'Grate 60 by 15', 83],
    ]),
    expect: { anyOf: [{ items: items('45:10 64', '60:15 83'), problems: [3] }, { asks: 'any' }] },
  },
  {
    name: 'leading zeros lost on some rows',
    kind: 'codes',
    file: {
      csv: [
        'Item Number,Description,Price',
        '00123,Valve 15mm,14.00',
        '456,Valve 20mm,18.00',
        '00789,Valve 25mm,26.00',
        '01012,Valve 32mm,39.00',
      ],
    },
    expect: { anyOf: [{ items: items('00123 14', '00789 26', '01012 39'), problems: [3] }, { asks: 'any' }] },
    why: '456 was 00456 before a spreadsheet made a number of it.',
  },
  {
    name: 'leading zeros lost where a cell is a number',
    kind: 'codes',
    file: book([
      ['Stock No.', 'Description', 'List Price'],
      ['0045', 'Bush 40x25', 2.1],
      ['0098', 'Bush 50x32', 2.9],
      [612, 'Bush 65x50', 4.8],
      ['1204', 'Bush 80x65', 7.7],
    ]),
    expect: { anyOf: [{ items: items('0045 2.1', '0098 2.9', '1204 7.7'), problems: [4] }, { asks: 'any' }] },
  },
  {
    name: 'scientific notation and 18 digits ending in zeros',
    kind: 'codes',
    file: {
      csv: [
        'Barcode,Description,RRP',
        '9312345678907,Paint 4L white,78.00',
        '9.31235E+12,Paint 4L grey,78.00',
        '193123456789012000,Paint 10L white,164.00',
        '9312345678914,Paint 4L black,78.00',
      ],
    },
    expect: {
      anyOf: [{ items: items('9312345678907 78', '9312345678914 78'), problems: [3, 4] }, { asks: 'any' }],
    },
    why: 'A spreadsheet keeps 15 digits and fills the rest of a longer number with zeros.',
  },
  {
    name: 'numbers beyond 15 digits in a workbook',
    kind: 'codes',
    file: book([
      ['GTIN', 'Description', 'RRP'],
      [9312345678907, 'Sealant 600ml', 15.4],
      [{ value: 1.93123456789012e17, format: '0' }, 'Sealant carton 600ml', 154],
      [9312345678921, 'Sealant 300ml', 9.8],
    ]),
    expect: {
      anyOf: [{ items: items('9312345678907 15.4', '9312345678921 9.8'), problems: [3] }, { asks: 'any' }],
    },
  },
  {
    name: 'codes as percent and as currency',
    kind: 'codes',
    file: book([
      ['Code', 'Description', 'Price'],
      ['SH-50', 'Shade cloth 50%', 6.2],
      [{ value: 0.7, format: '0%' }, 'Shade cloth 70%', 7.9],
      [{ value: 90, format: DOLLARS }, 'Shade cloth 90', 9.6],
      ['SH-80', 'Shade cloth 80%', 8.8],
    ]),
    expect: { anyOf: [{ items: items('SH-50 6.2', 'SH-80 8.8'), problems: [3, 4] }, { asks: 'any' }] },
  },
  {
    name: 'innocent codes that look like dates',
    kind: 'codes',
    file: {
      csv: [
        'Code,Description,RRP',
        '10-12,Reducer 10-12,3.10',
        'M8-30,Bolt M8x30,0.85',
        'FEB-100,Bracket 100,8.10',
        '3/4-BSP,Ball valve 3/4 BSP,22.00',
        'MARCH-A,Arch bar,31.00',
      ],
    },
    expect: { items: items('10-12 3.1', 'M8-30 0.85', 'FEB-100 8.1', '3/4-BSP 22', 'MARCH-A 31') },
  },
  {
    name: 'innocent codes in capitals: DEC-90, DEC-140',
    kind: 'codes',
    file: book([
      ['Item Code', 'Item Description', 'Unit', 'Price ex GST'],
      ['DEC-90', 'Merbau decking 90x19', 'LM', 8.2],
      ['DEC-140', 'Merbau decking 140x19', 'LM', 13.9],
      ['DEC-185', 'Merbau decking 185x25', 'LM', 19.4],
    ]),
    expect: { items: items('DEC-90 8.2 LM', 'DEC-140 13.9 LM', 'DEC-185 19.4 LM') },
    why: 'A spreadsheet would show Dec-90; the capitals and the neighbours show that nothing was changed.',
  },
  {
    name: 'innocent numeric codes: lengths differ, zeros by format',
    kind: 'codes',
    file: book([
      ['SKU', 'Description', 'RRP'],
      [{ value: 123, format: '00000' }, 'Trap 40mm', 11],
      [{ value: 10456, format: '00000' }, 'Trap 50mm', 12.5],
      [{ value: 789, format: '00000' }, 'Trap 32mm', 10.2],
    ]),
    expect: { items: items('00123 11', '10456 12.5', '00789 10.2') },
  },
]

const shifted: PriceFileCase[] = [
  {
    name: 'thousands separator without quotes, free Notes column',
    kind: 'shifted',
    file: {
      csv: [
        'Code,Description,Price,Notes',
        'BA-17,Bath 1700 freestanding,1,234.50',
        'BA-15,Bath 1500 inset,640.00,',
        'BA-16,Bath 1650 corner,985.00,',
      ],
    },
    expect: { anyOf: [{ items: items('BA-15 640', 'BA-16 985'), problems: [2] }, { asks: 'any' }] },
  },
  {
    name: 'thousands separator without quotes, every row',
    kind: 'shifted',
    file: {
      csv: [
        'Code,Description,RRP,Comment',
        'SP-1,Spa 4 seat,4,950.00',
        'SP-2,Spa 5 seat,6,200.00',
        'SP-3,Spa 7 seat,8,990.00',
      ],
    },
    expect: { anyOf: [{ items: [], problems: [2, 3, 4] }, { asks: 'any' }] },
  },
  {
    name: 'thousands separator without quotes, column without a heading',
    kind: 'shifted',
    file: {
      csv: [
        'SKU,Product,UOM,RRP ex GST,',
        'HW-250,Heat pump 250L,EA,2,899.00',
        'HW-050,Electric 50L,EA,612.00,',
        'HW-315,Heat pump 315L,EA,3,450.00',
      ],
    },
    expect: { anyOf: [{ items: items('HW-050 612'), problems: [2, 4] }, { asks: 'any' }] },
  },
  {
    name: 'thousands without cents, moved into Lead Time',
    kind: 'shifted',
    file: {
      csv: [
        'Code,Description,Price,Lead Time,Discontinued',
        'GD-1,Garage door single,$1,150,5 days',
        'GD-2,Garage door remote,$85,2 days,',
        'GD-3,Garage door double,$1,980,5 days',
      ],
    },
    expect: { anyOf: [{ items: items('GD-2 85'), problems: [2, 4] }, { asks: 'any' }] },
  },
  {
    name: 'decimal commas without quotes',
    kind: 'shifted',
    file: {
      csv: [
        'Code,Description,Price,Remark',
        'EU-1,Hinge 35mm,12,50',
        'EU-2,Runner 450mm,31,95',
        'EU-3,Handle 160mm,8,40',
      ],
    },
    expect: { anyOf: [{ items: [], problems: [2, 3, 4] }, { asks: 'any' }] },
  },
  {
    name: 'comma in a description, free column behind',
    kind: 'shifted',
    file: {
      csv: [
        'Code,Description,Price,Notes',
        'BO-1,Bolt, zinc,12.50',
        'BO-2,Bolt galvanised,14.00,',
        'BO-3,Screw, 8g,0.35,',
      ],
    },
    expect: { anyOf: [{ items: items('BO-2 14'), problems: [2, 4] }, { asks: 'any' }] },
    why: 'Line 4 has the text 8g in the place of the price.',
  },
  {
    name: 'innocent: Carton Qty behind small prices',
    kind: 'shifted',
    file: {
      csv: [
        'Code,Description,Price,Carton Qty',
        'NW-1,Nail washer,1,250',
        'NW-2,Nail plate,3,100',
        'NW-3,Joist hanger,4.20,50',
      ],
    },
    expect: { items: items('NW-1 1', 'NW-2 3', 'NW-3 4.2') },
  },
  {
    name: 'innocent: Weight behind prices, filled in every row',
    kind: 'shifted',
    file: {
      csv: [
        'Code,Description,RRP,Weight (kg)',
        'ST-1,Steel plate,2,150.50',
        'ST-2,Steel bar,18.75,3.200',
        'ST-3,Steel angle,24.10,12.000',
      ],
    },
    expect: { items: items('ST-1 2', 'ST-2 18.75', 'ST-3 24.1') },
  },
]

const structure: PriceFileCase[] = [
  {
    name: 'Subtotal, Total and Average rows',
    kind: 'structure',
    file: book([
      ['Code', 'Description', 'UOM', 'Unit Price'],
      ['TM-1', 'Merbau post', 'EA', 84],
      ['TM-2', 'Merbau rail', 'EA', 46],
      ['Subtotal', null, null, { value: 130, formula: 'SUM(D2:D3)' }],
      ['TM-3', 'Pine sleeper', 'EA', 29],
      ['Average', null, null, { value: 53, formula: 'AVERAGE(D2,D3,D5)' }],
      ['TOTAL', null, null, { value: 159, formula: 'D4+D5' }],
    ]),
    expect: { items: items('TM-1 84 EA', 'TM-2 46 EA', 'TM-3 29 EA'), noItems: [4, 6, 7] },
  },
  {
    name: 'pages: headings again, Carried forward, Page 1 of 2',
    kind: 'structure',
    file: {
      csv: [
        'Item,Description,Unit,Price',
        'C-01,Cement GP,BAG,8.60',
        'C-02,Cement off-white,BAG,12.10',
        'Carried forward,,,20.70',
        'Page 1 of 2,,,',
        'Item,Description,Unit,Price',
        'Brought forward,,,20.70',
        'C-03,Lime hydrated,BAG,14.90',
        'Page 2 of 2,,,',
      ],
    },
    expect: { items: items('C-01 8.6 BAG', 'C-02 12.1 BAG', 'C-03 14.9 BAG'), noItems: [4, 5, 6, 7, 9] },
  },
  {
    name: 'Total in the description, with a count as code',
    kind: 'structure',
    file: {
      csv: [
        'Code,Description,List Price',
        'F-1,Fence panel,62.00',
        'F-2,Fence post,31.00',
        'F-3,Post cap,3.50',
        '3,Total items,96.50',
      ],
    },
    expect: { anyOf: [{ items: items('F-1 62', 'F-2 31', 'F-3 3.5'), noItems: [5] }, { asks: 'any' }] },
  },
  {
    name: 'one merged code for three sizes',
    kind: 'structure',
    file: book(
      [
        ['Code', 'Size', 'Finish', 'RRP'],
        ['TR-500', '600mm', 'Chrome', 89],
        [null, '750mm', 'Chrome', 99],
        [null, '900mm', 'Chrome', 109],
        ['TR-510', 'Single', 'Black', 45],
      ],
      { merges: ['A2:A4'] },
    ),
    expect: { anyOf: [{ items: items('TR-510 45'), problems: [2, 3, 4] }, { asks: 'any' }] },
    why: 'The code is that of three items with three prices: 89 is not the price of TR-500.',
  },
  {
    name: 'section titles between items, in the column of codes',
    kind: 'structure',
    file: book([
      ['Product Code', 'Description', 'Sell Unit', 'RRP ex GST'],
      ['GUTTERING'],
      ['GU-115', 'Quad gutter 115', 'M', 12.8],
      ['GU-150', 'Half round 150', 'M', 15.1],
      ['DOWNPIPES & FITTINGS'],
      ['DP-90', 'Downpipe 90', 'M', 11.2],
    ]),
    expect: { items: items('GU-115 12.8 M', 'GU-150 15.1 M', 'DP-90 11.2 M'), noItems: [2, 5] },
  },
  {
    name: 'second table below with its columns in another order',
    kind: 'structure',
    file: {
      csv: [
        'Code,Description,RRP,Cost',
        'A-1,Lamp,20.00,12.00',
        'A-2,Globe,6.00,3.10',
        'Code,Description,Cost,RRP',
        'B-1,Fan,88.00,140.00',
        'B-2,Fan light,97.00,155.00',
      ],
    },
    expect: {
      anyOf: [
        { items: items('A-1 20', 'A-2 6'), problems: [5, 6], noItems: [4] },
        { items: items('A-1 20', 'A-2 6', 'B-1 140', 'B-2 155'), noItems: [4] },
        { asks: 'any' },
      ],
    },
  },
  {
    name: 'two tables side by side',
    kind: 'structure',
    file: book([
      ['Code', 'Description', 'Price', null, 'Code', 'Description', 'Price'],
      ['L-1', 'Left hand door', 210, null, 'R-1', 'Right hand door', 215],
      ['L-2', 'Left hand sidelight', 160, null, 'R-2', 'Right hand sidelight', 165],
    ]),
    expect: { anyOf: [{ asks: 'any' }, { items: items('L-1 210', 'L-2 160', 'R-1 215', 'R-2 165') }] },
  },
  {
    name: 'code only on the first row of each range',
    kind: 'structure',
    file: {
      csv: [
        'Range Code,Colour,Size,RRP',
        'VN-10,White,600,310.00',
        ',White,900,365.00',
        ',White,1200,420.00',
        'VN-20,Oak,600,345.00',
        ',Oak,900,399.00',
      ],
    },
    options: ['--map', 'code=1'],
    expect: {
      anyOf: [
        { asks: 'any' },
        { items: [], problems: [2, 3, 4, 5, 6] },
        { items: items('VN-10 310', 'VN-20 345'), problems: [3, 4, 6] },
      ],
    },
    why: 'A clerk would doubt the first rows too, but the code does stand there; the rows below must not come out.',
  },
]

const TABLE = [
  ['Code', 'Description', 'RRP'],
  ['X-1', 'Extractor fan', '89.00'],
  ['X-2', 'Ceiling fan', '149.50'],
]
const TABLE_CSV = TABLE.map((row) => `${row.join(',')}\r\n`).join('')
const TABLE_ITEMS: Outcome = { items: items('X-1 89', 'X-2 149.5') }

const formats: PriceFileCase[] = [
  {
    name: 'HTML table saved as .xls',
    kind: 'formats',
    file: { bytes: html(TABLE), fileName: 'pricelist.xls' },
    expect: { anyOf: [{ refused: /(?=.*(HTML|web page))(?=.*XLSX)/is }, TABLE_ITEMS] },
  },
  {
    name: 'XML Spreadsheet 2003 saved as .xls',
    kind: 'formats',
    file: { bytes: xmlSpreadsheet(TABLE), fileName: 'ItemPriceReport.xls' },
    expect: { anyOf: [{ refused: /(?=.*XML)(?=.*XLSX)/is }, TABLE_ITEMS] },
  },
  {
    name: 'OpenDocument spreadsheet',
    kind: 'formats',
    file: { bytes: ods(TABLE), fileName: 'prices.ods' },
    expect: { anyOf: [{ refused: /(?=.*(ODS|OpenDocument|LibreOffice))(?=.*XLSX)/is }, TABLE_ITEMS] },
  },
  {
    name: 'OpenDocument spreadsheet with the name .xlsx',
    kind: 'formats',
    file: { bytes: ods(TABLE), fileName: 'prices.xlsx' },
    expect: { anyOf: [{ refused: /(?=.*(ODS|OpenDocument|LibreOffice))(?=.*XLSX)/is }, TABLE_ITEMS] },
  },
  {
    name: 'Excel binary workbook',
    kind: 'formats',
    file: { bytes: xlsb(), fileName: 'Master Prices.xlsb' },
    expect: { refused: /(?=.*(XLSB|binary))(?=.*XLSX)/is },
  },
  {
    name: 'Apple Numbers',
    kind: 'formats',
    file: { bytes: numbers(), fileName: 'Prices.numbers' },
    expect: { refused: /(?=.*Numbers)(?=.*(XLSX|Excel))/s },
  },
  {
    name: 'workbook of Excel 97 to 2003',
    kind: 'formats',
    file: { bytes: legacyXls(), fileName: 'PRICES.XLS' },
    expect: { refused: /^(?!.*password)(?=.*(\.xls\b|97|2003|old))(?=.*XLSX)/is },
    why: 'There is no password; the reason should name the one thing that is wrong.',
  },
  {
    name: 'workbook with a password',
    kind: 'formats',
    file: { bytes: encryptedXlsx(), fileName: 'Confidential prices.xlsx' },
    expect: { refused: /^(?!.*\bold\b)(?=.*(password|encrypt))/is },
    why: 'Saving as XLSX does not help if nobody says that the password must go.',
  },
  {
    name: 'PDF with the name .csv',
    kind: 'formats',
    file: { bytes: pdf(), fileName: 'pricelist.csv' },
    expect: { refused: /(?=.*PDF)(?=.*XLSX)/s },
  },
  {
    name: 'zip with a CSV in it',
    kind: 'formats',
    file: { bytes: archive({ 'prices.csv': TABLE_CSV }), fileName: 'prices.zip' },
    expect: { refused: /zip/i },
  },
]

const filler = (count: number): Cell[][] =>
  Array.from({ length: count }, (_, i) => [
    `${i + 1}. Goods remain the property of the seller until paid in full.`,
  ])

const late: PriceFileCase[] = [
  {
    name: 'headings on row 45 of a workbook, chosen',
    kind: 'late',
    file: book([
      ['Terms and conditions'],
      ...filler(43),
      ['Code', 'Description', 'RRP ex GST'],
      ['TC-1', 'Tile cutter', 129],
      ['TC-2', 'Tile saw', 349],
    ]),
    options: ['--headings-row', '45'],
    expect: { items: items('TC-1 129', 'TC-2 349') },
  },
  {
    name: 'headings on row 52 of a CSV, chosen',
    kind: 'late',
    file: {
      csv: [
        'Terms of trade',
        ...Array.from({ length: 50 }, (_, i) => `"Clause ${i + 1}, as amended"`),
        'SKU,Product,UOM,RRP',
        'AX-1,Axe 1.8kg,EA,54.00',
        'AX-2,Splitter 3kg,EA,79.00',
      ],
    },
    options: ['--headings-row', '52'],
    expect: { items: items('AX-1 54', 'AX-2 79') },
  },
  {
    name: 'headings on row 45, not chosen',
    kind: 'late',
    file: book([
      ['Terms and conditions'],
      ...filler(43),
      ['Code', 'Description', 'RRP ex GST'],
      ['TC-1', 'Tile cutter', 129],
      ['TC-2', 'Tile saw', 349],
    ]),
    expect: { anyOf: [{ items: items('TC-1 129', 'TC-2 349') }, { asks: 'any' }] },
  },
]

const prices: PriceFileCase[] = [
  {
    name: 'prices that became dates, percent or text',
    kind: 'prices',
    file: book([
      ['Code', 'Description', 'RRP'],
      ['W-1', 'Wheelbarrow', 119],
      ['W-2', 'Wheel', { value: 45996, format: DAY_MONTH }],
      ['W-3', 'Tyre', { value: 0.35, format: '0%' }],
      ['W-4', 'Tube', 'POA'],
      ['W-5', 'Axle', '18.50'],
    ]),
    expect: { anyOf: [{ items: items('W-1 119', 'W-5 18.5'), problems: [3, 4, 5] }, { asks: 'any' }] },
  },
  {
    name: 'a price of less than a cent, shown as 0.00',
    kind: 'prices',
    file: book([
      ['Code', 'Description', 'Unit', 'RRP ex GST'],
      ['SP-1', 'Tile spacer 2mm', 'EA', { value: 0.0045, format: '0.00' }],
      ['SP-2', 'Tile trim 2.5m', 'EA', { value: 14.2, format: '0.00' }],
    ]),
    expect: {
      anyOf: [
        { items: items('SP-1 0.0045', 'SP-2 14.2') },
        { items: items('SP-2 14.2'), problems: [2] },
        { asks: 'any' },
      ],
    },
    why: 'Nobody gives spacers away: 0 is not the price.',
  },
  {
    name: 'ranges, stars, letters and odd groups of digits',
    kind: 'prices',
    file: {
      csv: [
        'Code;Description;RRP',
        'OD-1;Gate;12.50-18.00',
        'OD-2;Latch;from 99.00',
        'OD-3;Bolt;12.5O',
        'OD-4;Post;1,2345.00',
        'OD-5;Cap;1.234.50',
        'OD-6;Rail;44.00 / 52.00',
        'OD-7;Hinge;9.50',
      ],
    },
    expect: { items: items('OD-7 9.5'), problems: [2, 3, 4, 5, 6, 7] },
  },
  {
    name: 'minus behind the number, CR, another minus sign',
    kind: 'prices',
    file: {
      csv: [
        'Code,Description,RRP',
        'MN-1,Return,5.00-',
        'MN-2,Credit note,12.00 CR',
        'MN-3,Allowance,−8.00',
        'MN-4,Spade,42.00',
      ],
    },
    expect: { items: items('MN-4 42'), problems: [2, 3, 4] },
  },
  {
    name: 'old and new prices',
    kind: 'prices',
    file: {
      csv: ['Code,Description,Old Price,New Price', 'ON-1,Pelmet,31.00,33.50', 'ON-2,Architrave,12.00,12.90'],
    },
    expect: { anyOf: [{ asks: 'column' }, { items: items('ON-1 33.5', 'ON-2 12.9') }] },
  },
  {
    name: 'price now and price from 1 July',
    kind: 'prices',
    file: book([
      ['Code', 'Description', 'Price', 'Price from 1/7/2026'],
      ['PJ-1', 'Pit lid', 66, 70],
      ['PJ-2', 'Pit riser', 41, 43.5],
    ]),
    expect: { anyOf: [{ asks: 'column' }] },
  },
  {
    name: 'commas that could be decimal or thousands',
    kind: 'prices',
    file: { csv: ['Code;Description;Price', 'CD-1;Rope;1,250', 'CD-2;Chain;3,400'] },
    expect: { asks: 'decimal' },
  },
  {
    name: 'number format shows inc GST',
    kind: 'prices',
    file: book([
      ['Code', 'Description', 'Price'],
      ['IG-1', 'Inlet grate', { value: 55, format: '"$"0.00" inc GST"' }],
      ['IG-2', 'Outlet grate', { value: 66, format: '"$"0.00" inc GST"' }],
    ]),
    expect: { anyOf: [{ asks: 'any' }, { items: [], problems: [2, 3] }] },
  },
  {
    name: 'negative prices, prices in brackets, codes with two prices',
    kind: 'prices',
    file: {
      csv: [
        'Code,Description,RRP',
        'N-1,Rebate,-5.00',
        'N-2,Credit,(12.00)',
        'N-3,Shovel,39.00',
        'N-4,Rake,28.00',
        'N-4,Rake,31.00',
      ],
    },
    expect: { items: items('N-3 39'), problems: [2, 3, 5, 6] },
  },
]

const ordinary: PriceFileCase[] = [
  {
    name: 'Excel by hand: titles, headings on row 5, dollars',
    kind: 'ordinary',
    file: book([
      ['ACE DOORS & WINDOWS'],
      ['Retail price list 2026'],
      [],
      [],
      ['Product Code', 'Product Name', 'Size', 'RRP (ex GST)'],
      ['D-2040-820', 'Solid core door', '2040x820', { value: 189, format: DOLLARS }],
      ['D-2040-870', 'Solid core door', '2040x870', { value: 1204.5, format: DOLLARS }],
    ]),
    expect: {
      items: [
        { code: 'D-2040-820', price: '189', name: 'Solid core door' },
        { code: 'D-2040-870', price: '1204.50', name: 'Solid core door' },
      ],
    },
  },
  {
    name: 'Xero inventory items',
    kind: 'ordinary',
    file: {
      csv: [
        '*ItemCode,ItemName,PurchasesDescription,PurchasesUnitPrice,PurchasesAccount,PurchasesTaxRate,SalesDescription,SalesUnitPrice,SalesAccount,SalesTaxRate',
        'BRM-01,Yard broom,Yard broom 600mm,14.20,310,GST on Expenses,Yard broom 600mm,28.00,200,GST on Income',
        'BRM-02,House broom,House broom,6.10,310,GST on Expenses,House broom,12.50,200,GST on Income',
      ],
      encoding: 'utf8-bom',
    },
    expect: { items: items('BRM-01 28', 'BRM-02 12.5') },
    why: 'The sales price is the only price that is not for purchases.',
  },
  {
    name: 'SAP list, semicolons, decimal commas',
    kind: 'ordinary',
    file: {
      csv: [
        'Material;Material Description;Base Unit;List Price;Currency',
        '000000000010001001;Rail 60x30;M;1.234,50;AUD',
        '000000000010001002;Bracket;EA;12,75;AUD',
      ],
    },
    expect: { items: items('000000000010001001 1234.5 M', '000000000010001002 12.75 EA') },
  },
  {
    name: 'Pronto report, pipes',
    kind: 'ordinary',
    file: {
      csv: [
        'STOCK CODE|DESCRIPTION|UOM|RRP EX GST|STATUS',
        'TB9045F17|LVL 90X45 F17|LM|14.3500|A',
        'TB1404F17|LVL 140X45 F17|LM|22.1075|A',
      ],
      newline: '\n',
    },
    expect: { items: items('TB9045F17 14.35 LM', 'TB1404F17 22.1075 LM') },
  },
  {
    name: 'Business Central item list',
    kind: 'ordinary',
    file: book([
      ['No.', 'Description', 'Base Unit of Measure', 'Unit Cost', 'Unit Price', 'Last Date Modified'],
      ['1896-S', 'Brace block', 'PCS', 4.3, 9.95, { value: 46100, format: DATE }],
      ['1900-S', 'Strap brace 30m', 'ROLL', 31, 62.4, { value: 46103, format: DATE }],
    ]),
    expect: { items: items('1896-S 9.95 PCS', '1900-S 62.4 ROLL') },
  },
  {
    name: 'NetSuite saved search',
    kind: 'ordinary',
    file: {
      csv: [
        'Internal ID,Item Code,Display Name,Sale Unit,List Price,Average Cost,Inactive',
        '10412,NS-VAL-15,Ball valve 15mm,Each,24.15,9.88,No',
        '10413,NS-VAL-20,Ball valve 20mm,Each,31.60,12.40,No',
      ],
    },
    expect: { items: items('NS-VAL-15 24.15', 'NS-VAL-20 31.6') },
  },
  {
    name: 'UTF-8 with BOM, quotes, line breaks in a description',
    kind: 'ordinary',
    file: {
      csv: '\ufeff"SKU","Name","Description","RRP ex GST"\r\n"Q-1","1/2"" elbow","Brass, 15mm\r\nfemale","1,234.50"\r\n"Q-2","Tee ""equal""","Brass","8.40"\r\n',
    },
    expect: {
      items: [
        { code: 'Q-1', price: '1234.5', name: '1/2" elbow' },
        { code: 'Q-2', price: '8.4', name: 'Tee "equal"' },
      ],
    },
  },
  {
    name: 'Unicode text of Excel: UTF-16LE with tabs',
    kind: 'ordinary',
    file: {
      csv: ['Code\tName\tUnit\tPrice', 'Ø50-1\tPipe Ø50 × 3m\tEA\t18.20', 'Ø65-1\tPipe Ø65 × 3m\tEA\t24.90'],
      encoding: 'utf16le',
      fileName: 'prices.txt',
    },
    expect: { items: items('Ø50-1 18.2 EA', 'Ø65-1 24.9 EA') },
  },
  {
    name: 'UTF-16BE with commas',
    kind: 'ordinary',
    file: {
      csv: ['Code,Name,Price', 'BE-1,Décor panel,66.00', 'BE-2,Décor trim,12.10'],
      encoding: 'utf16be',
    },
    expect: {
      items: [
        { code: 'BE-1', price: '66', name: 'Décor panel' },
        { code: 'BE-2', price: '12.1', name: 'Décor trim' },
      ],
    },
  },
  {
    name: 'Windows-1252 with ½, –, ™ and ²',
    kind: 'ordinary',
    file: {
      csv: [
        'Part No.,Product Name,Unit,List Price',
        'W-12,½" nipple – brass,EA,6.15',
        'W-13,Sealer™ 4L covers 20m²,EA,88.00',
        'W-14,Membrane “Pro”,m²,14.60',
      ],
      encoding: 'windows-1252',
    },
    expect: {
      items: [
        { code: 'W-12', price: '6.15', name: '½" nipple – brass' },
        { code: 'W-13', price: '88', name: 'Sealer™ 4L covers 20m²' },
        { code: 'W-14', price: '14.6', unit: 'm²', name: 'Membrane “Pro”' },
      ],
    },
  },
  {
    name: 'spaces as thousands separators',
    kind: 'ordinary',
    file: {
      csv: ['Code;Description;RRP', 'NB-1;Cooktop;1 234.50', 'NB-2;Oven;2\u00a0899.00', 'NB-3;Tray;45.00'],
    },
    expect: { items: items('NB-1 1234.5', 'NB-2 2899', 'NB-3 45') },
  },
  {
    name: 'prices with four decimals',
    kind: 'ordinary',
    file: book([
      ['Item Code', 'Item Description', 'UOM', 'Unit Sell ex GST'],
      ['CB-1.5', 'Cable 1.5mm2', 'M', 0.8725],
      ['CB-2.5', 'Cable 2.5mm2', 'M', 1.1349],
    ]),
    expect: { items: items('CB-1.5 0.8725 M', 'CB-2.5 1.1349 M') },
  },
  {
    name: 'blank rows and columns, table from C4',
    kind: 'ordinary',
    file: book(
      [
        ['Code', 'Description', null, 'Price'],
        [],
        ['BL-1', 'Bollard', null, 240],
        [],
        [],
        ['BL-2', 'Bollard sleeve', null, 95],
      ],
      { left: 2, top: 4 },
    ),
    expect: { items: items('BL-1 240', 'BL-2 95') },
  },
  {
    name: 'hidden first sheet with costs',
    kind: 'ordinary',
    file: {
      sheets: [
        {
          name: 'Costs',
          hidden: true,
          rows: [
            ['Code', 'Cost'],
            ['H-1', 3],
            ['H-2', 4],
          ],
        },
        {
          name: 'Price List',
          rows: [
            ['Code', 'Description', 'RRP'],
            ['H-1', 'Hook', 6.5],
            ['H-2', 'Eye', 7.2],
          ],
        },
      ],
    },
    expect: { items: items('H-1 6.5', 'H-2 7.2') },
  },
  {
    name: 'cover sheet of one row, then the prices',
    kind: 'ordinary',
    file: {
      sheets: [
        { name: 'Cover', rows: [['Riverland Paving 2026']] },
        {
          name: 'Pavers',
          rows: [
            ['Item Code', 'Description', 'UOM', 'Price'],
            ['PV-400', 'Paver 400x400', 'EA', 8.9],
            ['PV-600', 'Paver 600x600', 'EA', 21.4],
          ],
        },
      ],
    },
    expect: { items: items('PV-400 8.9 EA', 'PV-600 21.4 EA') },
  },
  {
    name: 'sheet chosen by name',
    kind: 'ordinary',
    file: {
      sheets: [
        {
          name: 'VIC',
          rows: [
            ['Code', 'Description', 'RRP'],
            ['S-1', 'Soil', 60],
            ['S-2', 'Mulch', 55],
          ],
        },
        {
          name: 'NSW',
          rows: [
            ['Code', 'Description', 'RRP'],
            ['S-1', 'Soil', 64],
            ['S-2', 'Mulch', 58],
          ],
        },
      ],
    },
    options: ['--sheet', 'NSW'],
    expect: { items: items('S-1 64', 'S-2 58') },
  },
  {
    name: 'formulas with computed values, float noise',
    kind: 'ordinary',
    file: book([
      ['Code', 'Description', 'List', 'RRP'],
      ['FX-1', 'Fixing kit', 842.4, { value: 926.6400000000001, formula: 'C2*1.1' }],
      ['FX-2', 'Fixing plate', 10.1, { value: 11.110000000000001, formula: 'C3*1.1' }],
    ]),
    options: ['--map', 'price=RRP'],
    expect: { items: items('FX-1 926.64', 'FX-2 11.11') },
  },
  {
    name: 'rich text and inline strings, codes by formula',
    kind: 'ordinary',
    file: book([
      [
        { value: 'Stock Code', as: 'runs' },
        { value: 'Description', as: 'inline' },
        { value: 'RRP', as: 'inline' },
      ],
      [{ value: 'RT-0451', as: 'runs' }, { value: 'Roof tile terracotta', as: 'runs' }, 4.75],
      [
        { value: 'RT-0452', formula: '"RT-"&"0452"' },
        { value: 'Ridge tile & cap <new>', as: 'inline' },
        { value: 9.6, formula: '4.8*2' },
      ],
    ]),
    expect: { items: items('RT-0451 4.75', 'RT-0452 9.6') },
  },
  {
    name: 'numeric codes and 13-digit barcodes in a workbook',
    kind: 'ordinary',
    file: book([
      ['Item No.', 'EAN', 'Product', 'Unit', 'RRP'],
      [100234, 9312345678907, 'Masking tape 24mm', 'EA', 4.2],
      [100235, 9312345678914, 'Masking tape 48mm', 'EA', 7.9],
    ]),
    expect: { items: items('100234 4.2 EA', '100235 7.9 EA') },
  },
  {
    name: 'RRP ex GST beside RRP inc GST',
    kind: 'ordinary',
    file: book([
      ['Code', 'Description', 'RRP ex GST', 'RRP inc GST'],
      ['EX-1', 'Exhaust fan', 100, 110],
      ['EX-2', 'Range hood', 420, 462],
    ]),
    expect: { anyOf: [{ items: items('EX-1 100', 'EX-2 420') }, { asks: 'column' }] },
  },
  {
    name: 'cost, trade and RRP, all ex GST',
    kind: 'ordinary',
    file: {
      csv: [
        'Code,Description,Cost ex GST,Trade ex GST,RRP ex GST,Margin',
        'CT-1,Vanity 750,210.00,289.00,389.00,46%',
        'CT-2,Vanity 900,260.00,349.00,469.00,45%',
      ],
    },
    expect: { items: items('CT-1 389', 'CT-2 469') },
  },
  {
    name: 'effective dates and stock beside the price',
    kind: 'ordinary',
    file: {
      csv: [
        'Effective Date,SKU,Description,Qty On Hand,Price,Last Updated',
        '01/07/2026,DT-1,Ladder 1.8m,12,149.00,3-Mar-26',
        '01/07/2026,DT-2,Ladder 2.4m,0,199.00,14-Feb-26',
      ],
    },
    expect: { items: items('DT-1 149', 'DT-2 199') },
  },
  {
    name: 'dollar signs, A$, AUD and spaces around them',
    kind: 'ordinary',
    file: {
      csv: [
        'Code,Description,RRP',
        'DS-1,Drill,"$1,299.00"',
        'DS-2,Bit set, $ 45.90 ',
        'DS-3,Case,A$89.00',
        'DS-4,Charger,AUD 120.00',
      ],
    },
    expect: { items: items('DS-1 1299', 'DS-2 45.9', 'DS-3 89', 'DS-4 120') },
  },
  {
    name: 'accounting formats',
    kind: 'ordinary',
    file: book([
      ['Code', 'Description', 'Price'],
      [
        'AC-1',
        'Tank 2000L',
        { value: 1180, format: '_-"$"* #,##0.00_-;\\-"$"* #,##0.00_-;_-"$"* "-"??_-;_-@_-' },
      ],
      [
        'AC-2',
        'Tank 5000L',
        { value: 2049.5, format: '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)' },
      ],
      ['AC-3', 'Tank stand', { value: 310, format: 44 }],
    ]),
    expect: { items: items('AC-1 1180', 'AC-2 2049.5', 'AC-3 310') },
  },
  {
    name: 'separator hint of Excel in the first line',
    kind: 'ordinary',
    file: { csv: ['sep=;', 'Code;Description;RRP', 'SE-1;Sealant, clear;9.90', 'SE-2;Sealant, white;9.50'] },
    expect: { items: items('SE-1 9.9', 'SE-2 9.5') },
  },
  {
    name: 'trailing empty columns and rows of commas',
    kind: 'ordinary',
    file: {
      csv: ['Code,Description,RRP,,,', 'TE-1,Tent peg,1.20,,,', 'TE-2,Tarp 3x4,34.00,,,', ',,,,,', ',,,,,'],
    },
    expect: { items: items('TE-1 1.2', 'TE-2 34') },
  },
  {
    name: 'category, brand and many other columns, price first',
    kind: 'ordinary',
    file: book([
      ['RRP ex GST', 'Brand', 'Category', 'Part Number', 'Description', 'Weight', 'Colour', 'Barcode', 'UOM'],
      [18.4, 'Acme', 'Electrical', 'GPO-2', 'Double GPO', 0.12, 'White', '9312345000011', 'EA'],
      [31.2, 'Acme', 'Electrical', 'GPO-4', 'Quad GPO', 0.22, 'White', '9312345000028', 'EA'],
    ]),
    expect: { items: items('GPO-2 18.4 EA', 'GPO-4 31.2 EA') },
  },
  {
    name: 'headings with line breaks',
    kind: 'ordinary',
    file: book([
      ['Product\nCode', 'Product\nDescription', 'Unit of\nMeasure', 'RRP\n(ex GST)'],
      ['LB-1', 'Lintel 1200', 'EA', 48],
      ['LB-2', 'Lintel 1800', 'EA', 71],
    ]),
    expect: { items: items('LB-1 48 EA', 'LB-2 71 EA') },
  },
  {
    name: 'names that begin with +, - and =',
    kind: 'ordinary',
    file: {
      csv: [
        'Code,Name,RRP',
        'PL-1,+ Size hinge kit,12.00',
        'PL-2,-10mm packer,0.60',
        'PL-3,=Equal tee 20mm,3.30',
      ],
    },
    expect: {
      items: [
        { code: 'PL-1', price: '12', name: '+ Size hinge kit' },
        { code: 'PL-2', price: '0.6', name: '-10mm packer' },
        { code: 'PL-3', price: '3.3', name: '=Equal tee 20mm' },
      ],
    },
  },
  {
    name: 'inches without quotes around the field',
    kind: 'ordinary',
    file: {
      csv: [
        'Code,Description,UOM,RRP',
        'IN-12,1/2" BSP elbow,EA,3.50',
        'IN-34,3/4" BSP elbow,EA,4.90',
        'IN-10,1" BSP elbow 90 deg,EA,6.20',
      ],
    },
    expect: { items: items('IN-12 3.5 EA', 'IN-34 4.9 EA', 'IN-10 6.2 EA') },
  },
  {
    name: 'a column chosen by heading: Our list price',
    kind: 'ordinary',
    file: {
      csv: [
        'Our part,Their part,Description,Our list price',
        '7001,ZX-1,Auger bit 10,18.00',
        '7002,ZX-2,Auger bit 12,21.00',
      ],
    },
    options: ['--map', 'price=Our list price', '--map', 'code=Our part'],
    expect: { items: items('7001 18', '7002 21') },
  },
  {
    name: 'no headings, columns by number',
    kind: 'ordinary',
    file: { csv: ['NH-1,Chisel 12mm,EA,14.50', 'NH-2,Chisel 25mm,EA,19.90'] },
    options: ['--no-headings', '--map', 'code=1', '--map', 'name=2', '--map', 'unit=3', '--map', 'price=4'],
    expect: {
      items: [
        { code: 'NH-1', price: '14.5', unit: 'EA', name: 'Chisel 12mm' },
        { code: 'NH-2', price: '19.9', unit: 'EA', name: 'Chisel 25mm' },
      ],
    },
  },
  {
    name: 'thousands in quotes beside prices with cents',
    kind: 'ordinary',
    file: {
      csv: ['Code,Description,Price', 'TQ-1,Compressor,"12,345"', 'TQ-2,Hose,"99.50"', 'TQ-3,Gun,"1,045.00"'],
    },
    expect: { items: items('TQ-1 12345', 'TQ-2 99.5', 'TQ-3 1045') },
  },
  {
    name: 'decimal comma chosen',
    kind: 'ordinary',
    file: { csv: ['Code;Description;Price', 'DC-1;Rope per metre;1,250', 'DC-2;Chain per metre;3,400'] },
    options: ['--decimal', 'comma'],
    expect: { items: items('DC-1 1.25', 'DC-2 3.4') },
  },
  {
    name: 'equal rows repeated, units with slashes and dots',
    kind: 'ordinary',
    file: {
      csv: [
        'Code,Description,Unit,RRP',
        'RP-1,Topsoil,m³,62.00',
        'RP-2,Road base,t.,38.00',
        'RP-1,Topsoil,m³,62.00',
        'RP-3,Geotextile,m2,3.10',
      ],
    },
    expect: { items: items('RP-1 62 m³', 'RP-2 38 t.', 'RP-3 3.1 m2') },
  },
  {
    name: 'numbers stored as text among numbers',
    kind: 'ordinary',
    file: book([
      ['Code', 'Description', 'Price'],
      ['00451', 'Hasp 75mm', '6.40'],
      ['00452', 'Hasp 100mm', 8.2],
      ['10453', 'Padlock', '$ 31.00'],
    ]),
    expect: { items: items('00451 6.4', '00452 8.2', '10453 31') },
  },
  {
    name: 'heading Order Code',
    kind: 'ordinary',
    file: {
      csv: ['Order Code,Description,Pack,Sell Price', 'OC-1,Dust mask P2,EA,3.30', 'OC-2,Ear muffs,EA,22.00'],
    },
    expect: { items: items('OC-1 3.3', 'OC-2 22') },
  },
  {
    name: 'hidden columns and merged titles',
    kind: 'ordinary',
    file: book(
      [
        ['COASTAL CLADDING - PRICE LIST', null, null, null],
        [null, null, null, null],
        ['Code', 'Description', 'Internal Ref', 'Price ex GST'],
        ['CC-1', 'Cladding 180', 'Z91', 33.3],
        ['CC-2', 'Cladding 300', 'Z92', 51.15],
      ],
      { merges: ['A1:D1'], hiddenColumns: [2] },
    ),
    expect: { items: items('CC-1 33.3', 'CC-2 51.15') },
  },
  {
    name: 'CSV of a web shop with ids, handles and a sale price',
    kind: 'ordinary',
    file: {
      csv: [
        'Handle,Title,Vendor,Variant SKU,Variant Grams,Variant Price,Status',
        'claw-hammer,Claw hammer,Acme,CH-20,800,39.95,active',
        'ball-hammer,Ball pein hammer,Acme,BH-16,650,34.95,active',
      ],
    },
    expect: { anyOf: [{ items: items('CH-20 39.95', 'BH-16 34.95') }, { asks: 'column' }] },
  },
  {
    name: 'dots in codes, decimals shown by the format',
    kind: 'ordinary',
    file: book([
      ['Code', 'Description', 'Price'],
      [{ value: 12.1, format: '0.00' }, 'Section 12.10', { value: 15.5, format: '#,##0.00' }],
      [{ value: 12.25, format: '0.00' }, 'Section 12.25', { value: 1016.25, format: '#,##0.00' }],
    ]),
    expect: { items: items('12.10 15.5', '12.25 1016.25') },
  },
  {
    name: 'MYOB AccountRight, all columns tabs, codes with spaces',
    kind: 'ordinary',
    file: {
      csv: [
        'Item Number\tItem Name\tDescription\tSelling Price\tSell Unit Measure\tStandard Cost\tSupplier Item Number',
        'AB 100\tAnchor bolt\tAnchor bolt M12\t$4.40\tEA\t$1.90\tSUP-77',
        'AB 120\tAnchor bolt long\tAnchor bolt M12 long\t$5.25\tEA\t$2.30\tSUP-78',
      ],
      fileName: 'items.txt',
    },
    expect: {
      items: [
        { code: 'AB 100', price: '4.40', name: 'Anchor bolt' },
        { code: 'AB 120', price: '5.25', name: 'Anchor bolt long' },
      ],
    },
  },
]

export const cases: PriceFileCase[] = [
  ...gst,
  ...notes,
  ...units,
  ...currency,
  ...codes,
  ...shifted,
  ...structure,
  ...formats,
  ...late,
  ...prices,
  ...ordinary,
  {
    name: 'barcodes of several lengths, some of which begin with 0',
    kind: 'ordinary',
    file: {
      csv: [
        'Barcode,Name,RRP',
        '0312345678901,Tap,12',
        '9312345678907,Sink,99.00',
        '93123457,Plug,2',
        '712345678904,Trap,8',
      ],
    },
    expect: { items: items('0312345678901 12', '9312345678907 99', '93123457 2', '712345678904 8') },
  },
  {
    name: 'whole prices beside categories of three digits',
    kind: 'ordinary',
    file: { csv: ['SKU,RRP,Category', 'K-1,12,340', 'K-2,99,340', 'K-3,8,120'] },
    expect: { items: items('K-1 12', 'K-2 99', 'K-3 8') },
  },
]
