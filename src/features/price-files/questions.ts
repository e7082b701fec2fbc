/** What a person is asked of the prices of a file, one after the other: on the page and in the terminal. */
import { CURRENCIES } from '../../tables/prices.ts'
import { hasTaxColumn } from './confirmation.ts'
import { AUDIENCES, type Draft, STATEMENTS, type Statement } from './layout.ts'
import { texts } from './texts.ts'

export interface Question {
  statement: Statement
  text: string
  hints: string[]
  choices: { value: string; label: string }[]
}

/** The taxes that prices may include, in percent: that of Australia and that of New Zealand. */
const RATES = [10, 15]

/** The question for a statement. No answer is preselected. */
function questionFor(statement: Statement, draft: Draft): Question {
  const { questions, taxOfColumn, beforeTax, including, currencies, audiences } = texts.confirm
  const text = questions[statement]
  const hints = draft.sheets.length > 1 ? [texts.confirm.everySheet] : []
  switch (statement) {
    case 'tax': {
      const rates = RATES.map((rate) => ({ value: String(rate), label: including(rate) }))
      return hasTaxColumn(draft)
        ? { statement, text: taxOfColumn, hints, choices: rates }
        : { statement, text, hints, choices: [{ value: '0', label: beforeTax }, ...rates] }
    }
    case 'currency': {
      const choices = CURRENCIES.map((value) => ({ value, label: currencies[value] }))
      return { statement, text, hints: [texts.confirm.otherCurrency, ...hints], choices }
    }
    case 'audience':
      return {
        statement,
        text,
        hints,
        choices: AUDIENCES.map((value) => ({ value, label: audiences[value] })),
      }
  }
}

/** The questions that are open, in their order. */
export const openQuestions = (draft: Draft): Question[] =>
  STATEMENTS.filter((statement) => draft[statement] === undefined).map((statement) =>
    questionFor(statement, draft),
  )

/** The statements of a draft, as far as they are made. */
export function describeStatements({ tax, currency, audience }: Draft): string {
  const { including, beforeTax, currencies, audiences } = texts.confirm
  const said = [
    tax !== undefined && (tax > 0 ? including(tax) : beforeTax),
    currency && currencies[currency],
    audience && audiences[audience],
  ]
  return said.filter(Boolean).join('. ')
}
