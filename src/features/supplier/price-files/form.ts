/** Page one as a form: how it is filled in, and what it says about how to read the file. All functions are pure. */
import * as z from 'zod'
import { badInput } from '../../../web/kit.ts'
import { columnFor, type Draft, draftSchema } from './choice.ts'
import type { Outline, OutlineColumn } from './found.ts'
import { texts } from './texts.ts'

/**
 * The fields are `sheet`, `headingsRow`, `units`, `money` and `decimal`. `use-3` is the use of the third column. `tick-3` has the
 * places of its ticked values in the list that the page shows. `moneyOf` is the number of the column that the question about money
 * named, if it named one.
 */
const formSchema = z.record(
  z.string(),
  z.union([z.string().transform((value) => [value]), z.array(z.string())]),
)

/** Page one as it is filled in, with all values as they were typed. */
export interface Filled extends Record<'sheet' | 'headingsRow' | 'units' | 'money' | 'decimal', string> {
  columns: FilledColumn[]
}
type FilledColumn = Omit<OutlineColumn, 'use'> & { use: string }

/** Page one as a form filled it in, or else as the file and the last choice do. Throws a `ZodError` if `body` is no form. */
export function filledIn(outline: Outline, body?: unknown): Filled {
  const form = formSchema.optional().parse(body)
  const said = (field: string, filled: string | number | null = '') =>
    form?.[field]?.[0] ?? String(filled ?? '')
  const columns = outline.columns.map((column): FilledColumn => {
    const ticks = form?.[`tick-${column.number}`] ?? []
    const ticked = ticks.flatMap((at) => column.values?.[Number(at)]?.value ?? [])
    return { ...column, use: said(`use-${column.number}`, column.use), ticked: form ? ticked : column.ticked }
  })
  const numberOf = (all: { use: string; number: number }[]) =>
    columnFor({ columns: all }, 'price')?.number ?? ''
  // An answer about money counts only for the column that the question named.
  const isOther = form && String(numberOf(columns)) !== said('moneyOf', numberOf(outline.columns))
  return {
    sheet: said('sheet', outline.sheet),
    headingsRow: said('headingsRow', outline.headingsRow),
    units: said('units', outline.units),
    money: isOther ? '' : said('money', outline.money),
    decimal: said('decimal', outline.decimal),
    columns,
  }
}

/**
 * What page one says about how to read the file. Another sheet or heading row has other columns, so they are suggested anew.
 * Throws `invalid_input` (400) with the field.
 */
export function readDraft(outline: Outline, filled: Filled): Draft {
  const headingsRow = numberIn(filled.headingsRow)
  const isOther = filled.sheet !== outline.sheet || headingsRow !== outline.headingsRow
  const used = isOther ? [] : filled.columns.filter(({ use }) => use !== 'ignored')
  const draft = draftSchema.safeParse({
    sheet: filled.sheet,
    headingsRow,
    columns: used.map(({ heading, number, use, ticked }) => ({
      ...{ heading, number, use },
      ...((use === 'only' || use === 'taxed') && { values: ticked }),
    })),
    money: filled.money || null,
    units: numberIn(filled.units),
    decimal: filled.decimal || null,
  })
  if (draft.success) return draft.data
  const { path: [field, place] = [], code } = draft.error.issues[0] ?? {}
  const column = used[Number(place)]
  if (column)
    throw badInput(`use-${column.number}`, code === 'custom' ? texts.rules.once : texts.rules.choice)
  const isNumber = field === 'headingsRow' || field === 'units'
  throw badInput(String(field), isNumber ? texts.rules[field] : texts.rules.choice)
}

/** The number in a field, which must be digits; NaN if it is not. */
const numberIn = (text: string): number => (/^\s*\d{1,7}\s*$/.test(text) ? Number(text) : Number.NaN)
