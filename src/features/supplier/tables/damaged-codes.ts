const MONTH = '(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'
/** How spreadsheets show dates, times, percentages and amounts. With a month in capitals, such as 1-FEB, a code is real. */
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
/** A spreadsheet keeps 15 digits of a number. This number and larger ones have more digits. */
const MAX_NUMBER = 1e15

/**
 * Whether a code looks as if a spreadsheet had damaged it. A spreadsheet shortens a long number to `9.31E+12` (`9,31E+12` with a
 * decimal comma), or replaces the digits after the fifteenth with zeros. It also turns codes into dates, times, percentages and
 * amounts, such as `1-Feb`. `shown`: the number in the cell, if it has one.
 */
export function isDamaged(code: string, shown = 0): boolean {
  // A code of up to fifteen digits is never damaged, even if it ends in zeros.
  if (/^\d{1,15}$/.test(code)) return false
  const isShortened = /^\d([.,]\d+)?E\+\d{1,3}$/i.test(code) || /^[1-9]\d{14}0+$/.test(code)
  return isShortened || shown >= MAX_NUMBER || (CONVERTED.test(code) && !UPPER_MONTH.test(code))
}
