/** What was found in a price file, in the words of page two and of the command line. */
import { format } from '../../../web/kit.ts'
import type { Draft } from './choice.ts'
import type { Compared, Example, Found, NewValues, Reason, Rejected } from './found.ts'
import { texts } from './texts.ts'

const { isolated, money } = format
const { compare, examples: exampleTexts, rejected: rejectedTexts } = texts

/** The most texts, values and codes that one sentence lists; the rest is counted. */
const MAX_LISTED = 50

/** How the price of an item differs from the one that was received before. */
export function changeText({ oldPrice, item }: Example): string {
  if (oldPrice === null) return exampleTexts.isNew
  if (oldPrice === item.price) return exampleTexts.same
  return oldPrice === 0 ? exampleTexts.zero : texts.change(item.price / oldPrice)
}

/** A sentence about what differs. `marks`: the new texts at its end, which the page marks. */
export interface Difference {
  text: string
  marks: string[]
}

const says = (text: string, marks: string[] = []): Difference => ({ text, marks })
/** The sentence with a count, unless the count is 0. */
const saysIf = (count: number, sentence: (count: number) => string): Difference[] =>
  count > 0 ? [says(sentence(count))] : []
/** The beginning of a list, and how many more there are. `all`: how many there are in total. */
const firstOf = (list: readonly string[], all = list.length): string[] =>
  all > MAX_LISTED ? [...list.slice(0, MAX_LISTED), compare.more(all - MAX_LISTED)] : [...list]
const join = (list: readonly string[]) => (list.length === 0 ? [] : [list.map(isolated).join(' · ')])

/** What differs from what the catalogue received last. */
export const differencesIn = (compared: Compared): Difference[] =>
  compared.with === null
    ? [says(compare.nothingReceived)]
    : [
        ...(compared.with.isUnfinished ? [says(compare.unfinished)] : []),
        ...countsOf(compared),
        ...textsOf(compared),
        ...saysIf(compared.uncomparedTexts, compare.uncompared),
        ...compared.newValues.flatMap(valuesOf),
      ]

/** The same as lines of text. */
export const comparedSentences = (compared: Compared): string[] =>
  differencesIn(compared).map(({ text, marks }) => [text, ...join(marks)].join(' '))

function countsOf(compared: Compared): Difference[] {
  const { same, higher, lower, largest, smallest, added, gone, goneCodes } = compared
  // A count of 0 is not mentioned.
  const higherText = largest !== null && higher > 0 ? compare.higher(higher, texts.difference(largest)) : ''
  const lowerText = smallest !== null && lower > 0 ? compare.lower(lower, texts.difference(smallest)) : ''
  return [
    says(compare.prices(same, higherText, lowerText)),
    ...saysIf(added + gone, () => compare.codes(added, gone)),
    ...join(firstOf(goneCodes, gone)).map((all) => says(`${compare.gone} ${all}`)),
  ]
}

function textsOf({ newTexts, goneTexts }: Compared): Difference[] {
  const places = new Set([...newTexts, ...goneTexts].map(({ where }) => where))
  return [...places].flatMap((place) => {
    const here = (all: Compared['newTexts']) =>
      firstOf(all.filter(({ where }) => where === place).map(({ text }) => text))
    const marks = here(newTexts)
    return [
      ...(marks.length > 0 ? [says(compare.newTexts(place), marks)] : []),
      ...join(here(goneTexts)).map((gone) => says(`${compare.goneTexts(place)} ${gone}`)),
    ]
  })
}

function valuesOf({ heading, values, dates, amounts, isMany }: NewValues): Difference[] {
  const marks = firstOf(values.map(({ value, count: rows }) => compare.value(texts.value(value), rows)))
  return [
    ...(marks.length > 0 ? [says(compare.newValues(heading), marks)] : []),
    ...saysIf(dates, () => compare.dates(dates, heading)),
    ...saysIf(amounts, () => compare.amounts(amounts, heading)),
    ...(isMany ? [says(compare.isMany(heading))] : []),
  ]
}

/** How many rows are not sent for a reason. */
export const reasonSentence = (reason: Reason, rows: number): string =>
  rejectedTexts.rows(rejectedTexts.reasons[reason], rows)

/** The cell that is the reason, or the row with the other price; empty if the reason says all. */
export const detailText = ({ reason, detail }: Rejected): string =>
  reason === 'otherPrice' && detail !== '' ? rejectedTexts.otherRow(detail) : detail

/** The rows that will not be sent: how many for each reason, and which of the listed rows are new. */
export const rejectedSentences = ({ rejected }: Pick<Found, 'rejected'>): string[] =>
  rejected.flatMap(({ reason, count, rows }) => {
    const listed = rows.filter(({ isNew }) => isNew)
    const words = (row: Rejected) => [row.code, detailText(row) || row.cells.join(' | ')].filter(Boolean)
    return [
      reasonSentence(reason, count),
      ...listed.map((row) => [rejectedTexts.newRow(row.row), ...join(words(row))].join(': ')),
    ]
  })

/** The ten rows as lines of text, two for each, below what is the same in every row. */
export const exampleLines = (found: Pick<Found, 'constants' | 'examples' | 'items'>): string[] => [
  `${exampleTexts.title(found.examples.length, found.items)}:`,
  ...join(found.constants.map(cellText)).map((cells) => `${exampleTexts.constants} ${cells}`),
  ...found.examples.flatMap(linesOf),
]

function linesOf(example: Example): string[] {
  const { row, item, oldPrice, others } = example
  const price = oldPrice === null || oldPrice === item.price ? [] : [money(oldPrice), '→']
  const unit = item.unit === undefined ? [] : [exampleTexts.per(item.unit)]
  const name = join(item.name ? [item.name] : [])
  const cells = others.map((cell) => (cell.isNew ? exampleTexts.newMark(cellText(cell)) : cellText(cell)))
  return [
    [isolated(item.code), ...price, money(item.price), changeText(example), ...unit, ...name].join(' '),
    `    ${[exampleTexts.row(row), ...join(cells)].join(' · ')}`,
  ]
}

const cellText = ({ heading, value }: { heading: string; value: string }) =>
  `${heading} ${texts.value(value)}`

/** The name of a column: its heading, or its number if the heading is blank. */
export const nameOf = ({ heading, number }: { heading: string; number: number }): string =>
  heading || texts.choose.columnNumber(number)

/** The choice as an argument of the command, quoted for a POSIX shell. */
export const choiceArgument = (choice: Draft): string =>
  `--choice '${JSON.stringify(choice).replaceAll("'", String.raw`'\''`)}'`
