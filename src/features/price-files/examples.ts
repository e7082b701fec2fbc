/** The ten rows that page two shows. */
import { readPrice, shorten } from '../../tables/prices.ts'
import { textOf, valueIn } from './cells.ts'
import type { Choice } from './choice.ts'
import type { Tally } from './columns.ts'
import { isDate } from './compare.ts'
import type { Example } from './found.ts'
import type { Candidate, Ranks } from './items.ts'
import { MONEY } from './uses.ts'

const SHOWN = 10
const MAX_CELL = 200

/** A column, for the ten rows. */
export interface ShownColumn {
  label: string
  /** Its values; null: too many. */
  tallies: readonly Tally<Candidate>[] | null
  /** Whether the last file had such a column without this value. */
  isNew: (value: string) => boolean
}

/**
 * Chooses ten rows, in this order and no row twice: three with a new value (the rarest first), the two largest rises, the two largest
 * falls, the dearest, the cheapest, new codes if something was received before, the rarest values, and the first rows.
 */
export function chooseRows(ranks: Ranks, columns: readonly ShownColumn[], hasPast: boolean): Candidate[] {
  const chosen: Candidate[] = []
  const take = (from: readonly Candidate[], most: number) => {
    const free = new Set(from.filter((one) => one.entry.isSent && !chosen.includes(one)))
    chosen.push(...[...free].slice(0, Math.min(most, SHOWN - chosen.length)))
  }
  const rarest = (tallies: readonly Tally<Candidate>[]) =>
    tallies.toSorted((a, b) => a.count - b.count).flatMap(({ first }) => (first ? [first] : []))
  take(
    rarest(
      columns.flatMap(({ tallies, isNew }) =>
        (tallies ?? []).filter(({ value }) => isNew(value) && !isDate(value)),
      ),
    ),
    3,
  )
  take(ranks.of('rises'), 2)
  take(ranks.of('falls'), 2)
  take(ranks.of('dearest'), 1)
  take(ranks.of('cheapest'), 1)
  if (hasPast) take(ranks.of('added'), SHOWN)
  take(rarest(columns.flatMap(({ tallies }) => tallies ?? [])), SHOWN)
  take(ranks.of('first'), SHOWN)
  return chosen
}

/** The columns, from 0, that are not in the first line of a row. The price is not among them: that depends on the cell. */
export function otherColumns(choice: Choice): { has(index: number): boolean } {
  const { code, price, name, unit } = choice
  const sent = [code, price, name, unit].map((column) => (column?.number ?? 0) - 1)
  return { has: (index) => !sent.includes(index) }
}

/** A row with its other cells. `constants`: whether a column has the same cell in every row. */
export function exampleOf(
  { entry, cells }: Candidate,
  choice: Choice,
  columns: readonly ShownColumn[],
  constants: readonly boolean[],
): Example {
  const { row, item, oldPrice } = entry
  const isOther = otherColumns(choice).has
  const how = { decimal: choice.decimal ?? 'point', currency: MONEY[choice.money].currency }
  const others = columns.flatMap(({ label, isNew }, index) => {
    const isCalculated =
      index === choice.price.number - 1 && readPrice(textOf(cells[index]), how) !== item.price
    const value = valueIn(cells[index])
    const marked = isNew(value)
    if (constants[index] || !(isOther(index) || isCalculated || marked)) return []
    return value !== '' || marked ? [{ heading: label, value: shorten(value, MAX_CELL), isNew: marked }] : []
  })
  return { row, item: cut(item), oldPrice, others }
}

/** An item with texts that a person can look at. */
function cut(item: Example['item']): Example['item'] {
  const shown = { ...item }
  for (const use of ['name', 'description', 'unit', 'category'] as const)
    if (shown[use] !== undefined) shown[use] = shorten(shown[use], MAX_CELL)
  return shown
}
