/** A row that is not blank. */
export interface Row {
  /** The number of its first line, or of its row in a spreadsheet, starting at 1. */
  line: number
  /** Text as it is shown, not trimmed. */
  cells: string[]
  /** The numbers in a spreadsheet's cells, rounded as they are shown; NaN for dates and percentages, undefined for text. */
  numbers?: (number | undefined)[]
}
