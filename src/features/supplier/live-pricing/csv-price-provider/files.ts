/** The files of a price list (docs/supplier/live-pricing.md), with the rules for their cells and rows. */
import * as z from 'zod'
import { DAYS } from '../../api/contract.ts'

/** Price on application. */
export const POA = 'POA'
/** The store does not sell the item. */
export const NONE = 'NONE'

const text = z.string()
const optional = text.default('')
/** The rule for a column that does not affect the price and is not kept. */
export const ignored = text.optional()

// Line breaks, invisible characters or halves of a surrogate pair would make an id impossible to look up.
const id = text.regex(
  /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,100}$/u,
  'must have 1 to 100 characters, without line breaks or invisible characters',
)
// `GET /stores/{id}` cannot look up these names.
const storeId = id.refine((name) => !['nearest', '.', '..'].includes(name), 'is reserved: choose another id')

/** An amount, or one of these words. Other forms are errors, because 1,250 could mean 1250 or 1.25. */
const dollars = (...words: string[]) =>
  text.regex(
    new RegExp(`^(${['\\d{1,9}(\\.\\d{1,4})?', ...words].join('|')})$`),
    ['must be dollars such as 1250.00, with a decimal point and at most 4 decimals', ...words].join(', or '),
  )

const number = (form: RegExp, rule: string) => text.regex(form, rule).transform(Number)

function degrees(max: number) {
  const rule = `must be degrees from -${max} to ${max}`
  return number(/^[+-]?\d{1,3}(\.\d{1,15})?$/, rule).refine((value) => Math.abs(value) <= max, rule)
}

const date = z.iso.date('must be a date such as 2026-12-25')

const time = text
  .regex(/^(\d|[01]\d|2[0-3]):[0-5]\d$|^24:00$/, 'must be a time such as 07:00 or 17:30')
  .transform((hour) => hour.padStart(5, '0'))

const isShort = (name: string, known: string) => name.length >= 3 && known.startsWith(name)
const day = text
  .transform((name) => DAYS.find((known) => isShort(name.toLowerCase(), known.toLowerCase())))
  .pipe(z.enum(DAYS, 'must be a day of the week, such as Monday or Mon'))

/** Time zones known to be valid, because a check takes as long as reading a hundred rows. */
const timeZones = new Set(['UTC'])
function isTimeZone(name: string): boolean {
  try {
    if (!timeZones.has(name)) new Intl.DateTimeFormat('en', { timeZone: name })
    timeZones.add(name)
    return name.includes('/') || name === 'UTC'
  } catch {
    return false
  }
}

/** A file: `cells` has the rule for the cells below each heading, and no two rows share a `key`. A blank cell is undefined. */
export interface Table {
  cells: z.ZodObject<Record<string, z.ZodType<string | number | undefined>>>
  key: readonly string[]
  /** Whether the file is required, with at least one row, because a truncated export must not replace the live price list. */
  isRequired?: boolean
}

/** The files, by name without `.csv`. Each has a table of that name in the price list, with its columns and a column `line`. */
export const TABLES: Readonly<Record<string, Table>> = {
  stores: {
    cells: z.object({
      id: storeId,
      name: text,
      latitude: degrees(90),
      longitude: degrees(180),
      time_zone: text.refine(isTimeZone, 'must be an IANA name such as Australia/Sydney'),
      street: optional,
      suburb: optional,
      state: optional,
      postcode: optional,
      country: optional,
      phone: optional,
    }),
    key: ['id'],
    isRequired: true,
  },
  // Each row is an opening period.
  hours: { cells: z.object({ store: id, day, opens: time, closes: time }), key: ['store', 'day', 'opens'] },
  // A row applies to a store, to a state, or to all stores. A row without hours means that these stores are closed on the date.
  holidays: {
    cells: z.object({
      date,
      name: text,
      store: optional,
      state: optional,
      opens: time.default(''),
      closes: time.default(''),
    }),
    key: ['date', 'store', 'state', 'opens'],
  },
  // Any other column is a problem, because it could change the meaning of the price.
  items: {
    cells: z.object({
      code: id,
      price: dollars(POA).optional(),
      category: optional,
      name: ignored,
      description: ignored,
      unit: ignored,
    }),
    key: ['code'],
    isRequired: true,
  },
  // Each row is the price of an item at one store.
  prices: { cells: z.object({ item: id, store: id, price: dollars(POA, NONE) }), key: ['item', 'store'] },
  // Each row assigns a member to a group.
  members: { cells: z.object({ number: id, group: optional }), key: ['number', 'group'] },
  // A discount applies to an item or a category, to a group of members, and at a store. A blank cell means all of them.
  discounts: {
    cells: z.object({
      item: optional,
      category: optional,
      group: optional,
      store: optional,
      percent: number(
        /^(\d{1,2}(\.\d{1,4})?|100(\.0{1,4})?)$/,
        'must be a percentage from 0 to 100',
      ).optional(),
      amount: dollars().transform(Number).optional(),
      price: dollars().transform(Number).optional(),
      min_quantity: number(/^\d{1,7}(\.\d{1,4})?$/, 'must be a number').default(0),
      from: date.default(''),
      until: date.default('9999-12-31'),
      name: ignored,
    }),
    key: ['item', 'category', 'line'],
  },
}

export const FILES = Object.keys(TABLES).map((name) => `${name}.csv`)

/** The condition that the value of this column does not occur in another table. */
const unknown = (column: string, found: string) => `${column} <> '' AND ${column} NOT IN (SELECT ${found})`
/** The condition that two opening periods of a day overlap, or that another row closes the stores on that day. */
const contradicts = (table: string, day: string) =>
  `EXISTS (SELECT 1 FROM ${table} AS other WHERE (${day}) = (${day.replaceAll('other', table)})
    AND other.opens < ${table}.opens AND (${table}.opens < other.closes OR other.opens = ''))`
const AGAIN = 'contradicts another row for that day'
const NOT_LATER =
  'must be later than opens; split hours past midnight into two rows, one until 24:00 and one from 00:00'
const UNPRICED = `price IS NULL AND NOT EXISTS (SELECT 1 FROM prices WHERE item = code AND prices.price <> '${NONE}')`
const NOT_ONE = '(percent IS NULL) + (amount IS NULL) + (price IS NULL) <> 2'

/** SQL conditions that no row of a table may meet, each with the column and the problem to report. */
export const CHECKS: readonly [table: string, column: string, condition: string, problem: string][] = [
  ['hours', 'store', unknown('store', 'id FROM stores'), 'is not in stores.csv'],
  ['hours', 'closes', 'closes <= opens', NOT_LATER],
  ['hours', 'opens', contradicts('hours', 'other.store, other.day'), AGAIN],
  ['holidays', 'store', unknown('store', 'id FROM stores'), 'is not in stores.csv'],
  ['holidays', 'state', unknown('state', 'state FROM stores'), 'is the state of no store'],
  ['holidays', 'state', "store <> '' AND state <> ''", 'cannot stand beside a store'],
  ['holidays', 'closes', "(opens || closes) <> '' AND (opens = '' OR closes <= opens)", NOT_LATER],
  ['holidays', 'date', contradicts('holidays', 'other.date, other.store, other.state'), AGAIN],
  ['items', 'code', UNPRICED, 'has no price, neither here nor in prices.csv'],
  ['prices', 'item', unknown('item', 'code FROM items'), 'is not in items.csv'],
  ['prices', 'store', unknown('store', 'id FROM stores'), 'is not in stores.csv'],
  ['discounts', 'item', unknown('item', 'code FROM items'), 'is not in items.csv'],
  ['discounts', 'category', unknown('category', 'category FROM items'), 'is the category of no item'],
  ['discounts', 'category', "item <> '' AND category <> ''", 'cannot stand beside an item'],
  ['discounts', '"group"', unknown('"group"', '"group" FROM members'), 'is the group of no member'],
  ['discounts', 'store', unknown('store', 'id FROM stores'), 'is not in stores.csv'],
  ['discounts', 'NULL', NOT_ONE, 'specify one of percent, amount (off each unit) and price (per unit)'],
  ['discounts', 'until', 'until < "from"', 'is before from'],
]
