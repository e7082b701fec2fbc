import { shorten } from '../../tables/prices.ts'
import { isTaxColumn, isTaxMark, normalize } from './columns.ts'

const AMOUNT = /^(per|price(unit|per|qty|quantity|base)|pricing(unit|qty|quantity)|per(qty|quantity))$/
const CURRENCY = /^(price|sell|sales)?(currency|curr|ccy)(code)?$/

/**
 * Creates a check of what other columns say about the price of a row: for how many units it is, as those of SAP do, and in
 * which currency, and if it includes tax. The currency and the tax of the first row are those of the file.
 */
export function createPriceNotes(
  headings: readonly string[],
): (cells: readonly string[]) => string | undefined {
  const columnsOf = (known: RegExp) =>
    headings.flatMap((heading, index) => (known.test(normalize(heading)) ? [index] : []))
  const [amounts, currencies] = [columnsOf(AMOUNT), columnsOf(CURRENCY)]
  const taxColumn = headings.findIndex(isTaxColumn)
  let first = ''
  let isTaxIncluded: boolean | undefined

  return (cells) => {
    const amount = amounts.map((column) => cells[column]?.trim() ?? '').find(isSeveral)
    if (amount !== undefined) return `the price is for ${shorten(amount, 20)} units, not for one.`
    for (const currency of currencies.map((column) => currencyOf(cells[column] ?? ''))) {
      if (currency === '') continue
      if (currency !== 'AUD' && currency !== 'NZD')
        return `the price is in another currency (${shorten(currency, 20)}).`
      first ||= currency
      if (currency !== first) return `the price is in another currency than an earlier one (${first}).`
    }
    if (taxColumn < 0) return undefined
    const hasTax = isTaxMark(cells[taxColumn] ?? '')
    isTaxIncluded ??= hasTax
    return hasTax === isTaxIncluded
      ? undefined
      : `the column "${headings[taxColumn]}" differs from the first row, so the GST in this price is not known.`
  }
}

/** The currency of a cell such as `$`, `A$` or `aud`. */
function currencyOf(cell: string): string {
  const currency = cell.toUpperCase().replaceAll(/[^\p{L}\p{Sc}]/gu, '')
  if (/^(A|AU)\$?$|^AUS$/.test(currency)) return 'AUD'
  if (/^(N|NZ)\$?$/.test(currency)) return 'NZD'
  return currency === '$' ? '' : currency
}

const isSeveral = (amount: string) => /^[\d,.]+$/.test(amount) && Number(amount.replace(/,/g, '')) !== 1
