import { readdirSync } from 'node:fs'
import { PriceListError, type Problems, type TableRules } from './table.ts'

/** The CSV files of a price list, in UTF-8 and with headings. */
export const FILES = {
  stores: {
    file: 'stores.csv',
    required: ['id', 'name', 'latitude', 'longitude', 'time_zone'],
    optional: ['street', 'suburb', 'state', 'postcode', 'country', 'phone'],
  },
  hours: { file: 'hours.csv', required: ['store', 'day', 'opens', 'closes'], optional: [] },
  holidays: {
    file: 'holidays.csv',
    required: ['date', 'name'],
    optional: ['store', 'state', 'opens', 'closes'],
  },
  items: { file: 'items.csv', required: ['code', 'price'], optional: ['category'], allowOtherColumns: true },
  prices: { file: 'prices.csv', required: ['item', 'store', 'price'], optional: [] },
  members: { file: 'members.csv', required: ['number'], optional: ['group'] },
  discounts: {
    file: 'discounts.csv',
    required: [],
    optional: [
      'item',
      'category',
      'group',
      'store',
      'percent',
      'amount',
      'price',
      'min_quantity',
      'from',
      'until',
      'name',
    ],
  },
} satisfies Record<string, TableRules>

/**
 * Returns the tables that don't belong to a price list. Reports those that look like a misspelt name of a missing
 * file.
 */
export function findUnknownFiles(from: string, problems: Problems): string[] {
  const names = readdirSync(from).filter((name) => /\.(csv|xlsx|tsv|txt)$/i.test(name))
  const expected = Object.values(FILES).map(({ file }) => file as string)
  const known = (name: string) => expected.includes(name.replace(/\.\w+$/, '.csv'))
  const unknown = names.filter((name) => !known(name))
  const normalize = (name: string) => name.toLowerCase().replace(/s?\.\w+$/, '')
  for (const name of unknown) {
    const intended = expected.find((file) => normalize(file) === normalize(name))
    if (intended && !names.includes(intended)) problems.add(name, 1, `rename this file to ${intended}.`)
  }
  return unknown
}

/** The error for a required file that does not exist. */
export function missingFile(file: string): PriceListError {
  return new PriceListError([`${file}: the folder has no file with this name.`], 0)
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
