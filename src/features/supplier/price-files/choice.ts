/**
 * What a person chose for a price file: which columns are used, and what the price is. The choice is filled in for the next file of
 * the catalogue, but a page sends only what a person has looked at. `unattended.ts` says when the command line needs no person.
 */
import * as z from 'zod'
import { DECIMALS } from '../tables/prices.ts'
import { columnFor, MAX_VALUES, MONEY_ANSWERS, USES } from './uses.ts'

export { columnFor, MAX_VALUES, MONEY, type Money, USES, type Use } from './uses.ts'

/** A used column. It is found by its heading, or by its number (from 1) if the heading is blank or occurs twice. */
const columnSchema = z.strictObject({
  heading: z.string(),
  number: z.int().positive(),
  use: z.enum(USES).exclude(['ignored']),
  /** The ticked values, for `only` and `taxed`. A blank cell is an empty text. */
  values: z.array(z.string()).max(MAX_VALUES).optional(),
})
export type ChosenColumn = z.infer<typeof columnSchema>

/** A choice that need not be complete: page one as it was filled in. */
export const draftSchema = z.strictObject({
  /** The name of the sheet; empty for a text file. */
  sheet: z.string(),
  /** The row of the headings; 0 if there are none. In a later file, it is found by the headings of the used columns. */
  headingsRow: z.int().nonnegative(),
  /** Each use may occur once, except `only`. */
  columns: z.array(columnSchema).superRefine((columns, { addIssue }) => {
    for (const [at, { use }] of columns.entries())
      if (use !== 'only' && columns.findIndex((other) => other.use === use) < at)
        addIssue({ code: 'custom', path: [at, 'use'], message: 'Only one column can have this use' })
  }),
  money: z.enum(MONEY_ANSWERS).nullable(),
  /** How many units every price is for. */
  units: z.int().positive(),
  /** The decimal sign; null if every price that the person saw is the same number with either sign. */
  decimal: z.enum(DECIMALS).nullable(),
})
export type Draft = z.infer<typeof draftSchema>

export const choiceSchema = draftSchema
  .extend({ money: z.enum(MONEY_ANSWERS) })
  .refine((choice) => columnFor(choice, 'code') && columnFor(choice, 'price'), {
    path: ['columns'],
    message: 'One column must be the code, and one the price',
  })
export type Choice = z.infer<typeof choiceSchema>
