/** A row that is not blank. */
export interface Row {
  /** The number of its first line, or of its row in a spreadsheet, starting at 1. */
  line: number
  /** Text as it is shown, not trimmed. */
  cells: string[]
  /** The numbers in a spreadsheet's cells, rounded as they are shown; NaN for dates and percentages, undefined for text. */
  numbers?: (number | undefined)[]
  /** The columns of a spreadsheet's cells that are struck out. */
  struck?: number[]
}

/** A table that is being read. */
export interface Table {
  /** The rows, in batches. */
  rows: AsyncGenerator<Row[]>
  /** What the cells of delimited text are separated by; undefined for a spreadsheet. */
  delimiter?: string
  /** The name of the sheet that is read, and of all visible sheets; undefined and empty for text. */
  sheet?: string
  sheets: string[]
  /** User-facing sentences on what was assumed. */
  remarks: string[]
  /** More of them, complete when all rows have been read. */
  lateRemarks: string[]
  /** What is printed above and below each page, complete when all rows have been read. */
  printed: string[]
  /** The texts of comments and of text boxes on the sheet. */
  comments: string[]
  /** The columns of a spreadsheet that are hidden, complete when the first rows have been read. */
  hiddenColumns: number[]
  /** Cells that are merged with those below them, complete when all rows have been read. */
  merged: MergedCells[]
  /** The first rows of the other visible sheets, of the first few that are not large. */
  readOther(): Promise<{ sheet: string; rows: Row[] }[]>
}

/** Cells of several rows that are merged. Columns count from 0, lines from 1. */
export interface MergedCells {
  firstColumn: number
  lastColumn: number
  firstLine: number
  lastLine: number
}
