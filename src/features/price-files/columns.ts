/** The fields of an item that a column can be mapped to. */
export const FIELDS = ['code', 'name', 'description', 'unit', 'category', 'price'] as const
export type Field = (typeof FIELDS)[number]
/** Fields that every item must have. */
export const REQUIRED: readonly Field[] = ['code', 'price']

/** Maps each field to a zero-based column index. */
export type Columns = Partial<Record<Field, number>>

export interface ColumnGuess {
  columns: Columns
  /** User-facing problems with the headings; empty if every required field has exactly one column. */
  mappingErrors: string[]
}

/** Common headings for each field, best first; compared ignoring case, spaces and punctuation. */
const HEADINGS: Record<Field, string[]> = {
  code: [
    'code',
    'itemcode',
    'productcode',
    'sku',
    'itemid',
    'itemnumber',
    'itemno',
    'productid',
    'stockcode',
    'partnumber',
    'partno',
    'articlenumber',
    'article',
    'materialcode',
    'suppliercode',
    'id',
    'item',
  ],
  name: ['name', 'itemname', 'productname', 'title', 'product', 'shortdescription', 'itemdescription'],
  description: ['description', 'productdescription', 'longdescription', 'desc', 'details'],
  unit: ['unit', 'uom', 'unitofmeasure', 'units', 'measure', 'sellunit', 'per'],
  category: ['category', 'group', 'productgroup', 'range', 'department', 'class', 'type'],
  price: [
    'price',
    'unitprice',
    'rrp',
    'rrpexgst',
    'rrpextax',
    'recommendedretailprice',
    'retailprice',
    'listprice',
    'priceexgst',
    'priceextax',
    'sellprice',
    'salesprice',
    'cost',
    'amount',
    'rate',
  ],
}

const normalize = (heading: string) => heading.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** Guesses each field's column from the headings. If a heading occurs more than once, the user must choose. */
export function guessColumns(headings: readonly string[]): ColumnGuess {
  const names = headings.map(normalize)
  const columns: Columns = {}
  const mappingErrors: string[] = []
  const used = new Set<number>()
  for (const field of FIELDS) {
    const heading = HEADINGS[field].find((candidate) =>
      names.some((name, index) => name === candidate && !used.has(index)),
    )
    if (heading === undefined) continue
    const matches = names.flatMap((name, index) => (name === heading ? [index] : []))
    const [first = 0, ...others] = matches
    for (const match of matches) used.add(match)
    if (others.length === 0) columns[field] = first
    else {
      const where = matches.map((match) => match + 1).join(' and ')
      mappingErrors.push(
        `The heading "${headings[first]}" occurs more than once (columns ${where}): choose which one is the ${field}.`,
      )
    }
  }
  for (const field of REQUIRED) {
    if (columns[field] === undefined && !mappingErrors.some((error) => error.endsWith(`the ${field}.`)))
      mappingErrors.push(`No column was recognised as the ${field}: choose one.`)
  }
  return { columns, mappingErrors }
}
