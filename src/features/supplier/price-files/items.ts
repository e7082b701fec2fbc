/** Collects the results of the rows of a table: items, each code once, and rows that are not sent. */
import { shorten } from '../tables/prices.ts'
import type { Row } from '../tables/sheet.ts'
import type { Item } from './batches.ts'
import { isFilled, rowText, textOf } from './cells.ts'
import type { Tally } from './columns.ts'
import { factorOf, type Past } from './compare.ts'
import type { FileTexts } from './file-texts.ts'
import { REASONS, type Reason, type Rejected } from './found.ts'
import { type Candidate, type Code, newCode, type Problem } from './rows.ts'

/** How many rows are listed for each reason, and kept for each rank: more than ten, because some are not sent or have several ranks. */
const MAX_KEPT = 50
export const MAX_CELL = 200
/** How many cells are shown of a row that is not sent. */
const SHOWN_CELLS = 8

/** Where a text stands: the labels of the columns that its row fills, without the first column, which has titles and notes. */
export const placeOfRow = (cells: readonly string[], labels: readonly string[]): string =>
  cells.flatMap((cell, index) => (index > 0 && isFilled(cell) ? (labels[index] ?? []) : [])).join(' · ')

export class Items {
  /** The codes by their texts in lower case. */
  readonly codes: Map<string, Code>
  /** The codes that have an item, in the order of the file. */
  readonly inOrder: Code[] = []
  readonly ranks = {
    rises: new Top<Candidate>(),
    falls: new Top<Candidate>(),
    dearest: new Top<Candidate>(),
    cheapest: new Top<Candidate>(),
    added: new Top<Candidate>(),
    first: new Top<Candidate>(),
  }
  readonly #rejected = new Map<Reason, { count: number; rows: Top<Rejected> }>()
  readonly #codePlace: number
  readonly #past: Past | null
  readonly #texts: FileTexts
  readonly #labels: readonly string[]

  /** `codePlace`: the column of the codes, from 0; `labels`: the names of the columns. Rows that are not sent are added to `texts`. */
  constructor(codePlace: number, past: Past | null, texts: FileTexts, labels: readonly string[]) {
    this.#codePlace = codePlace
    this.#past = past
    this.codes = past?.codes ?? new Map()
    this.#texts = texts
    this.#labels = labels
  }

  /** Adds the result of a row. `tallies`: the values of the row that still want an item. */
  add({ line, cells }: Row, result: Item | Problem, tallies: readonly Tally[]): void {
    if ('reason' in result) {
      this.#reject(textOf(cells[this.#codePlace]), line, result, cells)
      return
    }
    const code = this.#codeOf(result.code)
    const { item } = code
    if (item === null) {
      code.item = result
      code.row = line
      code.state = 'sent'
      this.inOrder.push(code)
      this.#rank({ code, item: result, cells })
      for (const tally of tallies) tally.items.push({ code, item: result, cells })
      return
    }
    const isSent = code.state === 'sent'
    if (isSent && item.price === result.price && item.unit === result.unit) return
    code.state = 'notSent'
    this.#reject(result.code, line, { reason: 'otherPrice', detail: String(code.row) }, cells)
    const before = Object.values(item).map(String)
    if (isSent) this.#reject(item.code, code.row, { reason: 'otherPrice', detail: String(line) }, before)
  }

  /** The items that are sent, in the order of the file. */
  *sent(): Generator<Item> {
    for (const { item, state } of this.inOrder) if (item && state === 'sent') yield item
  }

  /** The rows that are not sent, by their reasons; those that are new first. */
  get rejected(): { reason: Reason; count: number; rows: Rejected[] }[] {
    return REASONS.flatMap((reason) => {
      const { count, rows } = this.#rejected.get(reason) ?? {}
      if (!count || !rows) return []
      const sorted = rows.all.sort((a, b) => Number(b.isNew) - Number(a.isNew) || a.row - b.row)
      const cut = (cells: string[]) => cells.slice(0, SHOWN_CELLS).map((cell) => shorten(cell.trim(), 60))
      return [{ reason, count, rows: sorted.map((row) => ({ ...row, cells: cut(row.cells) })) }]
    })
  }

  #reject(text: string, row: number, { reason, detail }: Problem, cells: string[]): void {
    const known = this.codes.get(text.toLowerCase())
    if (known?.state === 'absent' || known?.state === 'leftOut')
      known.state = reason === 'leftOut' ? 'leftOut' : 'notSent'
    // A person who ticks values, or leaves a row out, knows what is not sent.
    const isKnown = reason === 'notTicked' || reason === 'leftOut' || this.#wasText(row, text, cells)
    const isNew = this.#past !== null && reason !== 'leftOut' && (Boolean(known?.received) || !isKnown)
    const found = this.#rejected.get(reason) ?? { count: 0, rows: new Top() }
    this.#rejected.set(reason, found)
    found.count++
    const code = shorten(text, MAX_CELL)
    found.rows.add(isNew ? 1 : 0, { row, reason, detail, code, isNew, cells })
  }

  #codeOf(text: string): Code {
    const key = text.toLowerCase()
    const known = this.codes.get(key)
    if (known) return known
    const code = newCode(null)
    this.codes.set(key, code)
    return code
  }

  /** Adds a row to the texts. If it has a code, a long text is shortened. Returns whether the last file had the row. */
  #wasText(row: number, code: string, cells: readonly string[]): boolean {
    const whole = rowText(cells)
    const text = code === '' ? whole : shorten(whole, code.length + MAX_CELL)
    const key = this.#texts.add({ where: placeOfRow(cells, this.#labels), text, row, code })
    return this.#past?.texts.has(key) === true
  }

  #rank(candidate: Candidate): void {
    const { rises, falls, dearest, cheapest, added, first } = this.ranks
    const { price } = candidate.item
    const factor = factorOf(price, candidate.code.received)
    if (factor === null) added.add(0, candidate)
    else if (factor > 1) rises.add(factor, candidate)
    else if (factor < 1) falls.add(-factor, candidate)
    dearest.add(price, candidate)
    cheapest.add(-price, candidate)
    first.add(0, candidate)
  }
}

/** Keeps the entries with the highest ranks, and among equal ranks the first ones. */
class Top<T> {
  readonly #kept: { rank: number; one: T }[] = []

  add(rank: number, one: T): void {
    const last = this.#kept[MAX_KEPT - 1]
    if (last && rank <= last.rank) return
    const place = this.#kept.findLastIndex((other) => other.rank >= rank) + 1
    this.#kept.splice(place, 0, { rank, one })
    this.#kept.length = Math.min(this.#kept.length, MAX_KEPT)
  }

  get all(): T[] {
    return this.#kept.map(({ one }) => one)
  }
}
