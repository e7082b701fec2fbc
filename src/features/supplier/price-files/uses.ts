/** The words of a choice. They import nothing, because the process that reads a file loads them. */
import type { Currency } from '../tables/prices.ts'

/**
 * What a column may be used for. `count`: the price is for so many; `only`: only rows where it has a ticked value; `taxed`: the price
 * includes GST only there.
 */
export const USES = [
  'code',
  'price',
  'name',
  'description',
  'unit',
  'category',
  'count',
  'only',
  'taxed',
  'ignored',
] as const
export type Use = (typeof USES)[number]

/** The most values of a column that are counted, shown to tick, and remembered. */
export const MAX_VALUES = 200

/** The four answers about the money of the price column, with the tax that prices include, in percent. */
export const MONEY = {
  'AUD before GST': { currency: 'AUD', tax: 0 },
  'AUD including GST': { currency: 'AUD', tax: 10 },
  'NZD before GST': { currency: 'NZD', tax: 0 },
  'NZD including GST': { currency: 'NZD', tax: 15 },
} as const satisfies Record<string, { currency: Currency; tax: number }>
export type Money = keyof typeof MONEY

/** The column that is used so; of several, the first. */
export const columnFor = <Column extends { use: string }>(
  { columns }: { columns: readonly Column[] },
  use: Use,
): Column | undefined => columns.find((column) => column.use === use)
