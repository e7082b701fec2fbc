/** What a person confirms, in the terminal: the same as on the page, in the same order. */
import type { Readable, Writable } from 'node:stream'
import { text as askText, confirm as askYesNo, isCancel, multiselect, select } from '@clack/prompts'
import { DECIMALS } from '../../tables/prices.ts'
import { format } from '../../web/kit.ts'
import type { Check } from './check-rows.ts'
import { newSheet } from './form.ts'
import { type Column, type Draft, type SheetLayout, type Statements, USES, withUse } from './layout.ts'
import type { Outline } from './outline.ts'
import { describeAnswers, isComplete, nameOf, openQuestions, type Question, unanswered } from './questions.ts'
import { texts } from './texts.ts'

const { confirm } = texts

export interface Terminal {
  input: Readable
  output: Writable
  /** Prints lines. */
  print(...lines: string[]): void
}

/** How a file differs from the confirmed one, what it says outside its tables, and each column with some of its cells and its use. */
function describeFile({ outline, differences, draft }: Check): string[] {
  const said = outline.sheets.flatMap(({ name, isUsed, isHidden, texts: lines }) => [
    ...(name === ''
      ? []
      : [
          `${confirm.sheetSays(name)}${isHidden ? ` (${confirm.hiddenSheet})` : ''}${isUsed ? '' : ` (${confirm.notUsed})`}`,
        ]),
    ...lines.map((text) => `  ${text}`),
  ])
  const columns = draft.sheets.flatMap((sheet) => {
    const seen = outline.sheets.find(({ name }) => name === sheet.name)
    const lines = sheet.columns.map((column, index) => {
      const samples = seen?.columns[index]?.samples.join(' · ') || '—'
      const hidden = seen?.columns[index]?.isHidden ? ` (${confirm.isHidden})` : ''
      return `  ${nameOf(column, index)}${hidden} (${samples}): ${texts.uses[column.use]}`
    })
    return [
      `${sheet.name === '' ? confirm.columnsTitle : confirm.columnsOf(sheet.name)}:`,
      ...lines,
      `${confirm.headingsRow}: ${sheet.headingsRow}. ${confirm.decimal}: ${confirm[sheet.decimal]}`,
    ]
  })
  return [
    ...(differences.length > 0 ? [confirm.changed, ...differences.map((text) => `  ${text}`)] : []),
    `${confirm.says}:`,
    ...(said.length > 0 ? said : [`  ${confirm.saysNothing}`]),
    ...columns,
  ]
}

/** How many problems are shown before the rows are confirmed. */
const SHOWN_PROBLEMS = 5

const placeOf = (sheet: string, line: number) => (sheet === '' ? String(line) : `${sheet}, ${line}`)

/** The rows as they will be sent, beside the cells that they come from. */
const describeRows = ({ preview, problems, rows, validRows, invalidRows }: Check): string[] => [
  confirm.counts(rows, validRows, invalidRows),
  ...problems
    .slice(0, SHOWN_PROBLEMS)
    .map(({ sheet, line, reason }) => `  ${placeOf(sheet, line)}: ${reason}`),
  `${confirm.rows}:`,
  ...preview.map(
    ({ sheet, line, item, cells }) =>
      `  ${placeOf(sheet, line)}: ${cells.join(' | ')}  →  ${[item.code, item.name, item.unit].filter(Boolean).join(', ')}: ${item.price}`,
  ),
]

/** What would have to be confirmed, for a command without a terminal. `how`: the command that asks in a terminal. */
export const describeUnconfirmed = (check: Check, how: string): string[] => [
  confirm.notConfirmed,
  ...describeFile(check),
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
    print(...describeFile(check), ...(check.problem === null ? [] : [check.problem]))
    if (check.problem !== null || !(await isYes(confirm.useColumns))) {
      check = await read(await askForColumns(terminal, check))
      continue
    }
    let { draft } = check
    const nextQuestion = () => openQuestions(draft, check.outline.sheets)[0]
    // An answer may change what the next question offers.
    for (let question = nextQuestion(); question; question = nextQuestion())
      draft = question.answered(draft, await ask(terminal, question))
    const asked = check
    check = { ...(await read(draft)), differences: first.differences }
    // Another column of the price is another table: what the file says beside it is shown before anything is confirmed.
    if (JSON.stringify(asked.outline) !== JSON.stringify(check.outline)) continue
    print(...describeAnswers(draft), ...check.outline.remarks, ...check.remarks, ...describeRows(check))
    if (isComplete(draft) && (await isYes(confirm.right))) return { ...check, draft }
    check = { ...check, draft: unanswered(draft) }
  }
}

/**
 * Asks how the tables are to be read; Enter keeps what is shown. Another sheet or row of headings has other columns: they are
 * shown before anything is asked of them.
 */
async function askForColumns(terminal: Terminal, { outline, draft }: Check): Promise<Draft> {
  for (const ask of [askForSheets, askForHeadings]) {
    const changed = await ask(terminal, draft, outline)
    if (JSON.stringify(changed) !== JSON.stringify(draft)) return changed
  }
  return askForUses(terminal, draft)
}

async function askForSheets({ input, output }: Terminal, draft: Draft, outline: Outline): Promise<Draft> {
  if (outline.sheets.length < 2) return draft
  const options = outline.sheets.map(({ name }) => ({ value: name, label: name }))
  const initialValues = draft.sheets.map(({ name }) => name)
  const prompt = multiselect({ input, output, message: confirm.sheets, options, initialValues })
  const chosen = await answerTo(prompt)
  const used = outline.sheets.filter(({ name }) => chosen.includes(name))
  const sheets = used.map((sheet) => draft.sheets.find(({ name }) => name === sheet.name) ?? newSheet(sheet))
  return { ...draft, sheets }
}

async function askForHeadings({ input, output }: Terminal, draft: Draft): Promise<Draft> {
  const sheets: SheetLayout[] = []
  for (const sheet of draft.sheets) {
    const message = [sheet.name, confirm.headingsRow].filter(Boolean).join(': ')
    const initialValue = String(sheet.headingsRow)
    const validate = (row = '') => (/^\d{1,6}$/.test(row) ? undefined : texts.rules.headingsRow)
    const row = await answerTo(askText({ input, output, message, initialValue, validate }))
    sheets.push({ ...sheet, headingsRow: Number(row) })
  }
  return { ...draft, sheets }
}

async function askForUses({ input, output }: Terminal, draft: Draft): Promise<Draft> {
  const uses = USES.map((value) => ({ value, label: format.capital(texts.uses[value]) }))
  const decimals = DECIMALS.map((value) => ({ value, label: confirm[value] }))
  const sheets: SheetLayout[] = []
  for (const sheet of draft.sheets) {
    const columns: Column[] = []
    for (const [index, column] of sheet.columns.entries()) {
      const message = `${confirm.use}: ${nameOf(column, index)}`
      const prompt = select({ input, output, message, options: uses, initialValue: column.use })
      columns.push(withUse(column, await answerTo(prompt)))
    }
    const message = confirm.decimal
    const prompt = select({ input, output, message, options: decimals, initialValue: sheet.decimal })
    sheets.push({ ...sheet, columns, decimal: await answerTo(prompt) })
  }
  return { ...draft, sheets }
}

/** Asks a question, none of whose answers is preselected: Enter alone asks again. Resolves to what was chosen. */
async function ask({ input, output, print }: Terminal, question: Question): Promise<string[]> {
  const { text: message, hints, choices, isMultiple } = question
  print(...hints)
  const options = choices.map(([value, label]) => ({ value, label }))
  if (isMultiple) return answerTo(multiselect({ input, output, message, options, required: true }))
  const nothing = { value: null, label: confirm.choose }
  for (;;) {
    const chosen = await answerTo(select({ input, output, message, options: [nothing, ...options] }))
    if (chosen !== null) return [chosen]
  }
}
