/** The rules by which page two asks for a tick before anything is sent. Each function is one rule. */
import { placeOf } from './cells.ts'
import type { Choice } from './choice.ts'
import type { BoxReason, NewValues } from './found.ts'
import { columnFor } from './uses.ts'

/** The usual range of a price change, as new price / old price. */
const [LOW, HIGH] = [0.93, 1.085]
const isOutside = (factor: number) => factor < LOW || factor > HIGH

/** At least half of the items that were received before have a price outside 0.93 to 1.085 times the old one. */
export function halfOutside(factors: readonly number[]): BoxReason[] {
  const items = factors.filter(isOutside).length
  return items > 0 && items * 2 >= factors.length ? [{ kind: 'halfOutside', items, of: factors.length }] : []
}

/** At least one percent of these items, and at least two, cost less than half of the old price, or more than twice as much. */
export function farOutside(factors: readonly number[]): BoxReason[] {
  const items = factors.filter((factor) => factor < 0.5 || factor > 2).length
  return items >= Math.max(2, factors.length / 100) ? [{ kind: 'farOutside', items, of: factors.length }] : []
}

/** At least a tenth of these items, and at least ten, have changed by one factor, within 0.2 %, which is outside 0.93 to 1.085. */
export function oneFactor(factors: readonly number[]): BoxReason[] {
  const sorted = factors.filter(isOutside).sort((a, b) => a - b)
  let [items, factor, from] = [0, 1, 0]
  for (const [to, highest] of sorted.entries()) {
    while ((sorted[from] ?? highest) * 1.002 < highest) from++
    if (to - from + 1 > items) [items, factor] = [to - from + 1, sorted[(from + to) >> 1] ?? highest]
  }
  const isOne = items >= Math.max(10, factors.length / 10)
  return isOne ? [{ kind: 'oneFactor', items, of: factors.length, factor }] : []
}

/** At least half of the items have codes that were not received before. */
export const unknownCodes = (items: number, added: number): BoxReason[] =>
  added > 0 && added * 2 >= items ? [{ kind: 'unknownCodes', items: added, of: items }] : []

/** At least a fifth of the codes in the file that were received before will not be sent. */
export const knownNotSent = (known: number, notSent: number): BoxReason[] =>
  notSent > 0 && notSent * 5 >= known ? [{ kind: 'knownNotSent', items: notSent, of: known }] : []

/** The money, the units or the price column differ from last time. */
export function otherChoice(choice: Choice, last: Choice, headings: readonly string[]): BoxReason[] {
  const price = columnFor(last, 'price')
  const isSameColumn = price && placeOf(price, headings) + 1 === columnFor(choice, 'price')?.number
  return [
    ...(choice.money === last.money ? [] : [{ kind: 'money' as const, before: last.money }]),
    ...(choice.units === last.units ? [] : [{ kind: 'units' as const, before: last.units }]),
    ...(isSameColumn ? [] : [{ kind: 'priceColumn' as const, before: price?.heading ?? '' }]),
  ]
}

/** A column that had at most five values has a new value that is not a date, or now has too many values. */
export const newValues = (columns: readonly NewValues[]): BoxReason[] =>
  columns
    .filter(({ hadAtMostFive }) => hadAtMostFive)
    .flatMap(({ heading, values, isMany }): BoxReason[] => [
      ...values.map(({ value, count }): BoxReason => ({ kind: 'newValue', heading, value, count })),
      ...(isMany ? [{ kind: 'manyValues' as const, heading }] : []),
    ])
