import { DAYS, type OpeningHours, type Store, storeSchema } from '../../../supplier-api/contract.ts'
import { FILES, ID_RULE, isDate, isId, missingFile } from './files.ts'
import { type Folder, type Problems, readRows } from './table.ts'
import { addOpening, dayOf, openingOf } from './trading-hours.ts'

/** Ids that `GET /stores/{id}` cannot look up. */
const RESERVED = new Set(['nearest', '.', '..'])

/**
 * Reads stores.csv. Returns the stores by id, without opening hours. Throws `PriceListError` if the file does not
 * exist.
 */
export async function readStores(from: Folder, problems: Problems): Promise<Map<string, Store>> {
  const stores = new Map<string, Store>()
  const exists = await readRows(from, FILES.stores, problems, ({ cell, reject }) => {
    const id = cell('id')
    if (!isId(id) || RESERVED.has(id)) return reject(`id ${ID_RULE}, and must not be "nearest", "." or "..".`)
    if (stores.has(id)) return reject(`the store ${id} occurs more than once.`)
    const [latitude, longitude] = [coordinate(cell('latitude'), 90), coordinate(cell('longitude'), 180)]
    if (latitude === undefined) return reject('latitude must be degrees from -90 to 90.')
    if (longitude === undefined) return reject('longitude must be degrees from -180 to 180.')
    if (!isTimeZone(cell('time_zone')))
      return reject('time_zone must be an IANA name such as Australia/Sydney.')
    const phone = cell('phone')
    const store = storeSchema.safeParse({
      id,
      name: cell('name'),
      latitude,
      longitude,
      ...(phone && { phone }),
      address: {
        street: cell('street'),
        suburb: cell('suburb'),
        state: cell('state'),
        postcode: cell('postcode'),
        country: cell('country'),
      },
      tradingHours: {
        timeZone: cell('time_zone'),
        dailyTradingHours: DAYS.map((day) => ({ day, openingHours: [] })),
        publicHolidays: [],
      },
    })
    if (!store.success) return reject('name must not be empty.')
    stores.set(id, store.data)
  })
  if (!exists) throw missingFile(FILES.stores.file)
  return stores
}

/** Reads hours.csv, if it exists, and adds the opening hours to the stores. Returns the number of rows added. */
export async function readHours(
  from: Folder,
  problems: Problems,
  stores: Map<string, Store>,
): Promise<number> {
  let count = 0
  await readRows(from, FILES.hours, problems, ({ cell, reject }) => {
    const store = stores.get(cell('store'))
    if (!store) return reject(`unknown store ${cell('store').slice(0, 100)}.`)
    const day = dayOf(cell('day'))
    if (!day) return reject('day must be a day of the week, such as Monday or Mon.')
    const opening = openingOf(cell('opens'), cell('closes'))
    if (typeof opening === 'string') return reject(`${opening}.`)
    const { openingHours = [] } =
      store.tradingHours.dailyTradingHours.find((daily) => daily.day === day) ?? {}
    if (!addOpening(openingHours, opening)) return reject(`${day} has overlapping opening hours.`)
    count++
  })
  return count
}

/** Identifies the holiday of a store, of a state, or, if neither is given, of all stores. */
function keyOf({ store = '', state = '', date }: { store?: string; state?: string; date: string }): string {
  return JSON.stringify([store, state, date])
}

interface Holiday {
  date: string
  name: string
  openingHours: OpeningHours[]
}

/**
 * Reads holidays.csv, if it exists, and adds the holidays to the stores. For a given date, store-level entries override
 * state-level entries, which override global ones. Returns the number of holidays.
 */
export async function readHolidays(from: Folder, problems: Problems, stores: Store[]): Promise<number> {
  const ids = new Set(stores.map(({ id }) => id))
  const states = new Set(stores.map(({ address }) => address.state))
  const holidays = new Map<string, Holiday>()
  const dates = new Set<string>()
  await readRows(from, FILES.holidays, problems, ({ cell, reject }) => {
    const [date, name, store, state] = [cell('date'), cell('name'), cell('store'), cell('state')]
    if (!isDate(date)) return reject('date must be a date such as 2026-12-25.')
    if (!name) return reject('name must not be empty.')
    if (store && state) return reject('specify either a store or a state, not both.')
    if (store && !ids.has(store)) return reject(`unknown store ${store.slice(0, 100)}.`)
    if (state && !states.has(state)) return reject(`no store is in ${state.slice(0, 100)}.`)
    const holidayKey = keyOf({ store, state, date })
    const closed = !cell('opens') && !cell('closes')
    const existing = holidays.get(holidayKey)
    if (existing && (closed || existing.openingHours.length === 0))
      return reject(`${date} occurs twice, once without opening hours.`)
    const holiday = existing ?? { date, name, openingHours: [] }
    holidays.set(holidayKey, holiday)
    dates.add(date)
    if (closed) return
    const opening = openingOf(cell('opens'), cell('closes'))
    if (typeof opening === 'string') return reject(`${opening}.`)
    if (!addOpening(holiday.openingHours, opening)) reject(`${date} has overlapping opening hours.`)
  })
  const sortedDates = [...dates].sort()
  for (const { id, address, tradingHours } of stores) {
    for (const date of sortedDates) {
      const keys = [keyOf({ store: id, date }), keyOf({ state: address.state, date }), keyOf({ date })]
      const key = keys.find((candidate) => holidays.has(candidate))
      const holiday = key && holidays.get(key)
      if (holiday) tradingHours.publicHolidays.push(holiday)
    }
  }
  return holidays.size
}

function coordinate(text: string, max: number): number | undefined {
  const value = /^[+-]?\d{1,3}(\.\d{1,15})?$/.test(text) ? Number(text) : Number.NaN
  return Math.abs(value) <= max ? value : undefined
}

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    return timeZone.includes('/') || timeZone === 'UTC'
  } catch {
    return false
  }
}
