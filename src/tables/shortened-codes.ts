/** Whether a spreadsheet has shortened a code to a number such as `9.31E+12`, or `9,31E+12` with a decimal comma. */
export const isShortened = (code: string): boolean => /^\d([.,]\d+)?E\+\d{1,3}$/i.test(code)

/** Says what is wrong with a shortened code, and what to do. */
export const shortenedProblem = (code: string): string =>
  `the code "${code}" was shortened by a spreadsheet, so its last digits are lost. Format the column as text and export it again.`
