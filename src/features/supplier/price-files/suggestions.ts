/** Suggests what columns are, by a short list of headings. A suggestion never decides: a person sees it on page one. */
import { isSpreadsheetError } from '../tables/prices.ts'
import type { Row } from '../tables/sheet.ts'
import { clean, isFilled } from './cells.ts'
import type { Use } from './uses.ts'

/** How many characters of a heading are read. A longer text is a note, and no heading. */
const MAX_HEADING = 60
/** A heading in lower case, with letters and digits only. `#` becomes `no`, because many write it for "number". */
const normalize = (heading: string) =>
  clean(heading)
    .slice(0, MAX_HEADING)
    .toLowerCase()
    .replaceAll('#', 'no')
    .replace(/[^\p{L}\p{N}]/gu, '')

const OF_CODES =
  'item|product|prod|stock|part|supplier|vendor|manufacturers?|mfr|mfg|material|article|catalogue|catalog|model|style|variant|inventory|order|our|your|the|purchase|sales'
const CODES = 'codes?|skus?|no|nos|num|number|id|mpn|ref|reference|plu'
/** Headings that certainly mean a code: `Item Code`, `SKU`, `Supplier No`. */
const CODE = new RegExp(`^(?:${OF_CODES})*(?:${CODES})(?:${OF_CODES}|${CODES})*$|^(?:material|article|part)$`)
/** Headings that may mean a code as well, so that no other column is suggested. Tax codes and barcodes do not count. */
const MAYBE_CODE = /code|sku|^model|mpn/
const OTHER_CODE =
  /(?:tax|gst|vat|currency|unit|uom|measure|category|group|class|family|range|colou?r|discount|price|status|bar|ean|gtin|apn|post|country|tariff|warranty|brand|size|finish|location|bin)code|barcode/

/** A column that may be the price. */
const PRICE =
  /pric|cost|rrp|srp|retail|trade|wholesale|dealer|contract|sell|buy|nett?$|^net|list|amount|^rate$|^each$|tier|level|gst|aud$|nzd$/
/** Headings that mention a price but mean something else. */
const NO_PRICE =
  /(?:pric\p{L}*)(?:unit|level|group|basis|per|qty|quantity|date|code|type|category|list|break|class|status|notes?)$|qty|quantity|date|weight|percent|(?:tax|gst)rate|taxcode|discount|sellunit|unitofsale|min(?:imum)?order/u
const NUMBER = /^[^\p{L}\d%]{0,4}(?:AUD?|NZD?)?[^\p{L}\d%]{0,4}\d[\d.,\s]*[^\p{L}%]{0,3}(?:AUD|NZD)?$/iu

/** Headings that mean a name if there is a code, and otherwise may mean the code. */
const BESIDE_CODE = /^(?:product|item)$/
/** The other uses, the most certain heading of each first. */
const OTHERS: [use: Use, heading: RegExp][] = [
  ['name', /^(?:item|product|prod|short|stock)*(?:name|title)$/],
  ['name', /^(?:item|product|prod|short|stock|part|material|article|sales)*desc(?:ription|r)?1?$/],
  ['name', BESIDE_CODE],
  [
    'description',
    /^(?:long|full|extended|item|product|sales|further)*desc(?:ription)?2?$|^details?$|^specifications?$/,
  ],
  ['unit', /^(?:sell|sales|selling|base|stock)?(?:units?|unitofmeasure(?:code)?|uom|um|measure)$/],
  ['category', /^(?:item|product|sub|stock|main)*(?:category|group|family|range|department|class)(?:name)?$/],
  [
    'count',
    /^(?:pric(?:e|ing))?per$|^pric(?:e|ing)(?:unit|basis|divisor)$|^(?:price)?basis(?:qty|quantity)?$/,
  ],
]
/** A cell that says how many units a price is for: a number, or "each". */
const COUNT = /\d|^(?:ea|each)$/i

/** Suggests a use for each column. If two columns could be the code, or the price, neither is suggested. `rows`: some of the table. */
export function suggestUses(headings: readonly string[], rows: readonly Row[]): Use[] {
  const names = headings.map(normalize)
  const cellsOf = (index: number) =>
    rows.map(({ cells }) => cells[index]?.trim() ?? '').filter((cell) => cell !== '')
  const uses = headings.map((): Use => 'ignored')
  const [code, ...otherCodes] = placesIn(names, mayBeCode)
  if (code !== undefined && otherCodes.length === 0 && CODE.test(names[code] ?? '')) uses[code] = 'code'
  const [price, ...otherPrices] = placesIn(
    names,
    (name, index) => mayBePrice(name) && cellsOf(index).some(isNumber),
  )
  if (price !== undefined && otherPrices.length === 0) uses[price] = 'price'
  for (const [use, known] of OTHERS) {
    if (uses.includes(use) || (known === BESIDE_CODE && !uses.includes('code'))) continue
    const place = names.findIndex(
      (name, index) =>
        uses[index] === 'ignored' &&
        known.test(name) &&
        (use !== 'count' || (cellsOf(index).length > 0 && cellsOf(index).every((cell) => COUNT.test(cell)))),
    )
    if (place >= 0) uses[place] = use
  }
  return uses
}

const placesIn = (names: readonly string[], isIt: (name: string, index: number) => boolean): number[] =>
  names.flatMap((name, index) => (isIt(name, index) ? [index] : []))
const mayBeCode = (name: string) => CODE.test(name) || (MAYBE_CODE.test(name) && !OTHER_CODE.test(name))
const mayBePrice = (name: string) => PRICE.test(name) && !NO_PRICE.test(name)
const isNumber = (cell: string) => NUMBER.test(cell.slice(0, MAX_HEADING)) || isSpreadsheetError(cell)

const isKnown = (cell: string) => {
  const name = normalize(cell)
  return mayBeCode(name) || mayBePrice(name) || OTHERS.some(([, known]) => known.test(name))
}

/** How many rows are searched for the headings, and how many cells of each. */
const [SEARCHED_ROWS, MAX_SEARCHED] = [100, 200]

/**
 * Suggests the row that has the most known headings, at least two. Otherwise suggests the first row that fills most columns and has
 * no number, or 0 if there is none. `isSure`: whether the headings are known.
 */
export function suggestHeadingsRow(rows: readonly Row[]): { headingsRow: number; isSure: boolean } {
  const searched = rows.slice(0, SEARCHED_ROWS)
  const [best] = searched
    .map(({ line, cells: all }) => {
      const cells = all.slice(0, MAX_SEARCHED)
      const numbers = cells.filter((cell) => isNumber(cell.trim()))
      return { line, known: cells.filter(isKnown).length - numbers.length }
    })
    .sort((a, b) => b.known - a.known)
  if (best && best.known > 1) return { headingsRow: best.line, isSure: true }
  const filled = ({ cells }: Row) => cells.filter(isFilled).length
  const width = Math.max(0, ...searched.map(filled))
  const first = searched.find(
    (row) => filled(row) * 2 > width && !row.cells.some((cell) => isNumber(cell.trim())),
  )
  return { headingsRow: first?.line ?? 0, isSure: false }
}
