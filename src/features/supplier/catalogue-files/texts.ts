/** Why a catalogue file is refused: each expectation, and how to meet it in the programs that make such files. */
import { BOUNDS, OPTIONAL, REQUIRED } from './items.ts'

/** The expected content of a cell, a line or a header, and how to set it right. */
export interface Expectation {
  expected: string
  cure: string
}

const count = (value: number) => value.toLocaleString('en-AU')
const TEMPLATE = `${REQUIRED.join(' and ')}, and optionally ${OPTIONAL.join(', ')}`

const SAVE_AS_CSV =
  'To save a spreadsheet as CSV, choose “Save as” and “CSV UTF-8” in Excel, “Save as” and “Text CSV” in LibreOffice, “Download” and “Comma-separated values” in Google Sheets, “Export to” and “CSV” in Numbers.'
const PLAIN_NUMBER =
  'Set the format of the column to 0.00: in Excel, LibreOffice and Google Sheets as a custom number format; in Numbers as “Number” without a thousands separator. Then save the CSV again.'
const AS_TEXT =
  'Set the format of the column to text before you enter or import the values: “Text” in Excel, LibreOffice and Numbers, “Plain text” in Google Sheets. Then enter the lost digits again.'
const FIX_FORMULA = 'Correct the formula, or replace it with its value: copy the cells and paste values only.'

export const texts = {
  /** The possible problems of a line. */
  expectations: {
    noPrice: { expected: 'a price, such as 12.50', cure: 'Enter the price, or delete the line.' },
    currency: { expected: 'the amount alone, such as 12.50, without a currency', cure: PLAIN_NUMBER },
    thousands: { expected: 'a price without a thousands separator, such as 1234.50', cure: PLAIN_NUMBER },
    decimalComma: {
      expected: 'a price with a decimal point, such as 12.50',
      cure: 'Set the decimal separator to a point: for Excel in Windows under “Region”, “Additional settings”, or on a Mac under “Language & Region”, as for Numbers; in LibreOffice under “Tools”, “Options”, “Languages and Locales”; in Google Sheets under “File”, “Settings”, “Locale”. Then save the CSV again.',
    },
    exponent: { expected: 'a price with all of its digits, such as 1200', cure: PLAIN_NUMBER },
    negative: { expected: 'a price of 0 or more', cure: 'Enter the price, or delete the line.' },
    percent: {
      expected: 'an amount in dollars, such as 12.50, not a percentage',
      cure: 'Enter the amount in dollars.',
    },
    decimals: {
      expected: 'a price with at most four digits after the point, such as 12.50',
      cure: 'Round the price: =ROUND(B2,2) in Excel, LibreOffice, Google Sheets and Numbers, or to two digits in a script. Then save the CSV again.',
    },
    noNumber: {
      expected: 'a price, such as 12.50: up to nine digits, and optionally a point and up to four more',
      cure: 'Enter the price, or delete the line. Check whether this column is the price.',
    },
    noCode: { expected: 'a code', cure: 'Enter the code of the item, or delete the line.' },
    longCode: {
      expected: 'a code of at most 100 characters',
      cure: 'Check whether this column is the code.',
    },
    doubledCode: {
      expected: 'each code only once, regardless of capitals',
      cure: 'Delete one of the lines, or give the items different codes.',
    },
    encoding: {
      expected: 'text in UTF-8',
      cure: 'Some characters are lost (�). Save the CSV again as UTF-8: in Excel as “CSV UTF-8”; in LibreOffice with the character set “Unicode (UTF-8)”; in Numbers with the text encoding “Unicode (UTF-8)”. If � is in the spreadsheet itself, enter the character again.',
    },
    invisible: {
      expected: 'text without line breaks and invisible characters',
      cure: 'Enter the text again, or use =CLEAN(A2) in Excel, LibreOffice, Google Sheets and Numbers.',
    },
    formula: { expected: 'a value, not a formula or an error of a spreadsheet', cure: FIX_FORMULA },
    shortened: { expected: 'all digits: a spreadsheet has shortened a long number', cure: AS_TEXT },
    quote: {
      expected: 'a quote at the end of a text that begins with a quote, in the same line',
      cure: 'Double the quotes within such a text, as in "2"" nail". It contains no line break: to remove line breaks in a spreadsheet, use =CLEAN(A2).',
    },
    surplus: {
      expected: 'no more cells than there are column names',
      cure: 'Put a text that contains the separator into quotes, as in "Nail, galvanised", and write a price with a point and without a thousands separator.',
    },
    unnamed: {
      expected: 'an empty cell, because its column has no name',
      cure: 'Name the column in the first line, or delete it. pandas writes no such column with index=False.',
    },
    doubledColumn: {
      expected: 'each column only once',
      cure: "Delete the column that you don't want to send.",
    },
    missingColumn: {
      expected: 'a column with this name',
      cure: `The first line names the columns: ${TEMPLATE}.`,
    },
  } satisfies Record<string, Expectation>,

  /** `names`: the columns that may be meant. */
  unknownColumn: (names: readonly string[]): Expectation => {
    const meant = new Intl.ListFormat('en-AU', { type: 'disjunction' }).format(names)
    const rename = meant && `rename it to ${meant} if you mean that column, or `
    return {
      expected: `a column of the template: ${rename}delete it`,
      cure: `The columns of the template are ${TEMPLATE}.`,
    }
  },

  column: (number: number) => `column ${number}`,
  /** A cell, with the place of its duplicate. */
  also: (found: string, place: string) => `${found} (also in ${place})`,
  line: (line: number) => `line ${line}`,
  /** A character that can't be seen. */
  invisible: (hex: string) => `‹U+${hex}›`,

  /** A place of a problem. */
  place: (line: number, found: string) =>
    `${texts.line(line)}: ${found === '' ? 'an empty cell' : `“${found}”`}`,

  /** Why a whole file is refused. */
  refused: {
    binary: `This file isn't text in UTF-8, but a workbook, an archive, a picture or something else. ${SAVE_AS_CSV}`,
    empty: 'This file is empty.',
    noItems: 'This file contains no items: each line after the column names is an item.',
    noHeader: (found: string) =>
      `The first line must name the columns, separated by commas, semicolons or tabs: ${TEMPLATE}. This file begins with “${found}”. Delete everything above the names, or add them; save a file of another format as CSV.`,
    large: `This file is larger than ${BOUNDS.bytes / 1e6} MB. Split it into several catalogues.`,
    manyItems: `This file contains more than ${count(BOUNDS.items)} items. Split it into several catalogues.`,
    manyLines: `This file contains more than ${count(BOUNDS.lines)} lines. Delete the blank lines.`,
    longLine: (line: number) =>
      `Line ${count(line)} is longer than ${count(BOUNDS.lineLength)} characters. Check the line endings of this file.`,
    manyCells: (line: number) =>
      `Line ${count(line)} contains more than ${BOUNDS.cells} cells. Delete the columns that the template doesn't have.`,
  },
}
