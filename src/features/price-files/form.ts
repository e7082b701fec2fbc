/** Reads the form on which a person says how a file is to be read. */
import * as z from 'zod'
import { CURRENCIES, DECIMALS } from '../../tables/prices.ts'
import { badInput } from '../../web/errors.ts'
import {
  AUDIENCES,
  type Column,
  type Draft,
  draftSchema,
  type SheetLayout,
  STATEMENTS,
  USES,
} from './layout.ts'
import type { SheetOutline } from './outline.ts'
import { suggestSheet } from './suggestions.ts'
import { texts } from './texts.ts'

const many = z.union([z.string().transform((value) => [value]), z.array(z.string())]).default([])
const number = z.coerce.number({ error: texts.rules.draft })

/** The fields. Those of a column end with the numbers of its sheet and of the column, counted from 0: `use-0-2`. */
const formSchema = z
  .object({
    /** The names of the sheets that are used. */
    sheet: many,
    /** What a button answers, or that the statements are made again. */
    tax: z.preprocess(
      (value) => value || undefined,
      number.min(0, texts.rules.tax).lt(100, texts.rules.tax).optional(),
    ),
    /** Another tax than those of the buttons. */
    rate: z.preprocess(
      (value) => value || undefined,
      number.gt(0, texts.rules.tax).lt(100, texts.rules.tax).optional(),
    ),
    currency: z.enum(CURRENCIES, texts.rules.draft).optional(),
    audience: z.enum(AUDIENCES, texts.rules.draft).optional(),
    again: z.string().optional(),
  })
  .catchall(z.union([z.string(), z.array(z.string())]))
type Form = z.infer<typeof formSchema>

/**
 * What a request says of how the file is to be read: as JSON `{draft}`, or with the fields of the page, of which only those
 * change the draft that are there. Throws `invalid_input` (400).
 */
export function readDraft(body: unknown, before: Draft, sheets: readonly SheetOutline[]): Draft {
  if (typeof body === 'object' && body !== null && 'draft' in body) return draftSchema.parse(body.draft)
  const form = formSchema.parse(body ?? {})
  const draft: Draft = {
    ...before,
    sheets: form.sheet.length > 0 ? sheetsOf(form, before, sheets) : before.sheets,
  }
  for (const statement of STATEMENTS) if (form.again !== undefined) delete draft[statement]
  const { tax = form.rate ?? draft.tax, currency = draft.currency, audience = draft.audience } = form
  const hasTaxColumn = draft.sheets.some(({ columns }) => columns.some(({ use }) => use === 'tax included'))
  return {
    sheets: draft.sheets,
    // A column says which prices include tax, so that none of them is before tax is no answer any more.
    ...(tax === undefined || (tax === 0 && hasTaxColumn) ? {} : { tax }),
    ...(currency && { currency }),
    ...(audience && { audience }),
  }
}

function sheetsOf(form: Form, before: Draft, sheets: readonly SheetOutline[]): SheetLayout[] {
  return form.sheet.map((name) => {
    const index = sheets.findIndex((sheet) => sheet.name === name)
    const outline = sheets[index]
    if (!outline) throw badInput('sheet', texts.rules.draft)
    const known = before.sheets.find((sheet) => sheet.name === name)
    // A sheet that was not used has no fields yet.
    return known ? readSheet(form, index, known, outline) : suggestSheet(outline)
  })
}

function readSheet(form: Form, index: number, before: SheetLayout, outline: SheetOutline): SheetLayout {
  const text = (field: string) => z.string().optional().parse(form[field])
  const decimal = z
    .enum(DECIMALS, texts.rules.draft)
    .default(before.decimal)
    .parse(text(`decimal-${index}`))
  const headingsRow = number
    .int()
    .min(0)
    .default(before.headingsRow)
    .parse(text(`headingsRow-${index}`))
  const columns = before.columns.map((column, at): Column => {
    const [use, field] = [text(`use-${index}-${at}`), `use-${index}-${at}`]
    if (use === undefined) return column
    const found = USES.find((known) => known === use)
    if (!found) throw badInput(field, texts.rules.draft)
    const { heading } = column
    if (found === 'price is for this many')
      return { heading, use: found, divide: text(`divide-${index}-${at}`) === 'on' }
    if (found !== 'tax included' && found !== 'not for sale if') return { heading, use: found }
    const values = outline.columns[at]?.values ?? []
    const yes = many.parse(form[`yes-${index}-${at}`]).filter((value) => values.includes(value))
    return {
      heading,
      use: found,
      yes,
      no: yes.length > 0 ? values.filter((value) => !yes.includes(value)) : [],
    }
  })
  return { ...before, decimal, headingsRow, columns }
}
