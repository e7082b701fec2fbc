import { existsSync, readdirSync } from 'node:fs'
import { basename, join, parse } from 'node:path'
import type { Decimal } from '../../../tables/prices.ts'
import type { Problems } from './problems.ts'

/** The files of a price list, and the problems found in them. */
export interface Source {
  folder: string
  /** The decimal sign of all prices. */
  decimal: Decimal
  problems: Problems
  /** The items, if the file with them is read as a person has confirmed it. */
  items?: ConfirmedItems | undefined
}

/** What a confirmed file with items comes to. */
export interface ConfirmedItems {
  file: string
  items: AsyncIterable<{ code: string; category?: string; price: number }>
  /** The rows that are left out, as far as they are listed, and how many there are. */
  problems: readonly { line: number; reason: string }[]
  invalidRows: number
}

export interface FileRules {
  file: string
  mustExist?: boolean
  required: readonly string[]
  optional: readonly string[]
  /** Said with an unknown column. */
  hint?: string
}

/** What a discount is for. */
const SUBJECT = ['item', 'category', 'group', 'store']

/** The files of a price list, with the columns below their headings. */
export const FILES = {
  stores: {
    file: 'stores.csv',
    mustExist: true,
    required: ['id', 'name', 'latitude', 'longitude', 'time_zone'],
    optional: ['street', 'suburb', 'state', 'postcode', 'country', 'phone'],
  },
  hours: { file: 'hours.csv', required: ['store', 'day', 'opens', 'closes'], optional: [] },
  holidays: {
    file: 'holidays.csv',
    required: ['date', 'name'],
    optional: ['store', 'state', 'opens', 'closes'],
  },
  items: {
    file: 'items.csv',
    mustExist: true,
    required: ['code', 'price'],
    // Only the category is read; a column that may say something about the price is a problem.
    optional: ['category', 'name', 'description', 'unit'],
    hint: ' If it is a price list of your own, say how it is read with --save-layout or --layout.',
  },
  prices: { file: 'prices.csv', required: ['item', 'store', 'price'], optional: [] },
  members: { file: 'members.csv', required: ['number'], optional: ['group'] },
  discounts: {
    file: 'discounts.csv',
    required: [],
    optional: [...SUBJECT, 'percent', 'amount', 'price', 'min_quantity', 'from', 'until', 'name'],
  },
} satisfies Record<string, FileRules>

/** The extensions that a file may have. */
const EXTENSIONS = ['.csv', '.xlsx', '.tsv', '.txt']

/** The paths of a file of a price list, which may be a spreadsheet, such as `items.xlsx` for `items.csv`. */
const pathsOf = (folder: string, file: string) =>
  EXTENSIONS.map((extension) => join(folder, file.replace(/\.csv$/, extension))).filter((path) =>
    existsSync(path),
  )

/** The path of a file of a price list, which may be a spreadsheet. */
export const findFile = (folder: string, file: string): string | undefined => pathsOf(folder, file)[0]

/** Reports tables that do not belong to a price list, because a name may be misspelt, and files of which there are several. */
export function rejectOtherFiles({ folder, problems }: Source): void {
  const names = Object.values(FILES).map(({ file }) => file)
  for (const file of readdirSync(folder)) {
    const { name, ext } = parse(file)
    if (EXTENSIONS.includes(ext.toLowerCase()) && !names.includes(`${name}.csv`))
      problems.addFile({
        file,
        line: 0,
        reason: `rename or remove this file. A price list has ${names.join(', ')}.`,
      })
  }
  for (const file of names) {
    const paths = pathsOf(folder, file)
    if (paths.length > 1)
      problems.addFile({
        file,
        line: 0,
        reason: `keep only one of ${paths.map((path) => basename(path)).join(' and ')}.`,
      })
  }
}

// Without line breaks, invisible characters or halves of a surrogate pair, which would make an id impossible to look up.
const ID = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,100}$/u
/** Whether text is a valid id. Most ids are ASCII, which is faster to test. */
export const isId = (text: string) => /^[ -~]{1,100}$/.test(text) || ID.test(text)
export const ID_RULE = 'must have 1 to 100 characters, without line breaks or invisible characters'

const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/

/** Whether text is an existing date in the form YYYY-MM-DD. */
export function isDate(text: string): boolean {
  return DATE.test(text) && new Date(`${text}T00:00:00Z`).toISOString().startsWith(text)
}
