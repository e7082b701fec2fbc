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

/** A column with this use; another use than before has no answers yet. */
export const withUse = (column: Column, use: Use): Column =>
  use === column.use ? column : columnFor(column.heading, use)

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
  /** The names of the other sheets. */
  otherSheets: z.array(z.string()),
  /** What the file says outside its tables: as `signOf` writes it, sorted. */
  texts: z.array(z.string()),
  /** When a person has confirmed it (ISO 8601). Not who: it belongs to the supplier, and outlives its users. */
  confirmedAt: z.iso.datetime(),
})
export type Layout = z.infer<typeof layoutSchema>

/** A month beside a number: `July 2026`, `1 Jul`. Not the `dec` of `decking`, and no percentage. */
const MONTH =
  '(?<![a-z])(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])'
const PERCENT = '[\\d.,]*(?:\\s*[-–/]\\s*[\\d.,]+)*\\s*(?:%|pct|per\\s?cent)'
const DATE = new RegExp(
  `(?<!\\d)\\d{1,2}(?:st|nd|rd|th)?(?:[\\s.]*(?:of\\s+)?|[/-])${MONTH}|${MONTH}[\\s.,/-]*\\d+(?:st|nd|rd|th)?(?!${PERCENT})|\\d{1,4}[./-]\\d{1,2}[./-]\\d{1,4}(?!${PERCENT})`,
  'g',
)
/** How many a price is for, up to a number or into its digits: `per 100`, `(per box of 1 000)`, `per pack: 10`, `/100`. */
const QUANTITY =
  '\\bper[\\s:(-]*(?:[a-z]+[\\s:(]+(?:of\\s+)?)?[\\d.,\\s]*|\\bfor[\\s:(-]*(?:[a-z]+\\s+of\\s+)?[\\d.,\\s]*|/\\s?[\\d.,]*'
/** A percentage whose sign is first: `GST %: 10`, and the cells `GST %` and `10`. */
const SIGN_FIRST = '(?:%|per\\s?cent)[\\s:·(-]*[\\d.,]*'
/** A number, but not that of a percentage or of a quantity, and not that of `m2` and `m3`. */
const NUMBER = new RegExp(
  `(?<!${QUANTITY}|${SIGN_FIRST}|\\d)(?!(?<=\\b[ckm]?m)[23]\\b)[\\d.,]*\\d(?!${PERCENT})`,
  'g',
)

/** How much of a text may have digits that do not count, in characters: its dates are searched for. */
const TITLE = 2_000

/**
 * A text as it is compared with those of another file: without dates and digits, which change from list to list. The digits
 * of a percentage, of `per 100` and of `m2` stay: they change what a price means.
 */
export function signOf(text: string): string {
  const lower = text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ')
  const title = lower.slice(0, TITLE).replace(DATE, ' ').replace(NUMBER, ' ')
  return `${title}${lower.slice(TITLE)}`.replace(/\s+/g, ' ').trim()
}

/** The different signs of these texts, sorted. Digits alone are none. */
export const signsOf = (found: readonly string[]): string[] =>
  [...new Set(found.map(signOf))].filter(Boolean).sort()
