/** What a person confirms, as lines for the terminal: the same as on the page, in the same order. */

import type { Check, CheckedFile } from './check-rows.ts'
import { columnsProblem } from './confirmation.ts'
import { type Column, type Draft, STATEMENTS } from './layout.ts'
import { texts } from './texts.ts'

const { confirm } = texts

/** How a file differs from the confirmed one, and everything that it says outside its tables. */
export function describeTexts({ outline, differences }: Check): string[] {
  const sheets = outline.sheets.flatMap((sheet) => [
    ...(sheet.name === ''
      ? []
      : [confirm.sheetSays(sheet.name) + (sheet.isUsed ? '' : ` (${confirm.notUsed})`)]),
    ...sheet.texts.map((text) => `  ${text}`),
  ])
  return [
    ...(differences.length > 0
      ? [confirm.changed, ...differences.map((difference) => `  ${difference}`)]
      : []),
    `${confirm.says}:`,
    ...(sheets.length > 0 ? sheets : [`  ${confirm.saysNothing}`]),
  ]
}

/** Each column of the sheets that are used, with some of its cells and its use. */
export const describeColumns = (check: Check, draft: Draft): string[] =>
  draft.sheets.flatMap((sheet) => {
    const outline = check.outline.sheets.find(({ name }) => name === sheet.name)
    const lines = sheet.columns.map((column, index) => {
      const samples = outline?.columns[index]?.samples.join(' · ') ?? ''
      return `  ${nameOf(column, index)} (${samples || '—'}): ${useOf(column)}`
    })
    return [`${sheet.name === '' ? confirm.columnsTitle : confirm.columnsOf(sheet.name)}:`, ...lines]
  })

export const nameOf = ({ heading }: Column, index: number): string =>
  heading || confirm.columnNumber(index + 1)

function useOf(column: Column): string {
  const use = texts.uses[column.use]
  if ('yes' in column) return `${use} ${column.yes.map((value) => value || confirm.blank).join(', ')}`
  return 'divide' in column && column.divide ? `${use}; ${confirm.divide}` : use
}

/** The statements of a draft, as far as they are made. */
export function describeStatements({ tax, currency, audience }: Draft): string {
  const said = [
    tax !== undefined && (tax > 0 ? confirm.including(tax) : confirm.beforeTax),
    currency && confirm.currencies[currency],
    audience && confirm.audiences[audience],
  ]
  return said.filter(Boolean).join('. ')
}

/** The rows as they will be sent, beside the cells that they come from. */
export const describeRows = ({ preview }: Check): string[] => [
  `${confirm.rows}:`,
  ...preview.map(
    ({ line, item, cells }) =>
      `  ${line}: ${cells.join(' | ')}  →  ${[item.code, item.name, item.unit].filter(Boolean).join(', ')}: ${item.price}`,
  ),
]

/** What would have to be confirmed, for a command without a terminal. `how`: the command that asks in a terminal. */
export function describeUnconfirmed({ check }: CheckedFile, how: string): string[] {
  const problem = columnsProblem(check.draft) ?? check.problem
  const open = STATEMENTS.filter((statement) => check.draft[statement] === undefined)
  return [
    confirm.notConfirmed,
    ...describeTexts(check),
    ...describeColumns(check, check.draft),
    ...(problem ? [problem] : []),
    ...open.map((statement) => confirm.questions[statement]),
    confirm.howInTerminal(how),
  ]
}
