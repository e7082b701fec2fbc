/** Cells as texts that are shown and compared. */
import { createHash } from 'node:crypto'
import type { ChosenColumn } from './choice.ts'

/** How many characters of a text are remembered. A hash of a longer text tells whether the rest is the same. */
const MAX_KEPT = 200

/** A text on one line, without repeated spaces. */
export const clean = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Returns the text of a cell: 00123 for `="00123"`, and also after an apostrophe. Both keep the zeros in a spreadsheet. */
export function textOf(cell = ''): string {
  const text = cell.trim()
  if (text[0] !== '=' && text[0] !== "'") return text
  if (text.startsWith('="') && text.endsWith('"') && text.length > 2) return text.slice(2, -1)
  return /^'([=+@＝＋－＠-]|0\d*$)/.test(text) ? text.slice(1) : text
}

/** A text as it is remembered: short, and different for each text. */
export const keptText = (text: string): string =>
  text.length <= MAX_KEPT
    ? text
    : `${text.slice(0, MAX_KEPT)}…${createHash('sha256').update(text).digest('hex')}`

/** Headings as one text, which tells whether two files have the same headings. */
export const keptHeadings = (headings: readonly string[]): string => headings.map(keptText).join('\n')

/** A remembered text as it is shown: without its hash. */
export const shownText = (kept: string): string => kept.slice(0, MAX_KEPT + 1)

/** The value of a cell, as it is counted, ticked and remembered. */
export const valueIn = (cell: string | undefined): string => keptText(clean(textOf(cell)))

export const isFilled = (cell: string | undefined): boolean =>
  cell !== undefined && cell !== '' && /\S/.test(cell)

/** A row as one text. */
export const rowText = (cells: readonly string[]): string => cells.map(clean).filter(Boolean).join(' · ')

/**
 * Returns the place of a column among these headings, from 0, or -1 if it is missing. A column is found by its heading if that is
 * not blank and occurs once. Otherwise it is found by its number, if the heading there is the same.
 */
export function placeOf(
  { heading, number }: Pick<ChosenColumn, 'heading' | 'number'>,
  headings: readonly string[],
): number {
  const place = heading === '' ? -1 : headings.indexOf(heading)
  if (place >= 0 && headings.indexOf(heading, place + 1) < 0) return place
  return headings[number - 1] === heading ? number - 1 : -1
}
