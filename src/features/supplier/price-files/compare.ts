/** What differs from what a catalogue received before. Each function is one rule. */
import { keptHeadings, keptText, placeOf, shownText } from './cells.ts'
import type { Tally } from './columns.ts'
import { type FileTexts, keyOf } from './file-texts.ts'
import type { Compared, NewValues } from './found.ts'
import type { Received, SentFile } from './received.ts'
import { type Code, newCode } from './rows.ts'

/** What a file is compared with. */
export interface Past {
  file: SentFile
  isUnfinished: boolean
  /** The codes that were received, in lower case. */
  codes: Map<string, Code>
  /** Keys of texts. */
  texts: ReadonlySet<string>
}

/** The last file with the same headings, or else the last file; null if nothing was received from here. */
export function pastOf(received: Received | null, headings: readonly string[]): Past | null {
  const kept = keptHeadings(headings)
  const files = received?.files ?? []
  const file = files.find(({ memory }) => memory.headings.join('\n') === kept) ?? files[0]
  if (!received || !file) return null
  const codes = new Map<string, Code>()
  for (const price of received.prices) codes.set(price.code.toLowerCase(), newCode(price))
  return { file, isUnfinished: received.isUnfinished, codes, texts: new Set(file.memory.texts.map(keyOf)) }
}

/** New price / old price: 1 if they are the same, Infinity if it was 0 before; null if the code was not received before. */
export const factorOf = (price: number, received: Code['received']): number | null => {
  if (received === null) return null
  return price === received.price ? 1 : price / received.price
}

/** Counts the prices that are the same, higher, lower and new. `factors`: the factors of the items that were received before. */
export function comparePrices(sent: readonly Code[]) {
  const all = sent.flatMap(({ item, received }) => (item ? [factorOf(item.price, received)] : []))
  const factors = all.filter((factor) => factor !== null)
  const changed = factors.filter((factor) => factor !== 1)
  const extreme = (pick: (a: number, b: number) => number) =>
    changed.length > 0 ? changed.reduce((a, b) => pick(a, b)) : null
  const higher = changed.filter((factor) => factor > 1).length
  const counts = {
    same: factors.length - changed.length,
    higher,
    lower: changed.length - higher,
    largest: extreme(Math.max),
    smallest: extreme(Math.min),
    added: all.length - factors.length,
  }
  return { counts, factors }
}

const MAX_GONE = 50

/** The codes whose last file is the one that this file is compared with, and that are in no row any more. */
export function goneCodes(past: Past | null) {
  const gone = [...(past?.codes.values() ?? [])].flatMap(({ received, state }) =>
    received && received.file === past?.file.number && state === 'absent' ? [received.code] : [],
  )
  return { gone: gone.length, goneCodes: gone.slice(0, MAX_GONE) }
}

/** The texts that the last file did not have, and those that are gone. `isItem`: whether an item now has this code. */
export function compareTexts(
  past: Past | null,
  { byKey, uncompared }: FileTexts,
  isItem: (code: string) => boolean,
): Pick<Compared, 'newTexts' | 'goneTexts' | 'uncomparedTexts'> {
  if (!past) return { newTexts: [], goneTexts: [], uncomparedTexts: 0 }
  return {
    newTexts: [...byKey].filter(([key]) => !past.texts.has(key)).map(([, text]) => text),
    goneTexts: past.file.memory.texts
      .filter((text) => !byKey.has(keyOf(text)) && !isItem(text.code.toLowerCase()))
      .map((text) => ({ ...text, text: shownText(text.text) })),
    uncomparedTexts: uncompared,
  }
}

/** A column with at most this many values says what kind of row each one is. */
const MAX_FEW = 5
const NUMBER = /^\$? ?\d{1,9}(?:,\d{3}){0,3}(\.\d{1,6})?$/
/** Whether there are more than a few values, all are numbers or blank, and at least half have a decimal point. */
const areAmounts = (values: readonly string[]) =>
  values.length > MAX_FEW &&
  values.every((value) => value === '' || NUMBER.test(value)) &&
  values.filter((value) => value.includes('.')).length * 2 >= values.length

const DAY = '(?:0?[1-9]|[12]\\d|3[01])'
const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\\.?'
const YEAR = '(?:\\d{4}|\\d{2})'
const DATE = new RegExp(
  `^(?:${DAY}[-/.]${DAY}[-/.]${YEAR}|\\d{4}[-/.]${DAY}[-/.]${DAY}|(?:${DAY}(?:st|nd|rd|th)?[-/ ])?${MONTH}[-/ ]${YEAR}|${MONTH} ${DAY},? ${YEAR})(?:[ ,T]+\\d{1,2}:.{1,15})?$`,
  'i',
)

/**
 * The values that a column did not have before. There are none if the last file had no such column, or too many values in it to
 * remember. Dates are expected to change, and so are amounts in a column that is not used. They are only counted. `tallies`: the
 * values now; null if there are too many.
 */
export function compareValues(
  label: string,
  { heading, number, isUsed }: { heading: string; number: number; isUsed: boolean },
  tallies: readonly Tally[] | null,
  past: Past | null,
): { added: Tally[]; newValues: NewValues[] } {
  const memory = past?.file.memory
  const place = memory ? placeOf({ heading: keptText(heading), number }, memory.headings) : -1
  const old = memory?.values.find((column) => column.number === place + 1)?.values
  if (!old) return { added: [], newValues: [] }
  const had = new Set(old)
  // If all rows share a few amounts, these are no prices.
  const hasAmounts = !isUsed && areAmounts(old) && tallies !== null && tallies.length > MAX_FEW
  const kindOf = ({ value }: Tally) =>
    DATE.test(value) ? 'date' : hasAmounts && NUMBER.test(value) ? 'amount' : 'value'
  const others = (tallies ?? []).filter(({ value }) => !had.has(value))
  const { date = [], amount = [], value: added = [] } = Object.groupBy(others, kindOf)
  if (others.length === 0 && tallies !== null) return { added: [], newValues: [] }
  const news: NewValues = {
    heading: label,
    values: added.map(({ value, count }) => ({ value, count })),
    dates: date.length,
    amounts: amount.length,
    isMany: tallies === null,
    hadAtMostFive: old.length <= MAX_FEW,
  }
  return { added, newValues: [news] }
}
