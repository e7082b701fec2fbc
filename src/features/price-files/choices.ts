import { DECIMALS, type Decimal } from '../../tables/prices.ts'
import { badInput } from '../../web/errors.ts'
import { type Columns, FIELDS } from './columns.ts'
import type { Job } from './import-job.ts'
import type { Choices } from './questions.ts'
import { texts } from './texts.ts'

/**
 * How to read the file of a job, or the report of its problems, after its user has corrected rows in it: as the job's file
 * was read. What was not asked about the file may be asked about these rows.
 */
export function choicesOfCorrection({ columns, headings, decimal, choices }: Job): Choices {
  if (choices?.corrects) return choices
  return {
    columns,
    corrects: headings,
    isPriceConfirmed: true,
    headingsLine: choices?.headingsLine,
    sheet: choices?.sheet,
    gst: choices?.gst,
    decimal: decimal ?? undefined,
  }
}

/**
 * Reads from a form or JSON how to read a file: zero-based columns, and `headingsLine`, `sheet`, `decimal` and `gst`. An
 * empty value means no choice, and so does a sheet or a row that was recognised. Undefined if nothing is chosen.
 * Throws `invalid_input` (400).
 */
export function readChoices(body: unknown, job: Job): Choices | undefined {
  const given = (body ?? {}) as Record<string, unknown>
  const textOf = (name: string) => {
    const value = given[name] ?? ''
    if (typeof value !== 'string' && typeof value !== 'number') throw badInput(name, texts.rules.textOrNumber)
    return String(value).trim()
  }
  const sheet = textOf('sheet')
  const isOtherSheet = sheet !== '' && sheet !== job.sheet
  const line = textOf('headingsLine')
  const headingsLine = line === '' ? undefined : wholeNumber(line, 'headingsLine', texts.rules.headingsLine)
  const isOtherLine = headingsLine !== undefined && headingsLine !== job.headingsLine
  const wasChosen = job.choices?.headingsLine !== undefined || job.questions.includes('headings')
  const sheetWasChosen = job.choices?.sheet !== undefined || job.questions.includes('sheet')
  const columns = readColumns(given, job.headings.length)
  const choices: Choices = {
    // Columns that were chosen among other headings do not count.
    columns: isOtherSheet || isOtherLine ? undefined : columns,
    isPriceConfirmed: columns && !isOtherSheet && !isOtherLine ? confirmsPrice(columns, job) : undefined,
    // On another sheet, the headings are recognised anew.
    headingsLine: isOtherLine || (wasChosen && !isOtherSheet) ? headingsLine : undefined,
    sheet: isOtherSheet || sheetWasChosen ? sheet || undefined : undefined,
    decimal: decimalOf(textOf('decimal')),
    gst: gstOf(textOf('gst')),
  }
  return Object.values(choices).some((value) => value !== undefined) ? choices : undefined
}

/** Whether these columns answer which one has the prices: it was asked, or another one is chosen than the recognised one. */
const confirmsPrice = ({ price }: Columns, { columns, choices, isPriceDoubtful }: Job): boolean =>
  isPriceDoubtful || choices?.isPriceConfirmed === true || price !== columns.price

function readColumns(given: Record<string, unknown>, width: number): Columns | undefined {
  const columns: Columns = {}
  for (const field of FIELDS) {
    const value = given[field] ?? ''
    if (value === '') continue
    const message = texts.rules.column
    const column = typeof value === 'number' ? value : wholeNumber(String(value), field, message)
    if (!Number.isInteger(column) || column < 0 || column >= width) throw badInput(field, message)
    columns[field] = column
  }
  return FIELDS.some((field) => given[field] !== undefined) ? columns : undefined
}

function wholeNumber(text: string, field: string, message: string): number {
  if (!/^\d{1,7}$/.test(text)) throw badInput(field, message)
  return Number(text)
}

function decimalOf(text: string): Decimal | undefined {
  if (text === '') return undefined
  const decimal = DECIMALS.find((known) => known === text)
  if (!decimal) throw badInput('decimal', texts.rules.decimal(DECIMALS))
  return decimal
}

function gstOf(text: string): number | undefined {
  if (text === '') return undefined
  const gst = Number(text)
  if (!(gst >= 0 && gst < 100)) throw badInput('gst', texts.rules.gst)
  return gst
}
