/**
 * Suggests how a file may be read: as its last one was, and otherwise from a short list of headings. A suggestion never decides: a
 * person confirms it.
 */
import { type Decimal, isAmount, mayBePrice, readPrice } from '../../tables/prices.ts'
import type { Row } from '../../tables/sheet.ts'
import { pairSheets } from './confirmation.ts'
import { type Column, columnFor, type Draft, type Layout, type SheetLayout, type Use } from './layout.ts'
import { headingsOf, repeats, type SheetHead } from './outline.ts'

const CODE =
  /code|sku|number$|^(item|product|part|model)?(no|num|id)$|^(mpn|material|ean|gtin|plu|item|product|part|ref|reference|model)$/
const PRICE = /^(srp|msrp|rrp|retail|sell|list|each)|price|rrp/

/** What is looked for, the most certain first, with headings in lower case and without anything but letters and digits. */
const HEADINGS: [use: Use, heading: RegExp][] = [
  ['price', PRICE],
  ['code', /^(item|product|stock|part|supplier|article|material|catalogue|cat)?(code|no|num|number|id|sku)$/],
  ['code', CODE],
  ['name', /^(item|product|short)?(name|title)$/],
  ['name', /name|desc|^product$|^item$/],
  ['description', /^(long|full|extended|item|product)?desc(ription)?2?$|^details?$|^specification$/],
  ['unit', /^(sell|sales|base)?(units?|unitofmeasure|unitofmeasurecode|um|measure)$|uom/],
  ['category', /^(item|product|sub)?(category|group|family|range|department|class|type)(name)?$/],
  [
    'price is for this many',
    /^(price|pricing|basis|base|std|per)(per|unit|qty|quantity|basis|divisor|factor)$|^(per|basis|divisor)$/,
  ],
  ['tax included', /(price|tax|gst).*incl?(usive|uded|udes?)?|^incl?(udes?|uding|usive)?.*(tax|gst)/],
]
const DIGITS = /\d/
/** A column that says which prices include tax has no more different cells than this. */
const MAX_FLAGS = 20

const normalize = (heading: string) => heading.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** A column with its different cells among the first rows. */
interface Seen {
  heading: string
  cells: string[]
}

/** What a sheet may be read as; `headingsRow`: the row of its headings, 0 for none. */
export function suggestSheet(
  { sheet, rows }: SheetHead,
  headingsRow = suggestHeadingsRow(rows.slice(0, 100)),
): SheetLayout {
  const below = rows.filter(({ line }) => line > headingsRow)
  const seen = headingsAt(rows, headingsRow).map((heading, index): Seen => {
    const cells = below.map((row) => row.cells[index]?.trim() ?? '')
    return { heading, cells: [...new Set(cells)].filter((cell) => cell !== '') }
  })
  const columns = suggestColumns(seen)
  const prices = seen[columns.findIndex(({ use }) => use === 'price')]?.cells ?? []
  return { name: sheet.name, headingsRow, decimal: suggestDecimal(prices), columns }
}

const headingsAt = (rows: readonly Row[], headingsRow: number) =>
  headingsOf(
    rows.find(({ line }) => line === headingsRow),
    rows,
  )

/** The row that names a code and a price, or else the first one that fills most columns and has no number; 0: none. */
function suggestHeadingsRow(rows: readonly Row[]): number {
  const filled = ({ cells }: Row) => cells.filter((cell) => cell.trim() !== '').length
  const width = Math.max(0, ...rows.map(filled))
  const words = rows.filter(({ cells }) => !cells.some(isAmount))
  const has = ({ cells }: Row, heading: RegExp) => cells.some((cell) => heading.test(normalize(cell)))
  const named = words.find((row) => filled(row) > 1 && has(row, CODE) && has(row, PRICE))
  return (named ?? words.find((row) => filled(row) * 2 > width))?.line ?? 0
}

/** The columns of a sheet with what they may be used for. Of several prices none is suggested: a person chooses one. */
function suggestColumns(columns: readonly Seen[]): Column[] {
  const names = columns.map(({ heading }) => normalize(heading))
  const taken = new Map<number, Use>()
  for (const [use, known] of HEADINGS) {
    const places = names.flatMap((name, index) => {
      const isFree = !taken.has(index) && fits(use, columns[index]?.cells ?? [])
      return isFree && known.test(name) ? [index] : []
    })
    const [place] = places
    const isSeveral = use === 'price' && places.length > 1
    if (place !== undefined && !isSeveral && ![...taken.values()].includes(use)) taken.set(place, use)
  }
  return columns.map(({ heading }, index) => columnFor(heading, taken.get(index) ?? 'ignored'))
}

/** Whether the cells of a column may be what the use is about. */
function fits(use: Use, cells: readonly string[]): boolean {
  if (use === 'price') return cells.some(mayBePrice)
  if (use === 'price is for this many') return cells.length > 0 && cells.every((cell) => DIGITS.test(cell))
  return use !== 'tax included' || (cells.length <= MAX_FLAGS && !cells.some(isAmount))
}

/** The decimal sign that more of these prices can be read with. */
function suggestDecimal(prices: readonly string[]): Decimal {
  const readable = (decimal: Decimal) =>
    prices.filter((price) => typeof readPrice(price, { decimal, currency: 'AUD' }) === 'number').length
  return readable('comma') > readable('point') ? 'comma' : 'point'
}

/** Whether a sheet seems to be a price list, whatever its price is. */
export const isList = ({ columns }: SheetLayout): boolean =>
  columns.some(({ use }) => use === 'code') && columns.some(({ heading }) => PRICE.test(normalize(heading)))

/** What a file may be read as: the sheets of an earlier layout, or the first visible list. */
export function suggestDraft(heads: readonly SheetHead[], earlier: Layout | undefined): Draft {
  const names = heads.map(({ sheet }) => sheet.name)
  const pairs = earlier && pairSheets(earlier, names)
  const kept = (earlier?.sheets ?? []).flatMap((before) => {
    const head = heads.find(({ sheet }) => sheet.name === pairs?.get(before.name))
    return head ? [suggestAgain(head, before)] : []
  })
  if (kept.length > 0) return { sheets: kept }
  const sheets = heads.filter(({ sheet }) => !sheet.isHidden).map((head) => suggestSheet(head))
  const first = sheets.find(isList) ?? sheets.find(({ columns }) => columns.length > 0)
  return { sheets: first ? [first] : [] }
}

/**
 * A sheet with the earlier answers for the columns that are the same; its headings may be on another row. Suggestions for
 * other columns do not compete with these answers.
 */
function suggestAgain(head: SheetHead, before: SheetLayout): SheetLayout {
  const headings = before.columns.map(({ heading }) => heading)
  const row = before.headingsRow === 0 ? 0 : head.rows.find((one) => repeats(one, headings))?.line
  const sheet = suggestSheet(head, row)
  const now = new Set(sheet.columns.map(({ heading }) => heading))
  const columns = sheet.columns.map((column, index): Column => {
    const { heading } = column
    if (before.columns[index]?.heading === heading) return before.columns[index]
    const isTaken = before.columns.some((other) => other.use === column.use && now.has(other.heading))
    const same = before.columns.find((other) => other.heading === heading && heading !== '')
    return same ?? (isTaken ? columnFor(heading, 'ignored') : column)
  })
  return { ...sheet, decimal: before.decimal, columns }
}

/** A draft for a file: a sheet whose headings are others than its columns say gets those columns anew. */
export function withHeadings(draft: Draft, heads: readonly SheetHead[]): Draft {
  const sheets = draft.sheets.flatMap((sheet) => {
    const head = heads.find((one) => one.sheet.name === sheet.name)
    if (!head) return []
    const headings = headingsAt(head.rows, sheet.headingsRow)
    const isSame =
      headings.length === sheet.columns.length &&
      headings.every((heading, index) => sheet.columns[index]?.heading === heading)
    return [isSame ? sheet : suggestSheet(head, sheet.headingsRow)]
  })
  return { ...draft, sheets }
}
