/** Asks in the terminal how a price file is to be read, in the order of the page. */
import type { Readable, Writable } from 'node:stream'
import { confirm as askYesNo, isCancel, multiselect, select, text } from '@clack/prompts'
import { CURRENCIES } from '../../tables/prices.ts'
import type { Check } from './check-rows.ts'
import { columnsProblem, isComplete } from './confirmation.ts'
import { describeColumns, describeRows, describeStatements, describeTexts, nameOf } from './describe.ts'
import { AUDIENCES, type Column, type Draft, type SheetLayout, type Statements, USES } from './layout.ts'
import type { SheetOutline } from './outline.ts'
import { suggestSheet } from './suggestions.ts'
import { texts } from './texts.ts'

export interface Terminal {
  input: Readable
  output: Writable
  /** Prints lines. */
  print(...lines: string[]): void
}

/** The person has ended the questions: nothing is confirmed. */
class NotConfirmedError extends Error {
  constructor() {
    super(texts.confirm.cancelled)
  }
}

interface Choice<T> {
  value: T
  label: string
}

/** Asks for one of several answers, none of which is preselected. Throws `NotConfirmedError`. */
async function choose<T extends string | number | boolean>(
  { input, output }: Terminal,
  message: string,
  choices: Choice<T>[],
): Promise<T> {
  const options = [
    { value: -1, label: texts.confirm.choose },
    ...choices.map(({ label }, value) => ({ value, label })),
  ]
  for (;;) {
    const chosen = await select<number>({ input, output, message, options })
    if (isCancel(chosen)) throw new NotConfirmedError()
    const choice = choices[chosen]
    if (choice) return choice.value
  }
}

/**
 * Asks until a person has confirmed how the file is read. `read` reads it again, as a draft says. Throws `NotConfirmedError`,
 * and the errors of `read`.
 */
export async function askForLayout(
  terminal: Terminal,
  first: Check,
  read: (draft: Draft) => Promise<Check>,
): Promise<{ check: Check; draft: Draft & Statements }> {
  const { confirm } = texts
  let check = first
  for (;;) {
    terminal.print(...describeTexts(check))
    let draft = await askForColumns(terminal, check)
    check = await read(draft)
    const problem = columnsProblem(draft) ?? check.problem
    if (problem) {
      terminal.print(problem)
      continue
    }
    draft = await askForStatements(terminal, draft)
    if (!isComplete(draft)) continue
    check = await read(draft)
    terminal.print(
      describeStatements(draft),
      ...check.outline.remarks,
      ...check.remarks,
      ...describeRows(check),
    )
    const { input, output } = terminal
    const isRight = await askYesNo({ input, output, message: `${confirm.right}?`, initialValue: false })
    if (isCancel(isRight)) throw new NotConfirmedError()
    if (isRight) return { check, draft }
  }
}

/** Shows the columns of the sheets that are used, and changes them until the person says that they are right. */
async function askForColumns(terminal: Terminal, check: Check): Promise<Draft> {
  const { confirm } = texts
  const { outline } = check
  let { draft } = check
  if (outline.sheets.length > 1) draft = { ...draft, sheets: await askForSheets(terminal, check) }
  for (;;) {
    terminal.print(...describeColumns(check, draft))
    const places = draft.sheets.flatMap((sheet, at) =>
      sheet.columns.map((column, index) => ({ sheet, at, column, index })),
    )
    const choices = [
      { value: -1, label: confirm.useColumns },
      ...places.map(({ column, index }, value) => ({
        value,
        label: `${confirm.change}: ${nameOf(column, index)}`,
      })),
    ]
    const chosen = places[await choose(terminal, confirm.columnsTitle, choices)]
    if (!chosen) return draft
    const { sheet, at, column, index } = chosen
    const own = outline.sheets.find(({ name }) => name === sheet.name)
    const changed = await askForUse(terminal, column, own?.columns[index]?.values ?? [])
    const columns = sheet.columns.with(index, changed)
    draft = { ...draft, sheets: draft.sheets.with(at, { ...sheet, columns }) }
  }
}

async function askForSheets({ input, output }: Terminal, { outline, draft }: Check): Promise<SheetLayout[]> {
  const options = outline.sheets.map(({ name }) => ({ value: name, label: name }))
  const initialValues = draft.sheets.map(({ name }) => name)
  const chosen = await multiselect({ input, output, message: texts.confirm.sheets, options, initialValues })
  if (isCancel(chosen)) throw new NotConfirmedError()
  const layoutOf = (sheet: SheetOutline) =>
    draft.sheets.find(({ name }) => name === sheet.name) ?? suggestSheet(sheet)
  return outline.sheets.filter(({ name }) => chosen.includes(name)).map(layoutOf)
}

async function askForUse(
  terminal: Terminal,
  { heading }: Column,
  values: readonly string[],
): Promise<Column> {
  const { confirm } = texts
  const use = await choose(
    terminal,
    `${confirm.use}: ${heading}`,
    USES.map((value) => ({ value, label: texts.uses[value] })),
  )
  if (use === 'price is for this many') {
    const choices = [
      { value: false, label: confirm.reject },
      { value: true, label: confirm.divide },
    ]
    return { heading, use, divide: await choose(terminal, texts.uses[use], choices) }
  }
  if (use !== 'tax included' && use !== 'not for sale if') return { heading, use }
  const { input, output } = terminal
  const options = values.map((value) => ({ value, label: value || confirm.blank }))
  if (options.length === 0) return { heading, use, yes: [], no: [] }
  const yes = await multiselect({ input, output, message: confirm.yes[use], options })
  if (isCancel(yes)) throw new NotConfirmedError()
  return { heading, use, yes, no: values.filter((value) => !yes.includes(value)) }
}

const OTHER_RATE = -1

async function askForRate({ input, output }: Terminal): Promise<number> {
  const isRate = (value = '') => Number(value) > 0 && Number(value) < 100
  const rate = await text({
    input,
    output,
    message: texts.confirm.otherRate,
    validate: (value) => (isRate(value) ? undefined : texts.rules.tax),
  })
  if (isCancel(rate)) throw new NotConfirmedError()
  return Number(rate)
}

/** Asks the three questions, one after the other, as far as they are open. */
async function askForStatements(terminal: Terminal, draft: Draft): Promise<Draft> {
  const { questions, beforeTax, including, otherRate, currencies, audiences } = texts.confirm
  const hasTaxColumn = draft.sheets.some(({ columns }) => columns.some(({ use }) => use === 'tax included'))
  if (draft.sheets.length > 1) terminal.print(texts.confirm.everySheet)
  const rates = (hasTaxColumn ? [10, 15] : [0, 10, 15]).map((value) => ({
    value,
    label: value === 0 ? beforeTax : including(value),
  }))
  const choices = [...rates, { value: OTHER_RATE, label: otherRate }]
  const chosen = draft.tax ?? (await choose(terminal, questions.tax, choices))
  const tax = chosen === OTHER_RATE ? await askForRate(terminal) : chosen
  const currency =
    draft.currency ??
    (await choose(
      terminal,
      questions.currency,
      CURRENCIES.map((value) => ({ value, label: currencies[value] })),
    ))
  const audience =
    draft.audience ??
    (await choose(
      terminal,
      questions.audience,
      AUDIENCES.map((value) => ({ value, label: audiences[value] })),
    ))
  return { sheets: draft.sheets, tax, currency, audience }
}
