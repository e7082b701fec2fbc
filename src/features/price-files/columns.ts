/** The fields of an item that a column can be mapped to. */
export const FIELDS = ['code', 'name', 'description', 'unit', 'category', 'price'] as const
export type Field = (typeof FIELDS)[number]
/** What an item cannot be without. */
export const REQUIRED: readonly Field[] = ['code', 'price']

/** Which column, counted from 0, holds which field. */
export type Columns = Partial<Record<Field, number>>

export interface Guess {
  columns: Columns
  /** What is wrong with the headings, in words for the user; empty when every field found its one column. */
  mappingErrors: string[]
}

/** Headings that people give their columns, best first; compared without case, spaces and signs. */
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

const plain = (heading: string) => heading.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** Finds each field's column by its heading. A heading that occurs twice is left for the user to choose. */
export function guessColumns(headings: readonly string[]): Guess {
  const known = headings.map(plain)
  const columns: Columns = {}
  const mappingErrors: string[] = []
  const taken = new Set<number>()
  for (const field of FIELDS) {
    const heading = HEADINGS[field].find((candidate) =>
      known.some((name, at) => name === candidate && !taken.has(at)),
    )
    if (heading === undefined) continue
    const places = known.flatMap((name, at) => (name === heading ? [at] : []))
    const [first = 0, ...others] = places
    for (const place of places) taken.add(place)
    if (others.length === 0) columns[field] = first
    else {
      const where = places.map((place) => place + 1).join(' and ')
      mappingErrors.push(
        `The heading "${headings[first]}" is there twice (columns ${where}): choose which is the ${field}.`,
      )
    }
  }
  for (const field of REQUIRED) {
    if (columns[field] === undefined && !mappingErrors.some((error) => error.endsWith(`the ${field}.`)))
      mappingErrors.push(`No column looks like the ${field}: choose it.`)
  }
  return { columns, mappingErrors }
}
