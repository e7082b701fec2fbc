/** Reads the form on which a person says how a file is to be read. */
import * as z from 'zod'
import { CURRENCIES, DECIMALS } from '../../tables/prices.ts'
import { badInput } from '../../web/errors.ts'
import { consistent } from './confirmation.ts'
import { AUDIENCES, type Column, type Draft, draftSchema, type SheetLayout, USES } from './layout.ts'
import type { SheetOutline } from './outline.ts'
import { texts } from './texts.ts'

const many = z.union([z.string().transform((value) => [value]), z.array(z.string())]).default([])
const number = z.coerce.number({ error: texts.rules.draft })

/** The answers to the questions, as the buttons of the page and the choices in the terminal have them. */
export const answersSchema = z.object({
  tax: number.min(0, texts.rules.draft).lt(100, texts.rules.draft).optional(),
  currency: z.enum(CURRENCIES, texts.rules.draft).optional(),
  audience: z.enum(AUDIENCES, texts.rules.draft).optional(),
})

/** The fields. Those of a column end with the numbers of its sheet and of the column, counted from 0: `use-0-2`. */
const formSchema = answersSchema
  .extend({
    /** The names of the sheets that are used. */
    sheet: many,
    /** The questions are answered again. */
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
  const used =
    form.sheet.length > 0 ? form.sheet.map((name) => readSheet(form, name, before, sheets)) : before.sheets
  const said = form.again === undefined ? before : { sheets: used }
  const { tax = said.tax, currency = said.currency, audience = said.audience } = form
  return consistent({
    sheets: used,
    ...(tax !== undefined && { tax }),
    ...(currency && { currency }),
    ...(audience && { audience }),
  })
}

function readSheet(form: Form, name: string, before: Draft, sheets: readonly SheetOutline[]): SheetLayout {
  const at = sheets.findIndex((sheet) => sheet.name === name)
  const outline = sheets[at]
  if (!outline) throw badInput('sheet', texts.rules.draft)
  const known = before.sheets.find((sheet) => sheet.name === name)
  // A sheet that was not used has no fields yet: its columns are suggested.
  if (!known) return { name, headingsRow: outline.headingsRow, decimal: 'point', columns: [] }
  const headingsRow = form[`headingsRow-${at}`] ?? known.headingsRow
  return {
    name,
    headingsRow: number.int().min(0).parse(headingsRow),
    decimal: DECIMALS.find((decimal) => decimal === form[`decimal-${at}`]) ?? known.decimal,
    columns: known.columns.map((column, index) =>
      readColumn(form, `${at}-${index}`, column, outline.columns[index]?.values ?? []),
    ),
  }
}

/** A column; `id`: what the names of its fields end with, `values`: its different cells. */
function readColumn(form: Form, id: string, column: Column, values: readonly string[]): Column {
  const said = form[`use-${id}`]
  if (said === undefined) return column
  const use = USES.find((known) => known === said)
  const { heading } = column
  switch (use) {
    case undefined:
      throw badInput(`use-${id}`, texts.rules.draft)
    case 'price is for this many':
      return { heading, use, divide: form[`divide-${id}`] === 'on' }
    case 'tax included':
    case 'not for sale if': {
      const ticked = many.parse(form[`yes-${id}`])
      const yes = values.filter((value) => ticked.includes(value))
      return { heading, use, ...flagValues(yes, values) }
    }
    default:
      return { heading, use }
  }
}

/** What the cells of a column mean, of which a person has chosen those that mean yes. */
export const flagValues = (yes: string[], values: readonly string[]) => ({
  yes,
  no: yes.length > 0 ? values.filter((value) => !yes.includes(value)) : [],
})
