/** What was found in a price file, in the words of page two and of the command line. */
import { format } from '../../web/kit.ts'
import { MONEY, type Money } from './choice.ts'
import type { BoxReason, Compared, Example, Found, Missing, Reason, Rejected, Remark } from './found.ts'
import { texts } from './texts.ts'

const { count, isolated, money, pluralize } = format

/** The most texts, values and codes of a kind that are listed; the rest is counted. */
const MAX_LISTED = 50

const CURRENCIES = { AUD: 'Australian dollars', NZD: 'New Zealand dollars' }
const PERCENT = { AUD: 10, NZD: 15 }

/** An answer about the money, such as "Australian dollars, including 10 % GST". */
export function moneyText(answer: Money): string {
  const { currency, tax } = MONEY[answer]
  return `${CURRENCIES[currency]}, ${tax === 0 ? 'before GST' : `including ${PERCENT[currency]} % GST`}`
}

/** A new price divided by the old one. */
const factorText = (factor: number) => `× ${count(factor)}`

/** How the price of an item differs from the one that was received before. */
export function changeText({ oldPrice, item }: Example): string {
  if (oldPrice === null) return 'new'
  if (oldPrice === item.price) return 'as before'
  return oldPrice === 0 ? 'before: 0' : factorText(item.price / oldPrice)
}

/** A sentence about what differs, and what it names at its end: `marks` are new, so the page marks them. */
export interface Difference {
  text: string
  marks: string[]
}

/** What differs from what the catalogue received last. */
export function differencesIn(compared: Compared): Difference[] {
  const says = (text: string): Difference => ({ text, marks: [] })
  if (compared.with === null) return [says('Nothing was sent to this catalogue from here yet.')]
  return [
    ...(compared.with.isUnfinished ? [says('The last import was not finished.')] : []),
    ...countsOf(compared).map(says),
    ...textsOf(compared),
    ...valuesOf(compared),
  ]
}

/** The same as lines of text. */
export const comparedSentences = (compared: Compared): string[] =>
  differencesIn(compared).map(({ text, marks }) =>
    [text, marks.map(isolated).join(' · ')].filter(Boolean).join(' '),
  )

function countsOf({ same, higher, lower, largest, smallest, added, gone, goneCodes }: Compared): string[] {
  const upTo = (factor: number | null, isOneWay: boolean) =>
    factor === null || !isOneWay ? '' : ` (up to ${factorText(factor)})`
  const up = `${count(higher)} higher${upTo(largest, higher > 0)}`
  const down = `${count(lower)} lower${upTo(smallest, lower > 0)}`
  const codes = goneCodes.slice(0, MAX_LISTED).map(isolated).join(', ')
  const more = gone > Math.min(goneCodes.length, MAX_LISTED) ? ' …' : ''
  return [
    `${pluralize(same, 'price is', 'prices are')} the same, ${up}, ${down}.`,
    `${pluralize(added, 'item is', 'items are')} new, ${count(gone)} no longer in the file${codes === '' ? '.' : `: ${codes}${more}`}`,
  ]
}

function textsOf({ newTexts, goneTexts, uncomparedTexts }: Compared): Difference[] {
  const places = [...new Set([...newTexts, ...goneTexts].map(({ where }) => where))]
  const listed = places.flatMap((where): Difference[] => {
    const place = where === '' ? '' : ` (${isolated(where)})`
    const now = newTexts.filter((text) => text.where === where).map(({ text }) => text)
    const gone = goneTexts.filter((text) => text.where === where).map(({ text }) => isolated(text))
    return [
      ...(now.length > 0 ? [{ text: `New in the file${place}:`, marks: firstOf(now) }] : []),
      ...(gone.length > 0
        ? [{ text: `No longer in the file${place}: ${firstOf(gone).join(' · ')}`, marks: [] }]
        : []),
    ]
  })
  const more = `${pluralize(uncomparedTexts, 'more text was', 'more texts were')} not compared.`
  return [...listed, ...(uncomparedTexts > 0 ? [{ text: more, marks: [] }] : [])]
}

const firstOf = (all: string[]): string[] =>
  all.length > MAX_LISTED ? [...all.slice(0, MAX_LISTED), `${count(all.length - MAX_LISTED)} more`] : all

function valuesOf({ newValues }: Compared): Difference[] {
  return newValues.flatMap(({ heading, values, dates, isMany }): Difference[] => {
    const column = isolated(heading)
    const marks = firstOf(values.map(({ value, count: rows }) => `${valueText(value)} (${rowsText(rows)})`))
    return [
      ...(marks.length > 0 ? [{ text: `New values of ${column}:`, marks }] : []),
      ...(dates > 0 ? [{ text: `${pluralize(dates, 'new date')} in ${column}.`, marks: [] }] : []),
      ...(isMany ? [{ text: `${column} has too many values to compare.`, marks: [] }] : []),
    ]
  })
}

/** A cell's value; a blank one has words. */
export const valueText = (value: string): string => (value === '' ? '(blank)' : value)

const rowsText = (rows: number) => pluralize(rows, 'row')

/** Why a tick is asked for before anything is sent. */
export function boxSentence(reason: BoxReason): string {
  switch (reason.kind) {
    case 'nothingReceived':
      return 'Nothing can be compared: the catalogue may have other prices.'
    case 'halfOutside':
      return `${ofKnown(reason, 'price')} changed by more than 7 % down or 8.5 % up.`
    case 'farOutside':
      return `${ofKnown(reason, 'price')} at least halved or doubled.`
    case 'oneFactor':
      return `${ofKnown(reason, 'price')} changed by the same factor: ${factorText(reason.factor)}.`
    case 'unknownCodes':
      return `${count(reason.items)} of ${pluralize(reason.of, 'code')} were not received from here before.`
    case 'knownNotSent':
      return `${ofKnown(reason, 'item')} will not be sent: their rows are rejected.`
    case 'money':
      return `Last time, the prices were in ${moneyText(reason.before)}.`
    case 'units':
      return `Last time, a price was for ${pluralize(reason.before, 'unit')}.`
    case 'priceColumn':
      return `Last time, the prices were those of ${isolated(reason.before)}.`
    case 'newValue':
      return `${isolated(reason.heading)} has a new value: ${isolated(valueText(reason.value))}, in ${rowsText(reason.count)}.`
  }
}

const ofKnown = ({ items, of }: { items: number; of: number }, what: string) =>
  `${count(items)} of ${pluralize(of, `known ${what}`)}`

const REASONS: Record<Reason, string> = {
  noCode: 'no code',
  noPrice: 'no price',
  unreadablePrice: 'the price cannot be read',
  negativePrice: 'the price is negative',
  otherPrice: 'the code has another price or unit in another row, so neither is sent',
  damagedCode: 'a spreadsheet has changed the code; format the column as text and enter it again',
  errorCell: 'a cell shows an error of a formula',
  noValue: 'a formula has no value; open the file in your spreadsheet and save it',
  struckOut: 'a cell is struck out',
  count: 'the price cannot be divided by this count',
  notTicked: 'not among the ticked values',
  moreCells: 'more cells than headings',
  openQuote: 'a quote is not closed',
  invisible: 'invisible characters or line breaks',
  leftOut: 'left out by hand',
}

/** How many rows are not sent for a reason. */
export const reasonSentence = (reason: Reason, rows: number): string =>
  `${rowsText(rows)}: ${REASONS[reason]}`

/** Why a row is not sent, for the report. */
export function rejectedText({ reason, detail }: Pick<Rejected, 'reason' | 'detail'>): string {
  if (detail === '') return REASONS[reason]
  return `${REASONS[reason]}: ${reason === 'otherPrice' ? `row ${detail}` : isolated(detail)}`
}

/** The rows that will not be sent: counts by reason, and each row that the last file did not have, as far as they are listed. */
export const rejectedSentences = ({ rejected }: Pick<Found, 'rejected'>): string[] =>
  rejected.flatMap(({ reason, count: all, rows }) => [
    `${reasonSentence(reason, all)}.`,
    ...rows
      .filter(({ isNew }) => isNew)
      .map(({ row, code, detail, cells }) =>
        [`  Row ${row} (new)`, code, detail || cells.filter(Boolean).join(' | ')]
          .map((text, at) => (at === 0 || text === '' ? text : isolated(text)))
          .filter(Boolean)
          .join(' · '),
      ),
  ])

/** What is to be filled in on page one, and why. */
export function missingSentence(missing: Missing): string {
  switch (missing.kind) {
    case 'notChosen':
      return 'Say what the columns are, and what the prices are.'
    case 'unanswered':
      return {
        code: 'Choose the column of the codes.',
        price: 'Choose the column of the prices.',
        money: 'Say which money the prices are in.',
      }[missing.what]
    case 'noSheet':
      return `The file has no sheet ${isolated(missing.name)}: choose a sheet.`
    case 'noColumn':
      return `The file has no column ${isolated(missing.heading)}, which was used as “${texts.uses[missing.use]}”.`
    case 'usedTwice':
      return `Only one column can be used as “${texts.uses[missing.use]}”.`
    case 'nothingTicked':
      return `Tick the values of ${isolated(missing.heading)} that are meant.`
    case 'manyValues':
      return `${isolated(missing.heading)} has too many values to tick: choose another use for it.`
    case 'taxedBeforeGst':
      return 'Some rows include GST, but the answer about the prices is “before GST”.'
    case 'decimal':
      return `Choose the decimal sign: ${isolated(missing.cell)} reads differently under the two.`
  }
}

/** How a file was read. */
export function remarkSentence(remark: Remark): string {
  switch (remark.kind) {
    case 'utf16':
      return texts.remarks.utf16
    case 'windows1252':
      return texts.remarks.windows1252
    case 'hiddenRows':
      return texts.remarks.hiddenRows(remark.rows)
  }
}

/** The ten rows as lines of text: two for each, below what is the same in every row. */
export const exampleLines = ({ constants, examples }: Pick<Found, 'constants' | 'examples'>): string[] => [
  ...(constants.length > 0
    ? [
        `The same in every row: ${constants.map(({ heading, value }) => cellText(heading, value)).join(' · ')}`,
      ]
    : []),
  ...examples.flatMap((example) => {
    const { row, item, oldPrice, others } = example
    const before = oldPrice === null || oldPrice === item.price ? '' : `${money(oldPrice)} → `
    const unit = item.unit === undefined ? '' : ` per ${isolated(item.unit)}`
    const cells = others.map(
      ({ heading, value, isNew }) => `${cellText(heading, value)}${isNew ? ' (new)' : ''}`,
    )
    return [
      `${isolated(item.code)}  ${before}${money(item.price)} (${changeText(example)})${unit}  ${isolated(item.name ?? '')}`,
      `    ${[`row ${row}`, ...cells].join(' · ')}`,
    ]
  }),
]

const cellText = (heading: string, value: string) => `${isolated(heading)} ${isolated(valueText(value))}`
