/** What page two shows: what differs, ten rows, the rows that are not sent, and the box. */
import { readPrice, shorten } from '../tables/prices.ts'
import * as box from './box.ts'
import { keptText, textOf, valueIn } from './cells.ts'
import type { Choice } from './choice.ts'
import type { Tally } from './columns.ts'
import { comparePrices, compareTexts, compareValues, goneCodes, type Past } from './compare.ts'
import { keep } from './file-texts.ts'
import type { BoxReason, Compared, Example, Found, NewValues } from './found.ts'
import { type Items, MAX_CELL } from './items.ts'
import type { FileMemory, Received } from './received.ts'
import type { Candidate, Code } from './rows.ts'
import type { Scan } from './scan.ts'
import { MONEY, type Use } from './uses.ts'

const SHOWN = 10

/** A column as it is compared. */
interface Column {
  label: string
  use: Use
  /** Its values; null if there are too many, or if it is not compared. */
  tallies: Tally[] | null
  /** The values that the last file did not have. */
  added: Tally[]
  newValues: NewValues[]
  /** The value that is the same in every row; empty if there is none, or if the first line of each example shows it. */
  constant: string
}

/** Uses that are not compared, because names and prices differ from row to row. */
const NOT_COMPARED: Use[] = ['code', 'price', 'name', 'description']
/** Uses that stand in the first line of an example. */
const FIRST_LINE: Use[] = ['code', 'name', 'unit']

/** What page two shows, from a scan that has read a file as a person chose. */
export function foundIn(scan: Scan, items: Items, choice: Choice, received: Received | null): Found {
  const { headings } = scan
  const columns = headings.map((_, index) => compareColumn(scan, choice, index))
  const { counts, factors } = comparePrices(items.inOrder.filter(({ state }) => state === 'sent'))
  const { past } = scan
  const compared: Compared = {
    with: past && { fileName: past.file.fileName, at: past.file.at, isUnfinished: past.isUnfinished },
    ...counts,
    ...goneCodes(past),
    ...compareTexts(past, scan.texts, (code) => items.codes.get(code)?.state === 'sent'),
    newValues: columns.flatMap(({ newValues }) => newValues),
  }
  return {
    choice,
    rows: scan.rows,
    items: factors.length + compared.added,
    compared,
    constants: columns.flatMap(({ label, constant }) =>
      constant === '' ? [] : [{ heading: label, value: constant }],
    ),
    examples: chooseRows(items, columns, past !== null).map((row) => exampleOf(row, choice, columns)),
    rejected: items.rejected,
    box: past
      ? boxOf(choice, past, compared, factors, headings)
      : received?.isOwn
        ? []
        : [{ kind: 'nothingReceived' }],
    memory: {
      headings: headings.map(keptText),
      texts: [...scan.texts.byKey.values()].map(keep),
      values: valuesOf(headings, columns),
    },
  }
}

function compareColumn(scan: Scan, choice: Choice, index: number): Column {
  const { use = 'ignored' } = choice.columns.find(({ number }) => number === index + 1) ?? {}
  const label = scan.labels[index] ?? ''
  const tallies = NOT_COMPARED.includes(use) ? null : scan.columns.tallies(index)
  const column = { heading: scan.headings[index] ?? '', number: index + 1, isUsed: use !== 'ignored' }
  const old = NOT_COMPARED.includes(use) ? null : scan.past
  return {
    ...{ label, use, tallies, ...compareValues(label, column, tallies, old) },
    constant: (!FIRST_LINE.includes(use) && tallies?.length === 1 && tallies[0]?.value) || '',
  }
}

/** All reasons for a tick. */
function boxOf(
  choice: Choice,
  past: Past,
  compared: Compared,
  factors: readonly number[],
  headings: readonly string[],
): BoxReason[] {
  const notSent = [...past.codes.values()].filter(
    ({ received, state }) => received && state === 'notSent',
  ).length
  return [
    ...box.otherChoice(choice, past.file.choice, headings),
    ...box.halfOutside(factors),
    ...box.farOutside(factors),
    ...box.oneFactor(factors),
    ...box.unknownCodes(factors.length + compared.added, compared.added),
    ...box.knownNotSent(factors.length + notSent, notSent),
    ...box.newValues(compared.newValues),
  ]
}

/** The most characters of all values that are remembered. The values of the columns after this limit are not. */
const MAX_CHARACTERS = 300_000

function valuesOf(headings: readonly string[], columns: readonly Column[]): FileMemory['values'] {
  let left = MAX_CHARACTERS
  return columns.flatMap(({ tallies, use }, index) => {
    if (NOT_COMPARED.includes(use)) return []
    const values = tallies?.map(({ value }) => value) ?? []
    left -= values.join('').length
    const kept = tallies && left >= 0 ? values : null
    return [{ heading: keptText(headings[index] ?? ''), number: index + 1, values: kept }]
  })
}

/**
 * Chooses ten rows, in this order and no row twice. First come three with a new value (the rarest first), the two largest rises,
 * the two largest falls, the dearest and the cheapest. Then come new codes if something was received before, the rarest values,
 * and the first rows.
 */
function chooseRows({ ranks }: Items, columns: readonly Column[], hasPast: boolean): Candidate[] {
  const chosen = new Map<Code, Candidate>()
  function take(from: readonly Candidate[], most = SHOWN): void {
    const end = Math.min(chosen.size + most, SHOWN)
    for (const one of from)
      if (chosen.size < end && one.code.state === 'sent' && !chosen.has(one.code)) chosen.set(one.code, one)
  }
  /** One row of each value, then a second row of each, then a third. */
  const rarest = (tallies: Tally[]) => {
    const sorted = tallies.sort((a, b) => a.count - b.count)
    return [0, 1, 2].flatMap((nth) => sorted.flatMap(({ items }) => items[nth] ?? []))
  }
  take(rarest(columns.flatMap(({ added }) => added)), 3)
  take(ranks.rises.all, 2)
  take(ranks.falls.all, 2)
  take(ranks.dearest.all, 1)
  take(ranks.cheapest.all, 1)
  if (hasPast) take(ranks.added.all)
  take(rarest(columns.flatMap(({ tallies }) => tallies ?? [])))
  take(ranks.first.all)
  return [...chosen.values()]
}

/** A row with its other cells: those that are new, and those that are neither in its first line nor the same in every row. */
function exampleOf({ code, item, cells }: Candidate, choice: Choice, columns: readonly Column[]): Example {
  const how = { decimal: choice.decimal ?? 'point', currency: MONEY[choice.money].currency }
  const others = columns.flatMap(({ label, use, added, constant }, index) => {
    const value = valueIn(cells[index])
    const isNew = added.some((one) => one.value === value)
    const isPrice = use === 'price' && readPrice(textOf(cells[index]), how) === item.price
    const isShown = isNew || !(value === '' || value === constant || FIRST_LINE.includes(use) || isPrice)
    return isShown ? [{ heading: label, value: shorten(value, MAX_CELL), isNew }] : []
  })
  const shown = { ...item }
  for (const use of ['name', 'description', 'unit', 'category'] as const)
    if (shown[use] !== undefined) shown[use] = shorten(shown[use], MAX_CELL)
  return { row: code.row, item: shown, oldPrice: code.received?.price ?? null, others }
}
