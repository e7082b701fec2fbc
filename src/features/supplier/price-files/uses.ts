/** The words of a choice. This module imports only types, because the process that reads a file loads it. */
import type { Currency } from '../tables/prices.ts'

const SENT = ['code', 'price', 'name', 'description', 'unit', 'category'] as const
/**
 * What a column may be used for. `count`: how many units the price is for. `only`: only rows with a ticked value are sent. `taxed`: the
 * price includes GST only in rows with a ticked value.
 */
export const USES = [...SENT, 'count', 'only', 'taxed', 'ignored'] as const
export type Use = (typeof USES)[number]

/** The most values of a column that are counted, shown to tick, and remembered. */
export const MAX_VALUES = 200

export const MONEY_ANSWERS = [
  'AUD before GST',
  'AUD including GST',
  'NZD before GST',
  'NZD including GST',
] as const
export type Money = (typeof MONEY_ANSWERS)[number]
/** The answers about the money of the price column, with the tax that prices include, in percent. */
export const MONEY: Record<Money, { currency: Currency; tax: number }> = {
  'AUD before GST': { currency: 'AUD', tax: 0 },
  'AUD including GST': { currency: 'AUD', tax: 10 },
  'NZD before GST': { currency: 'NZD', tax: 0 },
  'NZD including GST': { currency: 'NZD', tax: 15 },
}

/** The first column with this use. */
export const columnFor = <Column extends { use: string }>(
  { columns }: { columns: readonly Column[] },
  use: Use,
): Column | undefined => columns.find((column) => column.use === use)
