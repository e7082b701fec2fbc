/** What the texts of a price file say about tax. */
import { wordsOf } from './words.ts'

const TAX = '(gst|tax|taxes|vat|mw ?st)'
const MUCH = '( of)?( any| all| the)?( \\d+)?'
const INCLUDED = new RegExp(
  `\\b(inc|incl|included?|includes|including|inclusive)${MUCH} ${TAX}\\b|\\bwith${MUCH} gst\\b|\\b${TAX}( \\d+)?( is| are| has been| have been)? (inc|incl|inclusive|included)\\b|\\bttc\\b|\\bprices (inc|incl|inclusive)$`,
)
const NOT_INCLUDED = /\b(not|don t) (inc|incl|included?|including|inclusive)\b/
const EXCLUDED = new RegExp(
  `(\\b(exc?|excl|excludes?|excluded|excluding|exclusive|plus|without|no|not|before|less)|\\+)${MUCH} ?${TAX}\\b|\\b${TAX}( is)? (exc?|excl|excluded|exclusive|extra|free)\\b`,
)

/** The words of a text about tax: `G.S.T.` and `incGST` are `gst` and `inc gst`. */
const taxWordsOf = (text: string) =>
  wordsOf(text.replace(/\bG\.S\.T\b\.?|\bgoods (and|&) services tax\b/gi, 'GST')).replace(
    /\b(inc|incl|exc?|excl)(gst|tax)/g,
    '$1 $2',
  )

/** Whether a text says that prices include tax. */
export function saysTaxIncluded(text: string): boolean {
  if (!/gst|g\.s\.t|tax|vat|mwst|ttc|prices inc/i.test(text)) return false
  const words = taxWordsOf(text)
  return INCLUDED.test(words) && !NOT_INCLUDED.test(words)
}

/** Whether a text about tax concerns some items only: `* includes GST`, `Marked items include GST`. */
export const saysTaxOfSome = (text: string): boolean =>
  /[*†‡]|^\s*#|\bmarked\b|\basterisk/i.test(text) && saysTaxIncluded(text)

/** Whether a text says that prices do not include tax. */
export const saysTaxExcluded = (text: string): boolean => EXCLUDED.test(taxWordsOf(text))

/** Whether the heading of a price leaves open if tax is included: `RRP inc`, `Price (GST)`. */
export const mayIncludeTax = (heading: string): boolean =>
  /\b(gst|tax|vat)\b|\b(inc|incl|including|inclusive)$/.test(taxWordsOf(heading)) && !saysTaxExcluded(heading)

/** What a cell says about the tax of the price in its row. `free`: there is none, so that none can be removed. */
export type TaxMark = 'included' | 'excluded' | 'free'

/** Whether a column asks row by row if the price includes tax, as MYOB's `Sell Price Inclusive` does with an X. */
const isTaxQuestion = (heading: string): boolean => {
  const words = taxWordsOf(heading)
  return (
    /\b(price|gst|tax) (inc|incl|inclusive|included)$/.test(words) ||
    (heading.includes('?') && /\b(inc|incl|includes|including|inclusive) (gst|tax)$/.test(words))
  )
}
/** A column whose cells name the tax: `GST`, `Tax Status`, `Price Basis`, `Inc/Ex`. */
const TAX_COLUMN = /^(price )?(basis|inc ex|ex inc|incl excl|excl incl)$|\b(gst|tax|vat)\b/

/** The columns that may say of each row if its price includes tax. */
export const taxColumns = (headings: readonly string[], price: number): number[] =>
  headings.flatMap((heading, index) =>
    index !== price && (isTaxQuestion(heading) || TAX_COLUMN.test(taxWordsOf(heading))) ? [index] : [],
  )

/** A column of amounts of tax that are part of the price: `GST incl.`, `Includes GST of`. */
const INCLUDED_AMOUNT = /^(gst|tax) (inc|incl|included)$|^(inc|incl|includes|including) (gst|tax) of$/
const DOLLARS = /^\$? ?\d+(\.\d+)?$/

/** The column with amounts of tax that are an eleventh of each price, which therefore includes its 10% (GST in Australia). */
export function includedTaxColumn(
  headings: readonly string[],
  price: number,
  rows: readonly (readonly string[])[],
): number | undefined {
  const amountOf = (cell = '') =>
    DOLLARS.test(cell.trim()) ? Number(cell.replace(/[^\d.]/g, '')) : Number.NaN
  const columns = headings.flatMap((heading, index) =>
    /^(gst|tax)( amount| amt)?( inc| incl| included)?$/.test(taxWordsOf(heading)) && index !== price
      ? [index]
      : [],
  )
  return columns.find((column) => {
    const pairs = rows
      .map((cells) => [amountOf(cells[price]), amountOf(cells[column])] as const)
      .filter(([amount, tax]) => amount > 0 && tax > 0)
    const isEleventh = pairs.every(([amount, tax]) => Math.abs(amount / 11 - tax) < 0.006)
    // A column of nothing but 10 has the rate of the tax. Small prices have the same cents of tax either way.
    return isEleventh && pairs.some(([amount, tax]) => tax !== 10 && Math.abs(amount / 10 - tax) > 0.006)
  })
}

/** What a cell of a column about tax says; undefined if it says nothing. */
export function taxMarkOf(heading: string, cell: string): TaxMark | undefined {
  const words = taxWordsOf(cell)
  if (DOLLARS.test(cell.trim()) && INCLUDED_AMOUNT.test(taxWordsOf(heading)))
    return /[1-9]/.test(cell) ? 'included' : 'free'
  if (isTaxQuestion(heading)) {
    if (/^(x|y|yes|t|true)$/.test(words)) return 'included'
    if (/^(n|no|f|false)?$/.test(words)) return 'excluded'
  }
  if (/^(inc|incl|included|inclusive)$/.test(words) || saysTaxIncluded(cell)) return 'included'
  if (/^((gst|tax) )?(free|exempt|fre|n t|nt|nil)$|^(no|zero) (gst|tax)$/.test(words)) return 'free'
  return /^(ex|exc|excl|excluded|exclusive)$/.test(words) || saysTaxExcluded(cell) ? 'excluded' : undefined
}
