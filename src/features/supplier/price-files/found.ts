/** The result of reading a price file. It is stored, and is a part of the JSON of its import. `sentences.ts` puts it into words. */
import type { Item } from './batches.ts'
import type { Choice, Draft } from './choice.ts'
import type { FileMemory, PlacedText, Received, SentFile } from './received.ts'
import type { Use } from './uses.ts'

/** A value of a column and the number of its rows. A blank cell is an empty text. */
export interface Value {
  value: string
  count: number
}

/** A column as page one shows it. */
export interface OutlineColumn {
  heading: string
  /** From 1. */
  number: number
  /** The different values with their counts, the most frequent first; null if there are more than `MAX_VALUES`. */
  values: Value[] | null
  /** Up to three of its cells in the first rows, cut. */
  samples: string[]
  /** The use that is filled in: from the last choice, or else suggested by the heading. */
  use: Use
  /** The values that are ticked, for `only` and `taxed`. */
  ticked: string[]
}

/** What page one shows. */
export interface Outline extends Pick<Draft, 'money' | 'units' | 'decimal'> {
  /** Who sent the file whose choice is filled in, and when; null if the columns are suggested, or filled in by a person. */
  lastChoice: Pick<SentFile, 'at' | 'by'> | null
  sheets: { name: string; isHidden: boolean }[]
  /** The sheet that is shown; empty for text. */
  sheet: string
  /** The row of the headings; 0 if there are none. */
  headingsRow: number
  /** The rows above the table, at most 1,000, each as one text. */
  above: { row: number; text: string }[]
  /** The first six rows of the table. */
  rows: { row: number; cells: string[] }[]
  columns: OutlineColumn[]
  /** A cell of the price column that is another number with the other decimal sign. If it is null, page one does not ask. */
  ambiguousPrice: string | null
  remarks: Remark[]
}

/** How a file was read. */
export type Remark = { kind: 'windows1252' } | { kind: 'hiddenRows'; rows: number }

/** Why a row is not sent. */
export const REASONS = [
  'noCode',
  'noPrice',
  'unreadablePrice',
  'negativePrice',
  'otherPrice',
  'damagedCode',
  'errorCell',
  'noValue',
  'struckOut',
  'count',
  'notTicked',
  'moreCells',
  'openQuote',
  'invisible',
  'leftOut',
] as const
export type Reason = (typeof REASONS)[number]

/** A row that will not be sent. */
export interface Rejected {
  row: number
  reason: Reason
  /** The cell that is the reason, shortened, or the number of the row with the other price. */
  detail: string
  /** Its code, if it has one. */
  code: string
  /** Whether the row is marked as new: this catalogue received its code before, or the last file had no such row. */
  isNew: boolean
  /** Its first cells, cut. */
  cells: string[]
}

/** One of the ten rows. */
export interface Example {
  row: number
  item: Item
  /** In dollars before tax; null if the code was not received before. */
  oldPrice: number | null
  /** The cells that are neither in the first line nor the same in every row, and all new ones. `isNew`: new in its column. */
  others: { heading: string; value: string; isNew: boolean }[]
}

/** What differs from what the catalogue received last from here. */
export interface Compared {
  /** The last file with the same headings, or else the last file; null if nothing was received from here. */
  with: { fileName: string; at: string; isUnfinished: boolean } | null
  same: number
  higher: number
  lower: number
  /** The largest and the smallest new/old of the changed prices; null if none changed. In JSON, also null if the old price was 0. */
  largest: number | null
  smallest: number | null
  added: number
  gone: number
  /** Some of the codes that are no longer in the file. */
  goneCodes: string[]
  /** Texts that the last file did not have, and those that only the last file had. */
  newTexts: PlacedText[]
  goneTexts: PlacedText[]
  /** How many more texts the file has, which are not compared. */
  uncomparedTexts: number
  newValues: NewValues[]
}

/** The values that a column did not have. */
export interface NewValues {
  heading: string
  values: Value[]
  /** How many new values are dates, or amounts beside the price. They are not listed. */
  dates: number
  amounts: number
  /** Whether the column now has too many values to compare. */
  isMany: boolean
  hadAtMostFive: boolean
}

/** Why page two asks for a tick before anything is sent. `items` and `of` count items, `count` counts rows. */
export type BoxReason =
  | { kind: 'nothingReceived' }
  | { kind: 'halfOutside' | 'farOutside' | 'unknownCodes' | 'knownNotSent'; items: number; of: number }
  | { kind: 'oneFactor'; items: number; of: number; factor: number }
  | { kind: 'money'; before: Choice['money'] }
  | { kind: 'units'; before: number }
  | { kind: 'priceColumn'; before: string }
  | { kind: 'newValue'; heading: string; value: string; count: number }
  /** The column had at most five values, and now has too many to count. */
  | { kind: 'manyValues'; heading: string }

/** What page two shows. */
export interface Found {
  /** The choice as it was used, with the columns as this file has them. */
  choice: Choice
  rows: number
  items: number
  compared: Compared
  /** The values that are the same in every row. */
  constants: { heading: string; value: string }[]
  /** Ten rows, or all if there are fewer. */
  examples: Example[]
  /** Counts by reason, and up to 50 rows of each, new ones first. */
  rejected: { reason: Reason; count: number; rows: Rejected[] }[]
  box: BoxReason[]
  /** What is remembered of this file when it has been sent. */
  memory: FileMemory
}

/** The result of reading a file. */
export interface Reading {
  outline: Outline
  /** Page two; null if page one must be filled in first. */
  found: Found | null
  /** Why the choice that is filled in cannot be used. Also empty if there is no choice yet. */
  missing: Missing[]
}

/** Why page one must be filled in. `field`: the field of the form; `columns` stands for any one of the columns. */
export type Missing = { field: string } & (
  | { kind: 'unanswered'; what: 'code' | 'price' | 'money' }
  /** The last choice has a sheet or a column that this file does not have. */
  | { kind: 'noSheet'; name: string }
  | { kind: 'noColumn'; use: Use; heading: string }
  | { kind: 'nothingTicked' | 'manyValues'; heading: string }
  /** Some rows include GST, and the answer about the money is "before GST". */
  | { kind: 'taxedBeforeGst' }
  /** The price in this cell is another number with the other decimal sign. */
  | { kind: 'decimal'; cell: string }
)

/** How a file is to be read. */
export interface ReadOptions {
  /** Page one as it was filled in; null: the last choice for these headings, or else the last choice, or else suggestions. */
  draft: Draft | null
  /** Whether the person goes on to page two with the draft; without a draft, page two is shown if the last choice fits. */
  goOn: boolean
  received: Received | null
  /** The codes of rows that a person left out by hand. */
  leftOut: readonly string[]
  /** The folder to write the items to as upload requests, for `readBatch`. */
  itemsPath?: string
}
