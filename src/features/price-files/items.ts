/** Collects what the rows of a table come to: items, each code once, and rows that are not sent. */
import { shorten } from '../../tables/prices.ts'
import type { Row } from '../../tables/sheet.ts'
import type { Item } from './batches.ts'
import { isFilled, rowText, textOf } from './cells.ts'
import type { Choice } from './choice.ts'
import type { Tally } from './columns.ts'
import { factorOf, type Past } from './compare.ts'
import { codeKey, type Texts, textKey } from './file-texts.ts'
import { REASONS, type Reason, type Rejected } from './found.ts'
import type { Problem } from './rows.ts'
import { FIELD_USES } from './uses.ts'

/** The first row with a code. */
export interface Entry {
  item: Item
  row: number
  /** Dollars before tax; null: the code was not received before. */
  oldPrice: number | null
  /** Whether it is sent: another row may have another price. */
  isSent: boolean
}
/** An item that may be one of the ten rows. */
export interface Candidate {
  entry: Entry
  cells: readonly string[]
}
export type Ranks = ReturnType<typeof createRanks>

/** How many rows are listed for each reason, and how many are kept of each rank: some are not sent, or have several ranks. */
const [MAX_LISTED, MAX_RANKED] = [50, 50]
const MAX_CELL = 200

export interface Context {
  choice: Choice
  past: Past | null
  texts: Texts
  /** The names of the columns. */
  labels: readonly string[]
}

/** Where a row stands: the columns that it fills beside the first one, in which titles and notes are. */
export const placeOfRow = (cells: readonly string[], labels: readonly string[]): string =>
  labels.filter((_, index) => index > 0 && isFilled(cells[index])).join(' · ')

export function createItems({ choice, past, texts, labels }: Context) {
  /** By code in lower case. */
  const entries = new Map<string, Entry>()
  const ranks = createRanks()
  const rejected = createRejected()
  /** Codes that were received before and are in rows that are not sent; `byHand`: only because they were left out. */
  const notSent = new Set<string>()
  const byHand = new Set<string>()
  const code = choice.code.number - 1

  function reject(row: number, { reason, detail }: Problem, cells: readonly string[]): void {
    const own = textOf(cells[code])
    const wasReceived = past?.prices.has(own.toLowerCase()) ?? false
    if (wasReceived) (reason === 'leftOut' ? byHand : notSent).add(own.toLowerCase())
    // Whoever ticks values, or leaves a row out, knows what is not sent.
    const isKnown = reason === 'notTicked' || reason === 'leftOut' || wasText(own, row, cells)
    rejected.add({ row, reason, detail, code: own, isNew: past !== null && (wasReceived || !isKnown) }, cells)
  }

  /** Adds a row to the texts. Returns whether the last file had it. */
  function wasText(own: string, row: number, cells: readonly string[]): boolean {
    const text = { where: placeOfRow(cells, labels), text: rowText(cells) }
    if (own === '') {
      texts.add(text.where, text.text, row)
      return past?.texts.has(textKey(text)) ?? false
    }
    texts.addRow(own, shorten(text.text, MAX_CELL), row)
    return past?.codes.has(codeKey(own)) ?? false
  }

  return {
    entries,
    ranks,
    notSent,
    byHand,
    rejected: rejected.list,
    /** Adds what a row comes to. `unseen`: its values that no item has had. */
    add({ line, cells }: Row, result: Item | Problem, unseen: readonly Tally<Candidate>[]): void {
      if ('reason' in result) {
        reject(line, result, cells)
        return
      }
      const key = result.code.toLowerCase()
      const earlier = entries.get(key)
      if (!earlier) {
        const oldPrice = past?.prices.get(key)?.price ?? null
        const candidate = { entry: { item: result, row: line, oldPrice, isSent: true }, cells }
        entries.set(key, candidate.entry)
        ranks.add(candidate)
        for (const tally of unseen) tally.first = candidate
        return
      }
      if (earlier.isSent && earlier.item.price === result.price && earlier.item.unit === result.unit) return
      reject(line, { reason: 'otherPrice', detail: String(earlier.row) }, cells)
      if (!earlier.isSent) return
      earlier.isSent = false
      reject(
        earlier.row,
        { reason: 'otherPrice', detail: String(line) },
        cellsOf(earlier.item, choice, labels.length),
      )
    },
  }
}

/** What a row had in the columns that are used: not every row is kept in memory. */
function cellsOf(item: Item, choice: Choice, width: number): string[] {
  const cells = Array.from({ length: width }, () => '')
  for (const use of FIELD_USES) {
    const column = choice[use]
    if (column && use !== 'count') cells[column.number - 1] = String(item[use] ?? '')
  }
  return cells
}

/** Counts the rows that are not sent by their reasons, and keeps some of each, those that are new first. */
function createRejected() {
  const byReason = new Map<Reason, { count: number; fresh: Rejected[]; known: Rejected[] }>()
  return {
    add(row: Omit<Rejected, 'cells'>, cells: readonly string[]): void {
      const found = byReason.get(row.reason) ?? { count: 0, fresh: [], known: [] }
      byReason.set(row.reason, found)
      found.count++
      const list = row.isNew ? found.fresh : found.known
      if (list.length < MAX_LISTED)
        list.push({
          ...row,
          code: shorten(row.code, MAX_CELL),
          cells: cells.map((cell) => shorten(cell.trim(), MAX_CELL)),
        })
    },
    list: () =>
      REASONS.flatMap((reason) => {
        const found = byReason.get(reason)
        if (!found) return []
        const byRow = (rows: Rejected[]) => rows.toSorted((a, b) => a.row - b.row)
        const rows = [...byRow(found.fresh), ...byRow(found.known)].slice(0, MAX_LISTED)
        return [{ reason, count: found.count, rows }]
      }),
  }
}

/** Keeps the items that may be among the ten rows by their prices, and the first ones. */
function createRanks() {
  const top = () => {
    const kept: { rank: number; candidate: Candidate }[] = []
    return {
      kept,
      add(candidate: Candidate, rank: number): void {
        const last = kept[MAX_RANKED - 1]
        if (last && rank <= last.rank) return
        const place = kept.findLastIndex((other) => other.rank >= rank) + 1
        kept.splice(place, 0, { rank, candidate })
        kept.length = Math.min(kept.length, MAX_RANKED)
      },
    }
  }
  const lists = { rises: top(), falls: top(), dearest: top(), cheapest: top(), added: top(), first: top() }
  return {
    add(candidate: Candidate): void {
      const { entry } = candidate
      const factor = factorOf(entry)
      if (factor !== null && factor > 1) lists.rises.add(candidate, factor)
      if (factor !== null && factor < 1) lists.falls.add(candidate, -factor)
      lists.dearest.add(candidate, entry.item.price)
      lists.cheapest.add(candidate, -entry.item.price)
      if (factor === null) lists.added.add(candidate, 0)
      lists.first.add(candidate, 0)
    },
    /** The items of a rank, the highest first. */
    of: (rank: keyof typeof lists): Candidate[] => lists[rank].kept.map(({ candidate }) => candidate),
  }
}
