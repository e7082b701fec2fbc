/** What users read about a table that they uploaded, by code, as in `src/web/texts.ts`. A line number may stand before a problem. */
export const texts = {
  line: (line: number, problem: string) => `Line ${line}: ${problem}`,

  unreadableFile: 'This file cannot be read',

  /** Why a file cannot be read. */
  unreadable: {
    empty: 'the file is empty.',
    damagedText: 'the text is damaged: it is not valid UTF-8; save it as XLSX or "CSV UTF-8" and try again.',
    /** `what`: the format, with its article. */
    otherFormat: (what: string) =>
      `this is ${what}, which cannot be read; save the list as XLSX or "CSV UTF-8" and try again.`,
    binary:
      'this is a binary file, not text (it has a zero byte); save it as XLSX or "CSV UTF-8" and try again.',
    unclosedQuote:
      'a quote opened here is never closed, so the rest of the file cannot be read. Fix it and try again.',
    longRow:
      'a row longer than 2 MB starts here, so the rest of the file cannot be read. If a quote opens here, close it and try again.',
    noSheets: 'the workbook has no sheets.',
    damagedWorkbook:
      'the workbook is damaged; open it in your spreadsheet, save it as XLSX again, or save it as CSV UTF-8.',
    columns: (max: number) => `it has more than ${max} columns.`,
    noRows: 'the file has no rows.',
    rows: (max: number) =>
      `it has more than ${max.toLocaleString('en-AU')} rows; split it into smaller files.`,
    longCell: 'a cell is longer than a spreadsheet allows.',
    fixedWidth:
      'blanks separate its columns (fixed width), which cannot be read; open it in your spreadsheet as text with columns of a fixed width, save the list as XLSX or "CSV UTF-8" and try again.',
    csvInColumn:
      'each row is a line of CSV in one cell; select that column in your spreadsheet, choose "Text to Columns" in the menu Data, save the list as XLSX and try again.',
    tooMuch: 'this file takes too much time or memory to read. Split it into smaller files.',
  },

  column: (number: number) => `column ${number}`,

  truncated: (text: string, length: number) => `${text}… (${length} characters)`,
}
