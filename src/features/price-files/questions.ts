import { type Decimal, shorten } from '../../tables/prices.ts'
import {
  type ColumnGuess,
  type Columns,
  doubtsPrice,
  FIELDS,
  isTitlePerSeveral,
  REQUIRED,
} from './columns.ts'
import type { Headings, Note } from './headings.ts'
import {
  includedTaxColumn,
  mayIncludeTax,
  saysTaxExcluded,
  saysTaxIncluded,
  saysTaxOfSome,
  taxColumns,
  taxMarkOf,
} from './tax.ts'
import { texts } from './texts.ts'

/** How to read a file, as far as its user has chosen; the rest is recognised. */
export interface Choices {
  columns?: Columns | undefined
  /**
   * Whether the user has answered which column has the prices: then notes that doubt it do not count. By default, whoever
   * chooses columns has.
   */
  isPriceConfirmed?: boolean | undefined
  /** The headings of the file whose rows were corrected: `columns` are those of that file. */
  corrects?: string[] | undefined
  /** The line of the headings; 0 if the file has none. */
  headingsLine?: number | undefined
  /** The name or the number, counted from 1, of the sheet of a workbook. */
  sheet?: string | undefined
  decimal?: Decimal | undefined
  /** The tax that the prices include, in percent: it is removed. 0 sends the prices as they are. */
  gst?: number | undefined
}

/** What only the user can know. */
export const QUESTIONS = ['sheet', 'headings', 'columns', 'decimal', 'gst'] as const
export type Question = (typeof QUESTIONS)[number]

/** Whether notes that doubt the prices have been answered. */
export const isPriceConfirmed = ({ columns, isPriceConfirmed }: Choices): boolean =>
  isPriceConfirmed ?? columns !== undefined

/** What was recognised in a file. */
export interface Recognised {
  columns: Columns
  choices: Choices
  place: Headings
  guess: ColumnGuess
  items: readonly string[][]
  hiddenColumns: readonly number[]
  sheetQuestion: string | undefined
}

/** The questions about a file: which, and as user-facing sentences. */
export function questionsOf({
  columns,
  choices,
  place,
  guess,
  items,
  hiddenColumns,
  sheetQuestion,
}: Recognised) {
  const questions: Question[] = []
  const mappingErrors: string[] = []
  const ask = (question: Question, errors: string[]) => {
    if (errors.length === 0) return
    questions.push(question)
    mappingErrors.push(...errors)
  }
  if (sheetQuestion) ask('sheet', [sheetQuestion])
  if (place.isUnsure) ask('headings', [texts.questions.headings])
  ask('columns', choices.columns ? columnErrors(columns, place.headings) : guess.mappingErrors)
  const heading = place.headings[columns.price ?? -1] ?? ''
  const doubt = place.notes.find(
    ([, note, isName]) => doubtsPrice(note, heading, isName) || (!isName && isTitlePerSeveral(note)),
  )
  const isHidden = hiddenColumns.includes(columns.price ?? -1)
  const isPriceDoubtful =
    (doubt !== undefined || isHidden) && !isPriceConfirmed(choices) && !questions.includes('columns')
  if (isPriceDoubtful)
    ask('columns', [doubt ? priceQuestion(doubt, heading) : texts.questions.hiddenPrice(heading)])
  if (columns.price !== undefined && choices.gst === undefined) {
    const question = taxQuestion(place, columns.price, items)
    if (question) ask('gst', [question])
  }
  return { questions, mappingErrors, isPriceDoubtful }
}

/** Asks if the recognised column has the prices, because a note says that it may not. */
export const priceQuestion = ([where, note]: Note, heading: string) =>
  texts.questions.price(shorten(note.trim(), 60), where, heading)

/** Asks about tax, if something says that prices include it. */
function taxQuestion({ headings, notes }: Headings, price: number, items: readonly string[][]) {
  const heading = headings[price] ?? ''
  if (saysTaxIncluded(heading)) return texts.questions.taxInHeading(heading)
  if (mayIncludeTax(heading)) return texts.questions.taxMaybeInHeading(heading)
  const isExcluded = saysTaxExcluded(heading)
  const note = notes.find(([, text]) => (isExcluded ? saysTaxOfSome(text) : saysTaxIncluded(text)))
  if (note) return texts.questions.taxInNote(note[0])
  if (isExcluded) return undefined
  const flag = taxColumns(headings, price).find((column) =>
    items.some((cells) => taxMarkOf(headings[column] ?? '', cells[column] ?? '') === 'included'),
  )
  const column = flag ?? includedTaxColumn(headings, price, items)
  return column === undefined ? undefined : texts.questions.taxInColumn(headings[column] ?? '')
}

/** The problems with chosen columns. */
function columnErrors(columns: Columns, headings: readonly string[]): string[] {
  const errors = REQUIRED.filter((field) => columns[field] === undefined).map((field) =>
    texts.questions.column(texts.fields[field]),
  )
  const chosen = FIELDS.flatMap((field) => columns[field] ?? [])
  if (chosen.some((column) => column >= headings.length)) errors.push(texts.questions.columnNotInFile)
  if (new Set(chosen).size < chosen.length) errors.push(texts.questions.sameColumn)
  return errors
}
