import type { Encoding } from './encoding.ts'

/** A row that is not blank. */
export interface Row {
  /** The number of its first line, or of its row in a spreadsheet, starting at 1. */
  line: number
  /** The texts as they are shown, not trimmed. */
  cells: string[]
  /** The numbers in a spreadsheet's cells, as they are stored; undefined for text. */
  numbers?: (number | undefined)[]
  /** The columns of a spreadsheet's cells that are struck out. */
  struck?: number[]
}

/** A sheet of a workbook, or a text file. */
export interface Sheet {
  /** Empty for a text file. */
  name: string
  isHidden: boolean
  /** What separates the cells of text; undefined for a spreadsheet. */
  delimiter?: string
  /** Streams the rows. Throws `UnreadableFileError`. */
  rows(): AsyncGenerator<Row[]>
  /**
   * Returns comments, text boxes, and what is printed on each page. Call it when all rows have been read. Throws
   * `UnreadableFileError`.
   */
  notes(): Promise<string[]>
  /** How many of the rows that have been read are hidden. */
  hiddenRows(): number
}

/** An open file. */
export interface OpenFile {
  /** All sheets, hidden ones too. */
  sheets: Sheet[]
  /** How the text is encoded; undefined for a workbook. */
  encoding?: Encoding
  close(): void
}
