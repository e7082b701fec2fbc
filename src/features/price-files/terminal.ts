/** What a person confirms, in the terminal: the same as on the page, in the same order. */
import type { Readable, Writable } from 'node:stream'
import { confirm as askYesNo, isCancel, multiselect, select } from '@clack/prompts'
import { format } from '../../web/format.ts'
import type { Check } from './check-rows.ts'
import { consistent, isComplete } from './confirmation.ts'
import { answersSchema, flagValues } from './form.ts'
import { type Column, type Draft, type SheetLayout, type Statements, USES } from './layout.ts'
import { describeStatements, openQuestions, type Question } from './questions.ts'
import { texts } from './texts.ts'

const { confirm } = texts

export interface Terminal {
  input: Readable
  output: Writable
  /** Prints lines. */
  print(...lines: string[]): void
}

/** How a file differs from the confirmed one, and everything that it says outside its tables. */
function describeTexts({ outline, differences }: Check): string[] {
  const sheets = outline.sheets.flatMap(({ name, isUsed, texts: said }) => [
    ...(name === '' ? [] : [`${confirm.sheetSays(name)}${isUsed ? '' : ` (${confirm.notUsed})`}`]),
    ...said.map((text) => `  ${text}`),
  ])
  const changed = differences.map((difference) => `  ${difference}`)
  return [
    ...(changed.length > 0 ? [confirm.changed, ...changed] : []),
    `${confirm.says}:`,
    ...(sheets.length > 0 ? sheets : [`  ${confirm.saysNothing}`]),
  ]
}

/** Each column of the sheets that are used, with some of its cells and its use. */
const describeColumns = ({ outline, draft }: Pick<Check, 'outline' | 'draft'>): string[] =>
  draft.sheets.flatMap(({ name, columns }) => {
    const own = outline.sheets.find((sheet) => sheet.name === name)
    const lines = columns.map((column, index) => {
      const samples = own?.columns[index]?.samples.join(' · ') ?? ''
      return `  ${nameOf(column, index)} (${samples || '—'}): ${useOf(column)}`
    })
    return [`${name === '' ? confirm.columnsTitle : confirm.columnsOf(name)}:`, ...lines]
  })

const nameOf = ({ heading }: Column, index: number): string => heading || confirm.columnNumber(index + 1)

function useOf(column: Column): string {
  const use = texts.uses[column.use]
  if ('yes' in column) return `${use} ${column.yes.map((value) => value || confirm.blank).join(', ')}`
  return 'divide' in column && column.divide ? `${use}; ${confirm.divide}` : use
}

/** The rows as they will be sent, beside the cells that they come from. */
const describeRows = ({ preview }: Check): string[] => [
  `${confirm.rows}:`,
  ...preview.map(
    ({ line, item, cells }) =>
      `  ${line}: ${cells.join(' | ')}  →  ${[item.code, item.name, item.unit].filter(Boolean).join(', ')}: ${item.price}`,
  ),
]

/** What would have to be confirmed, for a command without a terminal. `how`: the command that asks in a terminal. */
export const describeUnconfirmed = (check: Check, how: string): string[] => [
  confirm.notConfirmed,
  ...describeTexts(check),
  ...describeColumns(check),
  ...(check.problem === null ? [] : [check.problem]),
  ...openQuestions(check.draft).map(({ text }) => text),
  confirm.howInTerminal(how),
]

/** The person has ended the questions: nothing is confirmed. */
class NotConfirmedError extends Error {
  constructor() {
    super(confirm.cancelled)
  }
}

const isAnswer = <T>(answer: T): answer is Exclude<T, symbol> => !isCancel(answer)

/** The answer to a prompt. Throws `NotConfirmedError` if the person leaves. */
async function answerTo<T>(prompt: Promise<T>): Promise<Exclude<T, symbol>> {
  const answer = await prompt
  if (!isAnswer(answer)) throw new NotConfirmedError()
  return answer
}

/**
 * Asks until a person has confirmed how the file is read. `read` reads it again, as a draft says. Throws `NotConfirmedError`,
 * and the errors of `read`.
 */
export async function askForLayout(
  terminal: Terminal,
  first: Check,
  read: (draft: Draft) => Promise<Check>,
): Promise<Check & { draft: Draft & Statements }> {
  const { input, output, print } = terminal
  const isYes = (message: string) =>
    answerTo(askYesNo({ input, output, message: `${message}?`, initialValue: false }))
  let check = first
  for (;;) {
    print(...describeTexts(check))
    if (check.outline.sheets.length > 1) check = await read(await askForSheets(terminal, check))
    print(...describeColumns(check))
    if (!(await isYes(confirm.useColumns)))
      check = await read(consistent(await askForColumns(terminal, check)))
    let { draft } = check
    if (check.problem !== null) {
      print(check.problem)
      continue
    }
    for (const question of openQuestions(draft)) draft = await ask(terminal, question, draft)
    check = await read(draft)
    print(describeStatements(draft), ...check.outline.remarks, ...check.remarks, ...describeRows(check))
    if (isComplete(draft) && (await isYes(confirm.right))) return { ...check, draft }
    // Every question is asked again.
    check = { ...check, draft: { sheets: draft.sheets } }
  }
}

async function askForSheets({ input, output }: Terminal, { outline, draft }: Check): Promise<Draft> {
  const options = outline.sheets.map(({ name }) => ({ value: name, label: name }))
  const initialValues = draft.sheets.map(({ name }) => name)
  const prompt = multiselect({ input, output, message: confirm.sheets, options, initialValues })
  const chosen = await answerTo(prompt)
  const sheets = outline.sheets.filter(({ name }) => chosen.includes(name))
  return {
    ...draft,
    sheets: sheets.map(
      ({ name, headingsRow }): SheetLayout =>
        draft.sheets.find((sheet) => sheet.name === name) ?? {
          name,
          headingsRow,
          decimal: 'point',
          columns: [],
        },
    ),
  }
}

/** Asks for the use of each column; Enter keeps the one that is shown. */
async function askForColumns(terminal: Terminal, { outline, draft }: Check): Promise<Draft> {
  const sheets: SheetLayout[] = []
  for (const sheet of draft.sheets) {
    const own = outline.sheets.find(({ name }) => name === sheet.name)
    const columns: Column[] = []
    for (const [index, column] of sheet.columns.entries())
      columns.push(
        await askForUse(terminal, column, nameOf(column, index), own?.columns[index]?.values ?? []),
      )
    sheets.push({ ...sheet, columns })
  }
  return { ...draft, sheets }
}

async function askForUse(
  { input, output }: Terminal,
  column: Column,
  name: string,
  values: readonly string[],
): Promise<Column> {
  const { heading } = column
  const uses = USES.map((value) => ({ value, label: format.capital(texts.uses[value]) }))
  const message = `${confirm.use}: ${name}`
  const use = await answerTo(select({ input, output, message, options: uses, initialValue: column.use }))
  switch (use) {
    case 'price is for this many':
      return {
        heading,
        use,
        divide: await answerTo(
          askYesNo({ input, output, message: `${confirm.divide}?`, initialValue: false }),
        ),
      }
    case 'tax included':
    case 'not for sale if': {
      const options = values.map((value) => ({ value, label: value || confirm.blank }))
      const prompt = multiselect({ input, output, message: confirm.yes[use], options, required: false })
      return { heading, use, ...flagValues(await answerTo(prompt), values) }
    }
    default:
      return { heading, use }
  }
}

/** Asks a question, none of whose answers is preselected: Enter alone asks again. */
async function ask(
  { input, output, print }: Terminal,
  { statement, text, hints, choices }: Question,
  draft: Draft,
): Promise<Draft> {
  print(...hints)
  const options = [{ value: '', label: confirm.choose }, ...choices]
  for (;;) {
    const value = await answerTo(select({ input, output, message: text, options }))
    if (value !== '') return { ...draft, ...answersSchema.parse({ [statement]: value }) }
  }
}
