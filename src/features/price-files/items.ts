/** Collects what the rows of a table come to: items, each code once, and rows that are not sent. */
import { shorten } from '../../tables/prices.ts'
import type { Row } from '../../tables/sheet.ts'
import type { Item } from './batches.ts'
import { isFilled, rowText, textOf } from './cells.ts'
import type { Choice } from './choice.ts'
import type { Tally } from './columns.ts'
import { factorOf, type Past } from './compare.ts'
import type { FileTexts } from './file-texts.ts'
import { REASONS, type Reason, type Rejected } from './found.ts'
import type { Candidate, Entry, Problem } from './rows.ts'
import { FIELD_USES } from './uses.ts'

/** How many rows are listed for each reason, and how many are kept of each rank: some are not sent, or have several ranks. */
const [MAX_LISTED, MAX_RANKED] = [50, 50]
export const MAX_CELL = 200

/** Where a row stands: the columns that it fills beside the first one, in which titles and notes are. */
export const placeOfRow = (cells: readonly string[], labels: readonly string[]): string =>
  labels.filter((_, index) => index > 0 && isFilled(cells[index])).join(' · ')

export class Items {
  /** By code in lower case. */
  readonly entries = new Map<string, Entry>()
  /** Codes that were received before and are in rows that are not sent; `leftOut`: only because a person left them out. */
  readonly notSent = new Set<string>()
  readonly leftOut = new Set<string>()
  readonly ranks = {
    rises: new Top(),
    falls: new Top(),
    dearest: new Top(),
    cheapest: new Top(),
    added: new Top(),
    first: new Top(),
  }
  readonly #rejected = new Map<Reason, { count: number; fresh: Rejected[]; known: Rejected[] }>()
  readonly #choice: Choice
  readonly #past: Past | null
  readonly #texts: FileTexts
  readonly #labels: readonly string[]

  /** `labels`: the names of the columns. Rows that are not sent are added to `texts`. */
  constructor(choice: Choice, past: Past | null, texts: FileTexts, labels: readonly string[]) {
    this.#choice = choice
    this.#past = past
    this.#texts = texts
    this.#labels = labels
  }

  /** Adds what a row comes to. `tallies`: its values that want an item. */
  add({ line, cells }: Row, result: Item | Problem, tallies: readonly Tally[]): void {
    if ('reason' in result) {
      this.#reject(line, result, cells)
      return
    }
    const key = result.code.toLowerCase()
    const earlier = this.entries.get(key)
    if (!earlier) {
      const oldPrice = this.#past?.prices.get(key)?.price ?? null
      const entry = { item: result, row: line, oldPrice, isSent: true }
      this.entries.set(key, entry)
      this.#rank(entry, cells)
      for (const tally of tallies) tally.items.push({ entry, cells })
      return
    }
    if (earlier.isSent && earlier.item.price === result.price && earlier.item.unit === result.unit) return
    this.#reject(line, { reason: 'otherPrice', detail: String(earlier.row) }, cells)
    if (!earlier.isSent) return
    earlier.isSent = false
    this.#reject(earlier.row, { reason: 'otherPrice', detail: String(line) }, this.#cellsOf(earlier.item))
  }

  /** The items that are sent, in the order of the file. */
  *sent(): Generator<Item> {
    for (const { item, isSent } of this.entries.values()) if (isSent) yield item
  }

  /** The rows that are not sent, by their reasons; those that are new first. */
  get rejected(): { reason: Reason; count: number; rows: Rejected[] }[] {
    const byRow = (rows: Rejected[]) => rows.toSorted((a, b) => a.row - b.row)
    return REASONS.flatMap((reason) => {
      const { count, fresh, known } = this.#rejected.get(reason) ?? { count: 0, fresh: [], known: [] }
      return count > 0
        ? [{ reason, count, rows: [...byRow(fresh), ...byRow(known)].slice(0, MAX_LISTED) }]
        : []
    })
  }

  #reject(row: number, { reason, detail }: Problem, cells: readonly string[]): void {
    const code = textOf(cells[this.#choice.code.number - 1])
    const key = code.toLowerCase()
    const wasReceived = this.#past?.prices.has(key) === true
    if (wasReceived) (reason === 'leftOut' ? this.leftOut : this.notSent).add(key)
    // Whoever ticks values, or leaves a row out, knows what is not sent.
    const isKnown = reason === 'notTicked' || reason === 'leftOut' || this.#wasText(row, code, cells)
    const isNew = this.#past !== null && (wasReceived || !isKnown)
    const found = this.#rejected.get(reason) ?? { count: 0, fresh: [], known: [] }
    this.#rejected.set(reason, found)
    found.count++
    const list = isNew ? found.fresh : found.known
    if (list.length === MAX_LISTED) return
    const cut = cells.map((cell) => shorten(cell.trim(), MAX_CELL))
    list.push({ row, reason, detail, code: shorten(code, MAX_CELL), isNew, cells: cut })
  }

  /** Adds a row to the texts. Returns whether the last file had it. */
  #wasText(row: number, code: string, cells: readonly string[]): boolean {
    const whole = rowText(cells)
    const text = code === '' ? whole : shorten(whole, MAX_CELL)
    const key = this.#texts.add({ where: placeOfRow(cells, this.#labels), text, row, code })
    return this.#past?.texts.has(key) === true
  }

  #rank(entry: Entry, cells: readonly string[]): void {
    const { rises, falls, dearest, cheapest, added, first } = this.ranks
    const factor = factorOf(entry)
    if (factor === null) added.add(0, entry, cells)
    else if (factor > 1) rises.add(factor, entry, cells)
    else if (factor < 1) falls.add(-factor, entry, cells)
    dearest.add(entry.item.price, entry, cells)
    cheapest.add(-entry.item.price, entry, cells)
    first.add(0, entry, cells)
  }

  /** What a row had in the columns that are used. */
  #cellsOf(item: Item): string[] {
    const cells = this.#labels.map(() => '')
    for (const use of FIELD_USES) {
      const column = this.#choice[use]
      if (column && use !== 'count') cells[column.number - 1] = String(item[use] ?? '')
    }
    return cells
  }
}

/** Keeps the items with the highest ranks, and of the same rank the first ones. */
class Top {
  readonly #kept: { rank: number; candidate: Candidate }[] = []

  add(rank: number, entry: Entry, cells: readonly string[]): void {
    const last = this.#kept[MAX_RANKED - 1]
    if (last && rank <= last.rank) return
    const place = this.#kept.findLastIndex((other) => other.rank >= rank) + 1
    this.#kept.splice(place, 0, { rank, candidate: { entry, cells } })
    this.#kept.length = Math.min(this.#kept.length, MAX_RANKED)
  }

  get candidates(): Candidate[] {
    return this.#kept.map(({ candidate }) => candidate)
  }
}
