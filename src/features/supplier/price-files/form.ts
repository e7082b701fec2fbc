/** Page one as a form: what is filled in, and what it says of how the file is to be read. Pure. */
import * as z from 'zod'
import { badInput } from '../../../web/kit.ts'
import { type Draft, draftSchema, FIELD_USES, USES } from './choice.ts'
import type { Outline, OutlineColumn } from './found.ts'
import { texts } from './texts.ts'

/**
 * The fields: `sheet`, `headingsRow`, `units`, `money` and `decimal`; `use-3`, the use of the third column; `tick-3`, the places
 * of its values that are ticked, in the list that the page shows; `moneyOf`, the number of the column that the question about money
 * named, if it named one.
 */
const formSchema = z.record(
  z.string(),
  z.union([z.string().transform((value) => [value]), z.array(z.string())]),
)

/** Page one as it is filled in: all texts, as they were typed. */
export interface Filled {
  sheet: string
  headingsRow: string
  units: string
  money: string
  decimal: string
  columns: FilledColumn[]
}
interface FilledColumn extends OutlineColumn {
  said: string
  /** The places of the ticked values. */
  ticks: string[]
}

/** Page one as the file and the last choice fill it in, or as a form was. Throws a `ZodError` if it is no form. */
export function filledIn(outline: Outline, body?: unknown): Filled {
  const form = formSchema.optional().parse(body)
  const said = (name: string, before: string) => form?.[name]?.[0]?.trim() ?? before
  const columns = outline.columns.map((column) => ({
    ...column,
    said: said(`use-${column.number}`, column.use),
    ticks: form
      ? (form[`tick-${column.number}`] ?? [])
      : (column.values ?? []).flatMap(({ value }, at) => (column.ticked.includes(value) ? [String(at)] : [])),
  }))
  const price = String(columns.find((column) => column.said === 'price')?.number ?? '')
  const asked = said('moneyOf', String(outline.columns.find(({ use }) => use === 'price')?.number ?? ''))
  return {
    sheet: form?.sheet?.[0] ?? outline.sheet,
    headingsRow: said('headingsRow', String(outline.headingsRow)),
    units: said('units', String(outline.units)),
    // An answer is about the column that the question named, and about no other.
    money: form && price !== asked ? '' : said('money', form ? '' : (outline.money ?? '')),
    decimal: said('decimal', outline.decimal ?? ''),
    columns,
  }
}

/**
 * What page one says of how the file is to be read. The columns of another sheet or heading row are others, so they are suggested
 * anew. Throws `invalid_input` (400) with the field.
 */
export function readDraft(outline: Outline, filled: Filled): Draft {
  const headingsRow = numberIn(filled, 'headingsRow', 0)
  const isOther = filled.sheet !== outline.sheet || headingsRow !== outline.headingsRow
  const columns = isOther ? [] : filled.columns
  for (const { said, number } of columns)
    if (!USES.some((use) => use === said)) throw badInput(`use-${number}`, texts.rules.choice)
  const usedAs = (use: string) => columns.filter(({ said }) => said === use)
  const once = (use: keyof typeof texts.uses) => {
    const [first, second] = usedAs(use)
    if (second) throw badInput(`use-${second.number}`, texts.rules.once(texts.uses[use]))
    return first
  }
  const fields = FIELD_USES.flatMap((use) => {
    const column = once(use)
    return column ? [[use, { heading: column.heading, number: column.number }]] : []
  })
  const taxed = once('taxed')
  const draft = draftSchema.safeParse({
    ...Object.fromEntries(fields),
    sheet: filled.sheet,
    headingsRow,
    only: usedAs('only').map(ticked),
    ...(taxed && { taxed: ticked(taxed) }),
    ...(filled.money !== '' && { money: filled.money }),
    units: numberIn(filled, 'units', 1),
    decimal: filled.decimal === '' ? null : filled.decimal,
  })
  if (!draft.success) throw badInput(String(draft.error.issues[0]?.path[0]), texts.rules.choice)
  return draft.data
}

/** The number of a field, as digits. */
function numberIn(filled: Filled, field: 'headingsRow' | 'units', least: number): number {
  const number = /^\d{1,7}$/.test(filled[field]) ? Number(filled[field]) : Number.NaN
  if (!(number >= least)) throw badInput(field, texts.rules[field])
  return number
}

const ticked = ({ heading, number, values, ticks }: FilledColumn) => ({
  heading,
  number,
  values: (values ?? []).flatMap(({ value }, at) => (ticks.includes(String(at)) ? [value] : [])),
})
