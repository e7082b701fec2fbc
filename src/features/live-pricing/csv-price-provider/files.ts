import { readdirSync } from 'node:fs'
import { PriceListError, type Problems, type TableRules } from './table.ts'

/** The files of a price list: comma separated, UTF-8, with headings. */
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
  items: { file: 'items.csv', required: ['code', 'price'], optional: ['category'], others: true },
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

/** CSV files that are none of a price list. One that is almost called like one that is missing is a problem. */
export function otherFiles(from: string, problems: Problems): string[] {
  const names = readdirSync(from).filter((name) => /\.csv$/i.test(name))
  const ours = Object.values(FILES).map(({ file }) => file as string)
  const others = names.filter((name) => !ours.includes(name))
  const plain = (name: string) => name.toLowerCase().replace(/s?\.csv$/, '')
  for (const name of others) {
    const meant = ours.find((file) => plain(file) === plain(name))
    if (meant && !names.includes(meant)) problems.add(name, 1, `the name of this file must be ${meant}.`)
  }
  return others
}

/** A file that a price list cannot be without. */
export function missing(file: string): PriceListError {
  return new PriceListError([`${file}: there is no such file in the folder.`], 0)
}

// Neither a line break nor what cannot be seen: it would never be found again.
const ID = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,100}$/u
/** Most are plain, which is quicker to see. */
export const isId = (text: string) => /^[ -~]{1,100}$/.test(text) || ID.test(text)
export const ID_RULE = 'must have 1 to 100 characters, none of them a line break or invisible'

const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/

/** A day that exists: not the 30th of February. */
export function isDate(text: string): boolean {
  return DATE.test(text) && new Date(`${text}T00:00:00Z`).toISOString().startsWith(text)
}
