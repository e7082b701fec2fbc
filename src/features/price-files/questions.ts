/** What a person is asked of a file, one question after the other: on the page and in the terminal. */
import { mayBePrice } from '../../tables/prices.ts'
import {
  answerSchema,
  type Column,
  columnFor,
  type Draft,
  type SheetLayout,
  STATEMENTS,
  type Statement,
  type Statements,
  USES,
  type Use,
} from './layout.ts'
import type { SheetOutline } from './outline.ts'
import { texts } from './texts.ts'

export interface Question {
  /** Its field in the form: `tax`, `price-0`, `cells-0-4`. Numbers are those of the sheet and the column, from 0. */
  name: string
  text: string
  hints: string[]
  /** Values and labels. None is preselected. */
  choices: [value: string, label: string][]
  /** Whether several of the choices may be the answer together. */
  isMultiple: boolean
  /** What the draft says, for people; undefined: nothing, so that the question is open. */
  answer: string | undefined
  /** A draft with these choices as the answer; without any, the question is open again. */
  answered(draft: Draft, choices: readonly string[]): Draft
}

/** All questions on a draft, in their order. `outline`: the sheets, whose cells are shown; `scope`: that of the catalogue. */
export const questionsOf = (
  draft: Draft,
  outline: readonly SheetOutline[] = [],
  scope?: string | null,
): Question[] => [
  ...draft.sheets.flatMap((sheet) => {
    const at = outline.findIndex(({ name }) => name === sheet.name)
    const name = draft.sheets.length > 1 ? sheet.name : ''
    return [
      usedColumn('code', sheet, at, { name, seen: outline[at] }),
      usedColumn('price', sheet, at, { name, seen: outline[at] }),
      ...meanings(sheet, at, outline[at]),
    ]
  }),
  ...STATEMENTS.map((statement) => statementQuestion(statement, draft, scope)),
]

/** The questions that are open, in their order. */
export const openQuestions = (...[draft, outline, scope]: Parameters<typeof questionsOf>): Question[] =>
  questionsOf(draft, outline, scope).filter(({ answer }) => answer === undefined)

/** Whether a draft can be confirmed: its columns have no problem, and every question is answered. */
export const isComplete = (draft: Draft): draft is Draft & Statements =>
  columnsProblem(draft) === undefined && openQuestions(draft).length === 0

/** What is wrong with the columns of a draft, as a sentence; undefined if nothing is. */
export function columnsProblem({ sheets }: Draft, outline: readonly SheetOutline[] = []): string | undefined {
  if (sheets.length === 0) return texts.layout.noSheet
  for (const { name, columns } of sheets) {
    const count = (use: Use) => columns.filter((column) => column.use === use).length
    const twice = USES.find((use) => use !== 'ignored' && use !== 'not for sale if' && count(use) > 1)
    if (twice) return texts.layout.twice(texts.uses[twice], name)
    const seen = outline.find((sheet) => sheet.name === name)?.columns
    const many = columns.find((column, index) => 'yes' in column && seen?.[index]?.values === null)
    if (many) return texts.layout.manyCells(many.heading, texts.uses[many.use])
    if (columns.some((column, index) => 'yes' in column && seen?.[index]?.values?.length === 0))
      return texts.layout.noRows
  }
  const untaxed = sheets.filter(({ columns }) => !columns.some(({ use }) => use === 'tax included'))
  if (untaxed[0] && untaxed.length < sheets.length) return texts.layout.taxOnOneSheet(untaxed[0].name)
  return undefined
}

/** Who may see the prices decides which catalogue they may be in. Returns what is wrong, as a sentence. */
export const audienceProblem = (
  { audience }: Pick<Draft, 'audience'>,
  scope: string | null | undefined,
): string | undefined =>
  audience === 'selected' && scope?.toLowerCase() !== 'managed' ? texts.layout.publicCatalogue : undefined

/** A draft whose answers are all open again, beside the uses of the columns. */
export const unanswered = ({ sheets }: Draft): Draft => ({
  sheets: sheets.map((sheet) => ({
    ...sheet,
    columns: sheet.columns.map(({ heading, use }) => columnFor(heading, use)),
  })),
})

/** The answers of a draft, as `question answer`. */
export const describeAnswers = (draft: Draft): string[] =>
  questionsOf(draft).flatMap(({ text, answer }) => (answer === undefined ? [] : [`${text} ${answer}`]))

/** A column for people. */
export const nameOf = ({ heading }: Pick<Column, 'heading'>, index: number): string =>
  heading || texts.confirm.columnNumber(index + 1)

const withColumns = (
  draft: Draft,
  name: string,
  change: (column: Column, index: number) => Column,
): Draft => ({
  ...draft,
  sheets: draft.sheets.map((sheet) =>
    sheet.name === name ? { ...sheet, columns: sheet.columns.map(change) } : sheet,
  ),
})

/** Which column is the code, or the price. An ignored one is offered, with amounts for a price, or, if there is none, another one. */
function usedColumn(
  use: 'code' | 'price',
  sheet: SheetLayout,
  at: number,
  { name, seen }: { name: string; seen: SheetOutline | undefined },
): Question {
  const index = sheet.columns.findIndex((column) => column.use === use)
  const column = sheet.columns[index]
  const all = sheet.columns.map((one, place) => {
    const samples = seen?.columns[place]?.samples ?? []
    const label = `${nameOf(one, place)}: ${samples.join(' · ') || '—'}`
    return { use: one.use, samples, choice: [String(place), label] satisfies [string, string] }
  })
  const ignored = all.filter((one) => one.use === 'ignored')
  const amounts = ignored.filter(({ samples }) => use === 'price' && samples.some(mayBePrice))
  const others = all.filter((one) => one.use !== 'code' && one.use !== 'price')
  const [offered = []] = [amounts, ignored, others].filter((list) => list.length > 0)
  return {
    name: `${use}-${at}`,
    text: texts.questions.column(texts.uses[use], name),
    hints: [],
    choices: offered.map(({ choice }) => choice),
    isMultiple: false,
    answer: column && nameOf(column, index),
    answered: (draft, [chosen]) =>
      withColumns(draft, sheet.name, (one, place) => {
        if (String(place) === chosen) return columnFor(one.heading, use)
        return one.use === use ? columnFor(one.heading, 'ignored') : one
      }),
  }
}

/** The choices that none of the cells means yes, or both do. They are no cells: those are trimmed. */
const [NONE, BOTH] = [' ', '  ']

/** What the cells of columns mean. */
function meanings(sheet: SheetLayout, at: number, seen: SheetOutline | undefined): Question[] {
  const { cells, none, both, several, divided, rejected } = texts.questions
  const labelOf = (value: string) => value || texts.confirm.blank
  return sheet.columns.flatMap((column, index): Question | [] => {
    const values = seen?.columns[index]?.values ?? []
    const change = (draft: Draft, other: Column) =>
      withColumns(draft, sheet.name, (one, place) => (place === index ? other : one))
    switch (column.use) {
      case 'tax included':
      case 'not for sale if':
        return {
          name: `cells-${at}-${index}`,
          text: cells[column.use](column.heading),
          hints: [],
          choices: [
            ...values.map((value): [string, string] => [value, labelOf(value)]),
            [NONE, none],
            ...(values.length === 2 ? [[BOTH, both] satisfies [string, string]] : []),
          ],
          isMultiple: values.length > 2,
          answer: column.yes.map(labelOf).join(', ') || (column.no.length > 0 ? none : undefined),
          answered: (draft, chosen) => {
            const yes = chosen.includes(BOTH) ? values : chosen.filter((value) => value !== NONE)
            const no = values.filter((value) => chosen.length > 0 && !yes.includes(value))
            return change(draft, { ...column, yes, no })
          },
        }
      case 'price is for this many':
        return {
          name: `divide-${at}-${index}`,
          text: several(column.heading),
          hints: [],
          choices: [
            ['yes', divided],
            ['no', rejected],
          ],
          isMultiple: false,
          answer: column.divide === undefined ? undefined : column.divide ? divided : rejected,
          answered: (draft, [chosen]) =>
            change(draft, { ...column, divide: chosen === undefined ? chosen : chosen === 'yes' }),
        }
      default:
        return []
    }
  })
}

/** A question on all prices of the file. */
function statementQuestion(statement: Statement, draft: Draft, scope: string | null | undefined): Question {
  const { questions } = texts
  const { hasColumn, isIncluded } = taxColumnsOf(draft)
  const isPublic = scope !== undefined && audienceProblem({ audience: 'selected' }, scope) !== undefined
  const choices = {
    tax: taxChoices(draft.tax, hasColumn ? questions.ofColumn : questions.including).filter(
      ([value]) => !hasColumn || isIncluded !== (value === '0'),
    ),
    currency: Object.entries(questions.currencies),
    audience: Object.entries(questions.audiences),
  }[statement]
  const hints = {
    tax: [],
    currency: [questions.otherCurrency],
    audience: isPublic ? [questions.publicCatalogue] : [],
  }[statement]
  return {
    name: statement,
    text: statement === 'tax' && hasColumn && isIncluded ? questions.taxOfColumn : questions[statement],
    hints: [...hints, ...(draft.sheets.length > 1 ? [questions.everySheet] : [])],
    choices,
    isMultiple: false,
    answer: choices.find(([value]) => value === String(draft[statement]))?.[1],
    answered: (now, [chosen]) => ({
      ...now,
      [statement]: undefined,
      ...answerSchema.parse({ [statement]: chosen }),
    }),
  }
}

/** Whether a column says which prices include tax, and whether any of its cells says so, as far as that is known. */
function taxColumnsOf({ sheets }: Draft) {
  const all = sheets.flatMap(({ columns }) => columns)
  const found = all.flatMap((column) => (column.use === 'tax included' ? [column] : []))
  return {
    hasColumn: found.length > 0,
    isIncluded: found.some(({ yes, no }) => yes.length > 0 || no.length === 0),
  }
}

/** The taxes of Australia and New Zealand, and another one that a layout has, in percent. */
const taxChoices = (tax = 0, labelOf: (percent: number) => string): Question['choices'] =>
  [...new Set([0, 10, 15, tax])].map((rate) => [
    String(rate),
    rate === 0 ? texts.questions.beforeTax : labelOf(rate),
  ])
