/** Whether a spreadsheet has shortened a code to a number such as `9.31E+12`, or `9,31E+12` with a decimal comma. */
export const isShortened = (code: string): boolean => /^\d([.,]\d+)?E\+\d{1,3}$/i.test(code)

/** A number of more than 15 digits whose other digits are zeros: a spreadsheet keeps 15. */
export const hasLostDigits = (code: string): boolean => /^[1-9]\d{14}0+$/.test(code) && code.length > 15

const MONTH = '(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'
/** How spreadsheets show dates, times, percentages and amounts; codes have their months in capitals. */
const CONVERTED = new RegExp(
  [
    `^\\d{1,2}[- ]${MONTH}([- ]\\d{2,4})?$`,
    `^${MONTH}[- ]\\d{2}$`,
    '^\\d{1,2}/\\d{1,2}/\\d{2,4}( \\d.*)?$',
    '^\\d{4}-\\d{2}-\\d{2}( \\d\\d:.*)?$',
    '^\\d{1,2}:\\d{2}(:\\d{2})?( ?[ap]m)?$',
    '^[\\d.]+ ?%$',
    '^[$€£] ?[\\d.,]+$',
  ].join('|'),
  'i',
)
const UPPER_MONTH = /[A-Z]{3}/

/** Whether a spreadsheet has turned a code into a date, a time, a percentage or an amount: `1-Feb`, `12:28`. */
export const isConverted = (code: string): boolean => CONVERTED.test(code) && !UPPER_MONTH.test(code)
