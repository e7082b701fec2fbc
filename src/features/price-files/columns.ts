import { createPriceReader, namesOtherCurrency, shorten } from '../../tables/prices.ts'
import { saysTaxExcluded, saysTaxIncluded } from './tax.ts'
import { texts } from './texts.ts'
import { wordsOf } from './words.ts'

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
    modelnumber modelcode model barcode ean ean13 gtin upc apn plu id ref reference itemref productref item product
    material matnr ordercode rangecode no codeno part stock prodcode materialnumber inventoryid inventoryitem
    variantsku supplierpartnumber productcodesku artnr`,
  name: `name itemname productname title producttitle product itemdescription shortdescription shortdesc description1
    item model`,
  description: `description productdescription itemdesc productdesc longdescription longdesc fulldescription desc details
    description2 extendeddescription specification salesdescription stockdescription materialdescription`,
  unit: `unit uom unitofmeasure unitmeasure units measure sellunit sellunitmeasure sellinguom selluom salesunit salesuom priceunit
    priceuom baseunit baseunitofmeasure baseuom per um uoi unitofissue packunit stockunit priceper`,
  category: `category categoryname group productgroup itemgroup range productrange department dept class type family
    productfamily producttype section productcategory itemcategory`,
}
const HEADINGS_OF = Object.fromEntries(
  Object.entries(HEADINGS).map(([field, names]) => [field, names.split(/\s+/)]),
) as Record<keyof typeof HEADINGS, string[]>

/** A heading in lower case, without spaces and punctuation. */
export const normalize = (heading: string) => heading.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** Words that say nothing about which price it is. */
const QUALIFIERS =
  /\b(aud|nzd|au|nz|aus|a|dollars?|(in|ex|exc|excl|excluding|exclusive|exclusive of|excludes|inc|incl|including|inclusive|inclusive of|includes|with|without|no|plus|less|before|after|of|\+)? ?(gst|tax|vat)( (in|ex|exc|excl|excluded|exclusive|inc|incl|included|inclusive))?|each|ea|per|unit|item|recommended|suggested|standard|normal|20\d\d)\b|\b(ex|exc|excl)$|\+/g
/** What is left of the heading of a price that the supplier recommends or sells at. */
const PRICE =
  /^((sell|selling|sales?|retail|list|catalogue|rr|public)? ?price|rrp|rrp price|srp|msrp|rsp|sell|retail|list)$/
/** Prices that are not for the customer, and columns about a price. */
const OTHER_PRICE =
  /\b(cost|buy|buying|purchases?|trade|wholesale|dealer|distributor|reseller|net|nett|staff|member|amount|total|subtotal|rate|ext|extended|line|disc|discount|margin|markup|gp|code|group|date|type|level|uom|um|qty|quantity|currency|book|status|category|note|notes|change|increase|file|name|history|old|previous|last|prior|was)\b|\bprice (unit|per|list)$|\b(sell|sales?|selling|retail) (unit|item)$|\bprice inclusive$/

/** Whether a heading names a price that customers may pay, even if it is not known which. */
export const mayBePrice = (heading: string) => {
  const words = wordsOf(heading)
  const isNamed = /price|\brrp\b|\bsrp\b|\bmsrp\b/.test(words) || SOON.test(words) || isPrice(heading)
  return isNamed && !OTHER_PRICE.test(words)
}

/** A second column of prices, for another time: `New Retail`, `List from 1 July`. */
const SOON =
  /^(?=.*\b(sell|retail|list)\b).*\b(new|current|now|future|next|from|effective|valid|20\d\d|jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)\b/

/** Whether a heading names the price of one unit. */
function isPrice(heading: string): boolean {
  const words = wordsOf(heading)
    .replace(/(\w)(price|rrp)/g, '$1 $2')
    .replace(/(price|rrp)(ex|inc)/g, '$1 $2')
    .replace(/\b(ex|exc|excl|inc|incl)(gst|tax)/g, '$1 $2')
  return (
    !namesOtherCurrency(heading) && PRICE.test(words.replace(QUALIFIERS, ' ').replace(/\s+/g, ' ').trim())
  )
}

const TRADE = '(trade|wholesale|dealer|distributor|reseller|cost|buy|nett?)'
const TRADE_PRICES = new RegExp(
  `^${TRADE}( (only|ex|exc|excl|inc|incl|plus)\\b.*)?$|\\b${TRADE} (prices?|pricing|pricelist|list)\\b|` +
    `\\bpric(es?|ing)( list| (shown|listed|quoted|given|are|is|all|at))* ${TRADE}\\b`,
)
const SEVERAL_UNITS = '((?!1\\b)\\d+|hundred|thousand|dozen|box|pack|pkt|carton|pallet)'
const ROUND_NUMBER = '(10|50|100|144|250|500|1000|hundred|thousand)'
const PRICES = /\bpric(e[sd]?|ing)\b/
const OF_SEVERAL = new RegExp(` (per (${SEVERAL_UNITS}|c)|in cents)\\b`)
const PRICE_OF_SEVERAL = new RegExp(
  `^per ${SEVERAL_UNITS}\\b|\\bprice[sd]?( unit)?( is| are)?( for)? ${ROUND_NUMBER}\\b`,
)
const ENDS_PER_SEVERAL = new RegExp(`\\bper ${SEVERAL_UNITS}\\s*\\)?$|(^|[\\s($])/ ?(100|1000)\\s*\\)?$`, 'i')
/** What is added to all prices, now or later, in one sentence: one of the words follows the other. */
const CHANGES_PRICES = [
  [/\b(add|added|surcharge|levy|multiply|deduct|deducted|increase)\b/i, /\bprices\b/i],
  [/\bprices\b/i, /\b(increase|rise|go up|fall)/i],
] as const
/** `Less 25%`, `List prices less 25%`. */
const LESS_OR_PLUS = /^\W*((all|our|the|list|retail|rrp|prices?)\W+)*(less|minus|plus|deduct)\W/i
/** Percents that are not those of prices. */
const OTHER_PERCENT = /\b(not|no|included|excluded|gst|tax|payment|paid|days|settlement|freight|delivery)\b/i
const IN_THOUSANDS = /\bin thousands\b|\$ ?['’]000\b|\$000s?\b/i
/** A list that does not count, or not any more. */
const NOT_IN_FORCE =
  /\b(draft(?! (stop|exclu|seal|strip|proof))|superseded|not current|no longer (current|valid)|expired|do not use)\b/i
/** In a name, such as that of a sheet, one word is enough. */
const TRADE_NAME = /\b(trade|wholesale|dealer|distributor|reseller|cost)\b/

/**
 * Whether a note, such as a title, says that prices are not those of one unit for customers in dollars, although the
 * heading of the price does not say that they are. `isName`: the note is the name of a sheet or of the file.
 */
export function doubtsPrice(note: string, heading: string, isName = false): boolean {
  // Net of tax is before tax, and not the price of the trade.
  const [words, own] = [wordsOf(note).replace(/\bnett? of (gst|tax|vat)\b/g, ''), wordsOf(heading)]
  if (namesOtherCurrency(note) && !/\b(aud|nzd)\b/.test(own)) return true
  if (arePricesOfSeveral(words) && !/\b(each|ea|per (unit|item|each))\b/.test(own)) return true
  if (changesPrices(note) || IN_THOUSANDS.test(note) || NOT_IN_FORCE.test(note)) return true
  const isTrade = TRADE_PRICES.test(words) || (isName && TRADE_NAME.test(words))
  return isTrade && (/\bonly\b/.test(words) || !/rrp|srp|retail|sell|list|aud|nzd/.test(own))
}

/** Whether the name of an item says that its price is that of several: `Bolt M8 (price per 100)`. */
export const isPricePerSeveral = (name: string): boolean =>
  /price/i.test(name) && arePricesOfSeveral(wordsOf(name))

const arePricesOfSeveral = (words: string) =>
  PRICE_OF_SEVERAL.test(words) || isFollowed(words, PRICES, OF_SEVERAL)

/**
 * Whether the second expression matches behind the first match of the first one. One expression for both would begin
 * anew at each match of the first, and take time with the square of the text.
 */
function isFollowed(text: string, first: RegExp, second: RegExp): boolean {
  const match = first.exec(text)
  return match !== null && second.test(text.slice(match.index + match[0].length))
}

const sentencesOf = (note: string) => note.split(/;|\.(?!\d)/)

const changesPrices = (note: string) =>
  /\d ?%|\d per ?cent|\bby \d/i.test(note) &&
  !OTHER_PERCENT.test(note) &&
  (LESS_OR_PLUS.test(note) ||
    sentencesOf(note).some((sentence) =>
      CHANGES_PRICES.some(([first, second]) => isFollowed(sentence, first, second)),
    ))

/**
 * Whether a line of its own, such as the title of a section or a second row of headings, says that prices are those of
 * several units: `per 100`, `BOLTS (per hundred)`, `Bolts $/100`.
 */
export const isTitlePerSeveral = (text: string): boolean =>
  text.length <= 50 && ENDS_PER_SEVERAL.test(text.trim()) && !/deliver|freight|charge|fee|minimum/i.test(text)

/**
 * Whether a row below the headings is headings too, and names another column as the code or the price: the rows below it
 * would be misread.
 */
export function namesOtherColumns(
  cells: readonly string[],
  { headings, columns }: { headings: readonly string[]; columns: Columns },
): boolean {
  if (countFields(cells) < 2 || cells.some(isNumber)) return false
  const isSame = (column = -1) => normalize(cells[column] ?? '') === normalize(headings[column] ?? '')
  if (isSame(columns.code) && isSame(columns.price)) return false
  const { code, price } = guessColumns(cells).columns
  return code !== columns.code || price !== columns.price
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
  const asked = new Set<Field>()
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
    else {
      mappingErrors.push(severalColumns(field, matches, headings))
      asked.add(field)
    }
  }
  // Without a column for the name, the description is the name, unless it is a long one.
  const { description } = columns
  if (
    columns.name === undefined &&
    description !== undefined &&
    !/long|full|extended/.test(names[description] ?? '')
  ) {
    columns.name = description
    delete columns.description
  }
  const [price, ...others] = withoutTaxOf(prices, headings, rows)
  if (price === undefined) mappingErrors.push(noPrice(headings, rows))
  else if (others.length === 0 && isPrice(headings[price] ?? '')) columns.price = price
  else mappingErrors.push(severalColumns('price', prices, headings))
  if (columns.code === undefined && !asked.has('code')) mappingErrors.unshift(texts.questions.noCode)
  return { columns, mappingErrors }
}

/** Says that no column is the price, and why the one that has its name is not. */
function noPrice(headings: readonly string[], rows: readonly string[][]): string {
  if (headings.length === 1) return texts.questions.oneColumn
  const named = headings.findIndex(isPrice)
  const cell = rows.map((row) => row[named]?.trim() ?? '').find((text) => text !== '')
  return named < 0 || cell === undefined
    ? texts.questions.noPrice
    : texts.questions.noAmounts(headings[named] ?? '', shorten(cell, 40))
}

function priceCandidates(headings: readonly string[], rows: readonly string[][]): number[] {
  const cellsOf = (index: number) =>
    rows.map((row) => (row[index] ?? '').trim()).filter((cell) => cell !== '')
  const prices = headings.flatMap((heading, index) => {
    const cells = cellsOf(index)
    return mayBePrice(heading) && (cells.length === 0 || cells.some(isNumber)) ? [index] : []
  })
  // Dollars and cents in columns of their own: neither of them is the price.
  const isCents = (index: number) =>
    /^(c|cts?|cents?|¢)$/i.test(headings[index]?.trim() ?? '') &&
    cellsOf(index).every((cell) => /^\d\d?$/.test(cell))
  return prices.flatMap((price) => (isCents(price + 1) ? [price, price + 1] : [price]))
}

/** The taxes on goods in Australia and New Zealand. */
const TAX_FACTORS = [1.1, 1.15]

/**
 * Of a price before tax and the same one with tax, that before tax; otherwise all of them. The rows tell whether it is the
 * same: `RRP ex GST` beside `Price inc GST` may be two prices.
 */
function withoutTaxOf(
  prices: readonly number[],
  headings: readonly string[],
  rows: readonly string[][],
): readonly number[] {
  const [before, ...unclear] = prices.filter((price) => !saysTaxIncluded(headings[price] ?? ''))
  if (prices.length < 2 || before === undefined || unclear.length > 0) return prices
  if (!saysTaxExcluded(headings[before] ?? '')) return prices
  const amountOf = (row: readonly string[], column: number) =>
    Number((row[column] ?? '').replace(/[$,\s]/g, '') || Number.NaN)
  const isSame = (price: number) =>
    TAX_FACTORS.some((factor) =>
      rows.every((row) => {
        const difference = amountOf(row, price) - amountOf(row, before) * factor
        return Number.isNaN(difference) || Math.abs(difference) <= 0.02
      }),
    )
  const compared = rows.some((row) => amountOf(row, before) > 1)
  return compared && prices.every((price) => price === before || isSame(price)) ? [before] : prices
}

/** Whether a cell looks like a price. */
export function isNumber(cell: string): boolean {
  const { read, found } = createPriceReader()
  return typeof read(cell.trim()) === 'number' || found.ambiguous > 0
}

function severalColumns(field: Field, matches: readonly number[], headings: readonly string[]): string {
  const names = matches.map((match) => headings[match] ?? '')
  const [first = '', ...others] = names
  const { notUnitPrice, repeatedHeading, severalColumns } = texts.questions
  if (others.length === 0) return notUnitPrice(first)
  const numbers = matches.map((match) => match + 1)
  return others.every((name) => name === first)
    ? repeatedHeading(first, numbers, texts.fields[field])
    : severalColumns(names, numbers, texts.fields[field])
}
