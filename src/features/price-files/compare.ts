/** What differs from what a catalogue received before. Each function is one rule. */

import { keptText, placeOf, shownText } from './cells.ts'
import type { Tally } from './columns.ts'
import { type Texts, textKey } from './file-texts.ts'
import type { Compared } from './found.ts'
import type { PlacedText, Received, ReceivedPrice, SentFile } from './received.ts'

/** What a file is compared with. */
export interface Past {
  file: SentFile
  isUnfinished: boolean
  /** By code in lower case. */
  prices: ReadonlyMap<string, ReceivedPrice>
  /** Keys of `textKey` and `codeKey`. */
  texts: ReadonlySet<string>
  codes: ReadonlySet<string>
}

/** The last file with the same headings, else the last one; null: nothing was received from here. */
export function pastOf(received: Received | null, headings: readonly string[]): Past | null {
  const kept = JSON.stringify(headings.map(keptText))
  const files = received?.files ?? []
  const file = files.find(({ memory }) => JSON.stringify(memory.headings) === kept) ?? files[0]
  if (!received || !file) return null
  return {
    file,
    isUnfinished: received.isUnfinished,
    prices: new Map(received.prices.map((one) => [one.code.toLowerCase(), one])),
    texts: new Set(file.memory.texts.map(textKey)),
    codes: new Set(file.memory.codesNotSent.map((code) => code.toLowerCase())),
  }
}

/** An item, and the price that the catalogue received for its code before. */
export interface Priced {
  item: { code: string; price: number }
  oldPrice: number | null
}

/** New/old: 1 for the same price, Infinity if it was 0 before. */
export const factorOf = ({ item, oldPrice }: Priced): number | null => {
  if (oldPrice === null) return null
  return item.price === oldPrice ? 1 : item.price / oldPrice
}

/** Counts the prices that are the same, higher, lower and new. `factors`: those of the items that were received before. */
export function comparePrices(entries: Iterable<Priced>) {
  const counts = { same: 0, higher: 0, lower: 0, added: 0 }
  const factors: number[] = []
  let largest: number | null = null
  let smallest: number | null = null
  for (const entry of entries) {
    const factor = factorOf(entry)
    if (factor === null) {
      counts.added++
      continue
    }
    factors.push(factor)
    if (factor === 1) {
      counts.same++
      continue
    }
    counts[factor > 1 ? 'higher' : 'lower']++
    largest = Math.max(largest ?? factor, factor)
    smallest = Math.min(smallest ?? factor, factor)
  }
  return { counts: { ...counts, largest, smallest }, factors }
}

const MAX_GONE = 50

/** The codes that the file which this one is compared with was the last to have. `isThere`: whether a code is still in the file. */
export function goneCodes(
  past: Past | null,
  isThere: (code: string) => boolean,
): { gone: number; goneCodes: string[] } {
  const gone = [...(past?.prices ?? [])].filter(
    ([key, { file }]) => file === past?.file.number && !isThere(key),
  )
  return { gone: gone.length, goneCodes: gone.slice(0, MAX_GONE).map(([, { code }]) => code) }
}

/** How many texts are listed of rows that have a code. */
const MAX_LISTED = 2_000

/** Texts that the last file did not have, and those that are gone. `isItem`: whether a code is one of an item. */
export function compareTexts(
  past: Past | null,
  { texts, codes, uncompared }: Texts,
  isItem: (code: string) => boolean,
): Pick<Compared, 'newTexts' | 'goneTexts' | 'uncomparedTexts'> {
  if (!past) return { newTexts: [], goneTexts: [], uncomparedTexts: 0 }
  const { memory } = past.file
  const newRows = [...codes].filter(([key]) => !past.codes.has(key)).map(([, { code: _, ...text }]) => text)
  const newTexts = [...texts].filter(([key]) => !past.texts.has(key)).map(([, text]) => text)
  const goneCodes = memory.codesNotSent.filter(
    (code) => !codes.has(code.toLowerCase()) && !isItem(code.toLowerCase()),
  )
  const gone: PlacedText[] = [
    ...memory.texts.filter((text) => !texts.has(textKey(text))),
    ...goneCodes.slice(0, MAX_LISTED).map((text) => ({ where: '', text, row: null })),
  ]
  return {
    newTexts: [...newTexts, ...newRows.slice(0, MAX_LISTED)].sort((a, b) => (a.row ?? 0) - (b.row ?? 0)),
    goneTexts: gone.map((text) => ({ ...text, text: shownText(text.text) })),
    uncomparedTexts: uncompared() + Math.max(0, newRows.length - MAX_LISTED),
  }
}

/** The values that a column had; null: too many to remember; undefined: there was no such column, or it was not compared. */
export function oldValues(
  past: Past | null,
  heading: string,
  number: number,
): readonly string[] | null | undefined {
  const memory = past?.file.memory
  const place = memory ? placeOf({ heading: keptText(heading), number }, memory.headings) : -1
  return memory?.values.find((column) => column.number === place + 1)?.values
}

const DAY = '(?:0?[1-9]|[12]\\d|3[01])'
const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\\.?'
const YEAR = '(?:\\d{4}|\\d{2})'
const DATE = new RegExp(
  `^(?:${DAY}[-/.]${DAY}[-/.]${YEAR}|\\d{4}[-/.]${DAY}[-/.]${DAY}|(?:${DAY}(?:st|nd|rd|th)?[-/ ])?${MONTH}[-/ ]${YEAR}|${MONTH} ${DAY},? ${YEAR})(?:[ ,T]+\\d{1,2}:.{1,15})?$`,
  'i',
)
/** Whether a value is a date: those change with each list. */
export const isDate = (value: string): boolean => DATE.test(value)

/** The values that a column did not have. `tallies`: those that it has now; null: too many. */
export function compareValues(
  heading: string,
  tallies: readonly Tally<unknown>[] | null,
  old: readonly string[] | null | undefined,
): Compared['newValues'] {
  if (!old) return []
  const had = new Set(old)
  const now = (tallies ?? []).filter(({ value }) => !had.has(value))
  const values = now.filter(({ value }) => !isDate(value)).map(({ value, count }) => ({ value, count }))
  const column = { heading, values, dates: now.length - values.length, isMany: tallies === null }
  const isNew = now.length > 0 || column.isMany
  return isNew ? [{ ...column, hadAtMostFive: old.length <= MAX_FEW }] : []
}

/** A column with so few values says what its rows are. */
const MAX_FEW = 5
