/** Suggests how a sheet may be read, from a short list of headings. A suggestion never decides: a person confirms it. */
import { DECIMALS, type Decimal, readPrice } from '../../tables/prices.ts'
import type { Row } from '../../tables/sheet.ts'
import type { Column, PLAIN_USES, SheetLayout } from './layout.ts'

type PlainUse = Exclude<(typeof PLAIN_USES)[number], 'ignored'>

/** Headings, best first, in lower case and without anything but letters and digits. */
const HEADINGS: Record<PlainUse | 'price is for this many' | 'tax included', RegExp[]> = {
  price: [
    /^(rrp|srp|msrp|(unit|sell|selling|sales?|retail|list|recommendedretail)?price)(ex|exc|excl|before)?(gst|tax)?(aud|nzd)?$/,
    /^(rrp|retail|sell|list|each)/,
    /price|rrp/,
  ],
  code: [
    /^(item|product|stock|part|sku|supplier|article|material|catalogue|cat|model|mfr|mpn)?(code|no|num|number|id|sku)$/,
    /^(sku|mpn|material|partnumber|barcode|ean|gtin|plu|item|product|part|ref|reference|model)$/,
    /code|sku|number$/,
  ],
  name: [
    /^(item|product|short)?(name|title)$/,
    /^(item|product|stock)?desc(ription)?1?$/,
    /name|desc|^product$|^item$/,
  ],
  description: [/^(long|full|extended|item|product)?desc(ription)?2?$|^details?$|^specification$/],
  unit: [/^(sell|sales|base)?(unit|uom|unitofmeasure|unitofmeasurecode|um)$/, /uom|^units$|^measure$/],
  category: [/^(item|product|sub)?(category|group|family|range|department|class|type)(name)?$/],
  'price is for this many': [
    /^(price|pricing|basis|base|std|per)?(per|unit|qty|quantity|basis|divisor|factor)$/,
  ],
  'tax included': [/(price|tax|gst).*incl?(usive|uded|udes?)?|^incl?(udes?|uding|usive)?.*(tax|gst)/],
}
const ORDER = [
  'price',
  'code',
  'name',
  'description',
  'unit',
  'category',
  'price is for this many',
  'tax included',
] as const
const DIGITS = /\d/

const normalize = (heading: string) => heading.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** A column as the outline of a sheet shows it. */
export interface ColumnOutline {
  heading: string
  /** Some different cells of the column. */
  samples: string[]
  /** All different cells, if they are few; otherwise null. */
  values: string[] | null
  isHidden: boolean
}

/** The row that names a code and a price, or else the first one that fills most columns and has no number; -1: none. */
export function suggestHeadingsRow(rows: readonly Row[]): number {
  const filled = rows.map(({ cells }) => cells.filter((cell) => cell.trim() !== '').length)
  const width = Math.max(0, ...filled)
  const isWords = ({ cells }: Row) => cells.every((cell) => !isAmount(cell))
  const namesItem = ({ cells }: Row) =>
    (['code', 'price'] as const).every((use) =>
      cells.some((cell) => HEADINGS[use].some((known) => known.test(normalize(cell)))),
    )
  const named = rows.findIndex((row, index) => (filled[index] ?? 0) > 1 && isWords(row) && namesItem(row))
  return named >= 0 ? named : rows.findIndex((row, index) => (filled[index] ?? 0) * 2 > width && isWords(row))
}

/** The columns of a sheet with what they may be used for. */
function suggestColumns(columns: readonly ColumnOutline[]): Column[] {
  const names = columns.map(({ heading }) => normalize(heading))
  const taken = new Map<number, Column>()
  for (const use of ORDER) {
    const isFree = (index: number) => !taken.has(index) && fits(use, columns[index])
    const found = HEADINGS[use]
      .map((known) => names.findIndex((name, index) => isFree(index) && known.test(name)))
      .find((index) => index >= 0)
    if (found === undefined) continue
    const heading = columns[found]?.heading ?? ''
    if (use === 'tax included') taken.set(found, { heading, use, yes: [], no: [] })
    else
      taken.set(found, use === 'price is for this many' ? { heading, use, divide: false } : { heading, use })
  }
  return columns.map(({ heading }, index) => taken.get(index) ?? { heading, use: 'ignored' })
}

/** Whether the cells of a column may be what the use is about. */
function fits(use: (typeof ORDER)[number], column: ColumnOutline | undefined): boolean {
  const { samples = [], values = null } = column ?? {}
  if (use === 'price') return samples.some(isAmount)
  if (use === 'price is for this many')
    return samples.length > 0 && samples.every((cell) => DIGITS.test(cell))
  return use !== 'tax included' || (values !== null && !samples.some(isAmount))
}

/** The decimal sign that more of these prices can be read with. */
function suggestDecimal(prices: readonly string[]): Decimal {
  const readable = (decimal: Decimal) =>
    prices.filter((price) => typeof readPrice(price.trim(), { decimal, currency: 'AUD' }) === 'number').length
  return readable('comma') > readable('point') ? 'comma' : 'point'
}

const isAmount = (cell: string): boolean =>
  DIGITS.test(cell) &&
  DECIMALS.some((decimal) => typeof readPrice(cell.trim(), { decimal, currency: 'AUD' }) === 'number')

/** What a sheet may be read as. */
export function suggestSheet(sheet: {
  name: string
  headingsRow: number
  columns: readonly ColumnOutline[]
}): SheetLayout {
  const columns = suggestColumns(sheet.columns)
  const price = columns.findIndex(({ use }) => use === 'price')
  const decimal = suggestDecimal(sheet.columns[price]?.samples ?? [])
  return { name: sheet.name, headingsRow: sheet.headingsRow, decimal, columns }
}
