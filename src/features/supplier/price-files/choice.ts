/**
 * What a person chose for a price file: which columns are used, and what the price is. It is filled in for the next file of the
 * catalogue, and decides nothing: what is sent is what a person has looked at.
 */
import * as z from 'zod'
import { DECIMALS } from '../tables/prices.ts'
import { MAX_VALUES } from './uses.ts'

export { FIELD_USES, MAX_VALUES, MONEY, USES, type Use } from './uses.ts'

/** A column of a choice: found by its heading, or by its number (from 1) where the heading is blank or stands there twice. */
const columnSchema = z.strictObject({ heading: z.string(), number: z.int().positive() })
export type ChosenColumn = z.infer<typeof columnSchema>

/** A column, and the values of it that are ticked; a blank cell is an empty text. */
const tickedSchema = z.strictObject({ ...columnSchema.shape, values: z.array(z.string()).max(MAX_VALUES) })
export type Ticked = z.infer<typeof tickedSchema>

const MONEY_ANSWERS = ['AUD before GST', 'AUD including GST', 'NZD before GST', 'NZD including GST'] as const
export type Money = (typeof MONEY_ANSWERS)[number]

export const choiceSchema = z.strictObject({
  /** The name of the sheet; empty for a text file. */
  sheet: z.string(),
  /** The row that has the headings; 0: none. In a later file they are found by the headings of the columns that are used. */
  headingsRow: z.int().nonnegative(),
  code: columnSchema,
  price: columnSchema,
  name: columnSchema.optional(),
  description: columnSchema.optional(),
  unit: columnSchema.optional(),
  category: columnSchema.optional(),
  /** "Price is for this many": the price is divided by it. */
  count: columnSchema.optional(),
  only: z.array(tickedSchema),
  /** Of a file whose `money` includes GST: it does only in the rows with these values. */
  taxed: tickedSchema.optional(),
  money: z.enum(MONEY_ANSWERS),
  /** How many units every price is for. */
  units: z.int().positive(),
  /** The decimal sign; null: every price that the person saw reads the same under both. */
  decimal: z.enum(DECIMALS).nullable(),
})
export type Choice = z.infer<typeof choiceSchema>

/** A choice that is not complete: page one as it was filled in. */
export const draftSchema = choiceSchema.partial({ code: true, price: true, money: true })
export type Draft = z.infer<typeof draftSchema>
