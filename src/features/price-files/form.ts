/** Reads the form on which a person says how a file is to be read. */
import * as z from 'zod'
import { DECIMALS } from '../../tables/prices.ts'
import { badInput } from '../../web/kit.ts'
import { type Column, type Draft, draftSchema, type SheetLayout, USES, withUse } from './layout.ts'
import type { SheetOutline } from './outline.ts'
import { type Question, questionsOf } from './questions.ts'
import { texts } from './texts.ts'

/**
 * The fields: `sheet`, the names of the sheets that are used; `use-0-2`, the use of a column by the numbers of its sheet and
 * its own, counted from 0; `headingsRow-0` and `decimal-0`; those of the questions; `again`, the name of a question that is
 * open again.
 */
const formSchema = z.record(
  z.string(),
  z.union([z.string().transform((value) => [value]), z.array(z.string())]),
)
type Form = z.infer<typeof formSchema>

/**
 * What a request says of how the file is to be read: as JSON `{draft}`, or with the fields of the page, of which only those
 * change the draft that are there. Throws `invalid_input` (400).
 */
export function readDraft(body: unknown, before: Draft, outline: readonly SheetOutline[]): Draft {
  if (typeof body === 'object' && body !== null && 'draft' in body) return draftSchema.parse(body.draft)
  const form = formSchema.parse(body ?? {})
  const sheets = form.sheet?.map((name) => readSheet(form, name, before, outline)) ?? before.sheets
  let draft: Draft = { ...before, sheets }
  for (const { name } of questionsOf(draft, outline)) {
    const said = form.again?.includes(name) ? [] : form[name]
    const questionIn = (one: Draft) => questionsOf(one, outline).find((question) => question.name === name)
    if (said && offers(questionIn(draft), said)) draft = questionIn(draft)?.answered(draft, said) ?? draft
    // The same form may have changed a column so that this is no answer any more: then the columns count.
    else if (said && !offers(questionIn(before), said)) throw badInput(name, texts.rules.draft)
  }
  return draft
}

/** Whether all these values are among the choices of a question. */
const offers = (question: Question | undefined, said: readonly string[]): boolean =>
  said.every((value) => question?.choices.some(([choice]) => choice === value))

function readSheet(form: Form, name: string, before: Draft, outline: readonly SheetOutline[]): SheetLayout {
  const at = outline.findIndex((sheet) => sheet.name === name)
  const seen = outline[at]
  if (!seen) throw badInput('sheet', texts.rules.draft)
  const known = before.sheets.find((sheet) => sheet.name === name)
  // A sheet that was not used has no fields yet: its columns are suggested.
  if (!known) return newSheet(seen)
  const headingsRow = Number(form[`headingsRow-${at}`]?.[0] ?? known.headingsRow)
  if (!Number.isInteger(headingsRow) || headingsRow < 0)
    throw badInput(`headingsRow-${at}`, texts.rules.headingsRow)
  const [decimal] = form[`decimal-${at}`] ?? []
  return {
    name,
    headingsRow,
    decimal: DECIMALS.find((one) => one === decimal) ?? known.decimal,
    columns: known.columns.map((column, index) => readColumn(form, `use-${at}-${index}`, column)),
  }
}

/** A sheet that a person wants to use; its columns are suggested when the file is read. */
export const newSheet = ({ name, headingsRow }: SheetOutline): SheetLayout => ({
  name,
  headingsRow,
  decimal: 'point',
  columns: [],
})

function readColumn(form: Form, field: string, column: Column): Column {
  const [said = column.use] = form[field] ?? []
  const use = USES.find((known) => known === said)
  if (use === undefined) throw badInput(field, texts.rules.draft)
  return withUse(column, use)
}
