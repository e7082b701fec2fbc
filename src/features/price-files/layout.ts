/** How a price file is to be read, as a person has confirmed it. */
import * as z from 'zod'
import { CURRENCIES, DECIMALS } from '../../tables/prices.ts'

/** The uses of a column that only say what its cells are. */
const PLAIN_USES = ['code', 'name', 'description', 'unit', 'category', 'price'] as const
/** What a column may be used for. */
export const USES = [
  ...PLAIN_USES,
  'price is for this many',
  'tax included',
  'not for sale if',
  'ignored',
] as const
export type Use = (typeof USES)[number]

/** The cells of a column that mean yes and no; any other cell has not been confirmed. A blank cell is an empty text. */
const values = { yes: z.array(z.string()), no: z.array(z.string()) }
const heading = z.string()

const columnSchema = z.discriminatedUnion('use', [
  z.strictObject({ heading, use: z.enum([...PLAIN_USES, 'ignored']) }),
  /** `divide`: whether the price is divided by the number, or any other number than 1 rejects the row. */
  z.strictObject({ heading, use: z.literal('price is for this many'), divide: z.boolean().optional() }),
  z.strictObject({ heading, use: z.literal('tax included'), ...values }),
  z.strictObject({ heading, use: z.literal('not for sale if'), ...values }),
])
/** A column and what it is used for. */
export type Column = z.infer<typeof columnSchema>

/** A column of which only the use is known. */
export const columnFor = (heading: string, use: Use): Column =>
  use === 'tax included' || use === 'not for sale if' ? { heading, use, yes: [], no: [] } : { heading, use }

const sheetSchema = z.strictObject({
  /** Empty for a text file. */
  name: z.string(),
  /** The row of the headings; 0: the file has none. In a later file, the headings may be on another row. */
  headingsRow: z.number().int().nonnegative(),
  decimal: z.enum(DECIMALS),
  /** Every column, from the first one. */
  columns: z.array(columnSchema),
})
/** How a sheet is read. */
export type SheetLayout = z.infer<typeof sheetSchema>

/** Who may see the prices: `everyone`: they are recommended retail prices; `selected`: only builders with a grant. */
export const AUDIENCES = ['everyone', 'selected'] as const

const statements = {
  /** The tax that prices include, in percent; 0: they are before tax. With a column `tax included`, that of its rows. */
  tax: z.number().min(0).lt(100),
  currency: z.enum(CURRENCIES),
  audience: z.enum(AUDIENCES),
}
const statementsSchema = z.strictObject(statements)
/** What a person says of all prices of a file. */
export type Statements = z.infer<typeof statementsSchema>
export type Statement = keyof Statements
export const STATEMENTS: readonly Statement[] = ['tax', 'currency', 'audience']
/** A statement as a form has it. */
export const answerSchema = z.object({ ...statements, tax: z.coerce.number() }).partial()

/** A layout that a person has not confirmed yet: the statements that are not made are missing. */
export const draftSchema = z.object({ sheets: z.array(sheetSchema), ...statementsSchema.partial().shape })
export type Draft = z.infer<typeof draftSchema>

/** A confirmed layout. */
export const layoutSchema = z.strictObject({
  /** The sheets that are used. */
  sheets: z.array(sheetSchema).min(1),
  ...statements,
  /** The other sheets, and what the file says outside its tables: as `signOf` writes it, sorted. */
  otherSheets: z.array(z.string()),
  texts: z.array(z.string()),
  /** Who has confirmed it, and when (ISO 8601). */
  confirmedBy: z.string(),
  confirmedAt: z.iso.datetime(),
})
export type Layout = z.infer<typeof layoutSchema>

/** A month beside a number: `July 2026`, `1 Jul`. */
const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]*'
const DATE = new RegExp(
  `\\d+(?:st|nd|rd|th)?[\\s./-]*(?:of\\s+)?${MONTH}\\b|\\b${MONTH}[\\s.,/-]*\\d+(?:st|nd|rd|th)?|\\d{1,4}[./-]\\d{1,2}[./-]\\d{1,4}`,
  'g',
)

/**
 * A text as it is compared with those of another file: without dates and digits, which change from list to list. The digits
 * of a percentage and of `per 100` stay: they change what a price means.
 */
export const signOf = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replace(DATE, ' ')
    .replace(/(?<!\b(?:per|for)\s*|\/\s?|\d)[\d.,]*\d(?![\d.,]*\s*%)/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
