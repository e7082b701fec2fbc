import { DAYS, type OpeningHours, openingHoursSchema, type Store } from '../../../supplier-api/contract.ts'
import { FILES, ID_RULE, isDate, isId, type Source } from './files.ts'
import { RowError, readRows, requireKnown } from './read-rows.ts'

/** The stores of a price list by id. */
export type Stores = ReadonlyMap<string, Store>

/** Ids that `GET /stores/{id}` cannot look up. */
const RESERVED = new Set(['nearest', '.', '..'])

/** Reads stores.csv. The stores have no opening hours yet. */
export async function readStores(source: Source): Promise<Stores> {
  const stores = new Map<string, Store>()
  await readRows(source, FILES.stores, ({ cell }) => {
    const [id, name, timeZone, phone] = [cell('id'), cell('name'), cell('time_zone'), cell('phone')]
    if (!isId(id) || RESERVED.has(id))
      throw new RowError(`id ${ID_RULE}, and must not be "nearest", "." or "..".`)
    if (stores.has(id)) throw new RowError(`the store ${id} occurs more than once.`)
    if (!name) throw new RowError('name must not be empty.')
    if (!isTimeZone(timeZone)) throw new RowError('time_zone must be an IANA name such as Australia/Sydney.')
    stores.set(id, {
      id,
      name,
      latitude: degreesOf('latitude', cell('latitude'), 90),
      longitude: degreesOf('longitude', cell('longitude'), 180),
      ...(phone && { phone }),
      address: {
        street: cell('street'),
        suburb: cell('suburb'),
        state: cell('state'),
        postcode: cell('postcode'),
        country: cell('country'),
      },
      tradingHours: {
        timeZone,
        dailyTradingHours: DAYS.map((day) => ({ day, openingHours: [] })),
        publicHolidays: [],
      },
    })
  })
  return stores
}

/** Reads hours.csv, if it exists, and adds the opening hours to the stores. Returns the number of rows added. */
export async function readHours(source: Source, stores: Stores): Promise<number> {
  let count = 0
  await readRows(source, FILES.hours, ({ cell }) => {
    const id = cell('store')
    requireKnown('store', id, stores.has(id))
    const name = cell('day').toLowerCase()
    const day = DAYS.find((day) => [day.toLowerCase(), day.slice(0, 3).toLowerCase()].includes(name))
    if (!day) throw new RowError('day must be a day of the week, such as Monday or Mon.')
    const daily = stores.get(id)?.tradingHours.dailyTradingHours.find((hours) => hours.day === day)
    addOpening(daily?.openingHours ?? [], day, cell('opens'), cell('closes'))
    count++
  })
  return count
}

/** Identifies the holiday of a store, of a state, or, if both are empty, of all stores. */
const keyOf = (store: string, state: string, date: string) => JSON.stringify([store, state, date])

/**
 * Reads holidays.csv, if it exists, and adds the holidays to the stores. For a given date, store-level entries override
 * state-level entries, which override global ones. Returns the number of holidays.
 */
export async function readHolidays(source: Source, stores: Stores): Promise<number> {
  const states = new Set(Array.from(stores.values(), ({ address }) => address.state))
  const holidays = new Map<string, Store['tradingHours']['publicHolidays'][number]>()
  await readRows(source, FILES.holidays, ({ cell }) => {
    const [date, name, store, state] = [cell('date'), cell('name'), cell('store'), cell('state')]
    if (!isDate(date)) throw new RowError('date must be a date such as 2026-12-25.')
    if (!name) throw new RowError('name must not be empty.')
    if (store && state) throw new RowError('specify either a store or a state, not both.')
    if (store) requireKnown('store', store, stores.has(store))
    if (state && !states.has(state)) throw new RowError(`no store is in ${state.slice(0, 100)}.`)
    const key = keyOf(store, state, date)
    const isClosed = !cell('opens') && !cell('closes')
    const existing = holidays.get(key)
    if (existing && (isClosed || existing.openingHours.length === 0))
      throw new RowError(`${date} occurs twice, once without opening hours.`)
    const holiday = existing ?? { date, name, openingHours: [] }
    if (!isClosed) addOpening(holiday.openingHours, date, cell('opens'), cell('closes'))
    holidays.set(key, holiday)
  })
  const dates = [...new Set(Array.from(holidays.values(), ({ date }) => date))].sort()
  for (const { id, address, tradingHours } of stores.values()) {
    for (const date of dates) {
      const keys = [keyOf(id, '', date), keyOf('', address.state, date), keyOf('', '', date)]
      const [first] = keys.flatMap((key) => holidays.get(key) ?? [])
      if (first) tradingHours.publicHolidays.push(first)
    }
  }
  return holidays.size
}

function degreesOf(name: string, text: string, max: number): number {
  if (/^[+-]?\d{1,3}(\.\d{1,15})?$/.test(text) && Math.abs(Number(text)) <= max) return Number(text)
  throw new RowError(`${name} must be degrees from -${max} to ${max}.`)
}

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    return timeZone.includes('/') || timeZone === 'UTC'
  } catch {
    return false
  }
}

/** Inserts an opening period in chronological order. Accepts `7:00` for `07:00`. `when`: the day or date, for problems. */
function addOpening(openings: OpeningHours[], when: string, from: string, to: string): void {
  const pad = (hour: string) => (/^\d:\d\d$/.test(hour) ? `0${hour}` : hour)
  const [opens, closes] = [pad(from), pad(to)]
  if (!openingHoursSchema.safeParse({ opens, closes }).success)
    throw new RowError('opens and closes must be times such as 07:00 and 17:30.')
  if (closes <= opens)
    throw new RowError(
      'closes must be later than opens; split hours past midnight into two rows, one until 24:00 and one from 00:00.',
    )
  if (openings.some((other) => opens < other.closes && other.opens < closes))
    throw new RowError(`${when} has overlapping opening hours.`)
  openings.push({ opens, closes })
  openings.sort((a, b) => (a.opens < b.opens ? -1 : 1))
}
