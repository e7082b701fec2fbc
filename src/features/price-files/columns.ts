import { createPriceReader } from '../../tables/prices.ts'

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

/** Headings of each field but the price, best first; compared ignoring case, spaces and punctuation. */
const HEADINGS: Record<Exclude<Field, 'price'>, string> = {
  code: `code itemcode productcode sku skucode skuno skunumber itemid itemnumber itemno itemnum productid productno
    productnumber stockcode stockno stocknumber stockid stockitem partnumber partno partnum partcode articlenumber
    articleno article materialcode materialno suppliercode suppliersku supplieritemcode vendorcode catno catalogueno
    catalogno cataloguenumber catalognumber cataloguecode mpn manufacturerpartnumber mfrpartno mfgpartno modelno
    modelnumber modelcode model barcode ean ean13 gtin upc apn plu id ref reference itemref productref item product`,
  name: `name itemname productname title producttitle product itemdescription shortdescription shortdesc description1
    item model`,
  description: `description productdescription itemdesc productdesc longdescription longdesc fulldescription desc details
    description2 extendeddescription specification`,
  unit: `unit uom unitofmeasure unitmeasure units measure sellunit sellinguom selluom salesunit salesuom priceunit
    priceuom per um uoi unitofissue packunit stockunit`,
  category: `category categoryname group productgroup itemgroup range productrange department dept class type family
    productfamily producttype section productcategory itemcategory`,
}
const HEADINGS_OF = Object.fromEntries(
  Object.entries(HEADINGS).map(([field, names]) => [field, names.split(/\s+/)]),
) as Record<keyof typeof HEADINGS, string[]>

const normalize = (heading: string) => heading.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** A heading in lower case, its words separated by single spaces: `Unit Price (ex-GST)` is `unit price ex gst`. */
const wordsOf = (heading: string) =>
  heading
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}+]+/gu, ' ')
    .trim()

/** Words that say nothing about which price it is. */
const QUALIFIERS =
  /\b(aud|nzd|au|nz|aus|a|dollars?|(in|ex|exc|excl|excluding|exclusive|exclusive of|excludes|inc|incl|including|inclusive|inclusive of|includes|with|without|no|plus|less|before|after|of|\+)? ?(gst|tax|vat)( (in|ex|exc|excl|excluded|exclusive|inc|incl|included|inclusive))?|each|ea|per|unit|item|recommended|suggested|standard|normal|20\d\d)\b|\+/g
/** What is left of the heading of a price that the supplier recommends or sells at. */
const PRICE =
  /^((sell|selling|sales?|retail|list|catalogue|rr|public)? ?price|rrp|rrp price|srp|msrp|rsp|sell|retail|list)$/
/** Prices that are not for the customer, and columns about a price. */
const OTHER_PRICE =
  /\b(cost|buy|buying|purchase|trade|wholesale|dealer|distributor|reseller|net|nett|staff|member|amount|total|subtotal|rate|ext|extended|line|disc|discount|margin|markup|gp|code|group|date|effective|valid|from|until|type|level|uom|um|qty|quantity|currency|book|status|category|note|notes|change|increase|file|name|history|old|previous|last|prior|was)\b|\bprice (unit|per|list)$|\b(sell|sales?|selling|retail) (unit|item)$/

/** Whether a heading names a price that customers may pay, even if it is not known which. */
const mayBePrice = (heading: string) => {
  const words = wordsOf(heading)
  return (/price|\brrp\b|\bsrp\b|\bmsrp\b/.test(words) || isPrice(heading)) && !OTHER_PRICE.test(words)
}

/** Whether a heading names the price of one unit. */
function isPrice(heading: string): boolean {
  const words = wordsOf(heading)
    .replace(/(\w)(price|rrp)/g, '$1 $2')
    .replace(/(price|rrp)(ex|inc)/g, '$1 $2')
    .replace(/\b(ex|exc|excl|inc|incl)(gst|tax)/g, '$1 $2')
  return PRICE.test(words.replace(QUALIFIERS, ' ').replace(/\s+/g, ' ').trim())
}

const INCLUDED = '(inc|incl|include|including|inclusive|includes|included)'
const TAX = '(gst|tax|vat)'

/** Whether a text says that prices include tax. */
export function saysTaxIncluded(text: string): boolean {
  const words = wordsOf(text).replace(/\b(inc|incl)(gst|tax)/g, '$1 $2')
  return (
    new RegExp(`\\b${INCLUDED}( of)?( any| all| the| 10)? ${TAX}\\b|\\b${TAX} (is )?${INCLUDED}\\b`).test(
      words,
    ) && !/\b(not|don t|do not|does not) (include|including|inclusive)/.test(words)
  )
}

/** How many fields a row of headings names. */
export function countFields(cells: readonly string[]): number {
  const names = cells.map(normalize)
  const texts = Object.values(HEADINGS_OF).filter((known) => names.some((name) => known.includes(name)))
  return texts.length + (cells.some(mayBePrice) ? 1 : 0)
}

/**
 * Guesses each field's column from the headings. A price is chosen only if it is the only candidate, never a cost or an
 * amount. `rows`: some rows of the file; a column without a number is not a price.
 */
export function guessColumns(headings: readonly string[], rows: readonly string[][] = []): ColumnGuess {
  const columns: Columns = {}
  const mappingErrors: string[] = []
  const used = new Set<number>()
  const prices = priceCandidates(headings, rows)
  for (const price of prices) used.add(price)
  const names = headings.map(normalize)
  for (const field of ['code', 'description', 'name', 'unit', 'category'] as const) {
    const heading = HEADINGS_OF[field].find((known) =>
      names.some((name, index) => name === known && !used.has(index)),
    )
    if (heading === undefined) continue
    const matches = names.flatMap((name, index) => (name === heading && !used.has(index) ? [index] : []))
    for (const match of matches) used.add(match)
    const [first = 0, ...others] = matches
    if (others.length === 0) columns[field] = first
    else mappingErrors.push(severalColumns(field, matches, headings))
  }
  const [price, ...others] = prices
  if (price === undefined) mappingErrors.push('No column was recognised as the price: choose one.')
  else if (others.length === 0 && isPrice(headings[price] ?? '')) columns.price = price
  else mappingErrors.push(severalColumns('price', prices, headings))
  if (columns.code === undefined && !mappingErrors.some((error) => error.endsWith('is the code.')))
    mappingErrors.unshift('No column was recognised as the code: choose one.')
  return { columns, mappingErrors }
}

function priceCandidates(headings: readonly string[], rows: readonly string[][]): number[] {
  return headings.flatMap((heading, index) => {
    const cells = rows.map((row) => (row[index] ?? '').trim()).filter((cell) => cell !== '')
    return mayBePrice(heading) && (cells.length === 0 || cells.some(isNumber)) ? [index] : []
  })
}

/** Whether a cell looks like a price. */
export function isNumber(cell: string): boolean {
  const { read, found } = createPriceReader()
  return typeof read(cell.trim()) === 'number' || found.ambiguous > 0
}

function severalColumns(field: Field, matches: readonly number[], headings: readonly string[]): string {
  const names = matches.map((match) => headings[match] ?? '')
  const [first = '', ...others] = names
  if (others.length === 0) return `The column "${first}" may not be the price of one unit: choose the price.`
  const numbers = matches.map((match) => match + 1)
  const last = numbers.pop()
  const where = `columns ${numbers.join(', ')} and ${last}`
  return others.every((name) => name === first)
    ? `The heading "${first}" occurs more than once (${where}): choose which one is the ${field}.`
    : `${names.map((name) => `"${name}"`).join(', ')} (${where}) could all be the ${field}: choose which one is the ${field}.`
}
