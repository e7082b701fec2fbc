import { DAYS, type OpeningHours, type Store, storeSchema } from '../contract.ts'
import { FILES, ID_RULE, isDate, isId, missing } from './files.ts'
import { type Problems, readRows } from './table.ts'
import { addOpening, dayOf, openingOf } from './trading-hours.ts'

/** Ids that the lookup of a store could not be asked for. */
const RESERVED = new Set(['nearest', '.', '..'])

/** The stores by their ids, closed on every day yet. */
export async function readStores(from: string, problems: Problems): Promise<Map<string, Store>> {
  const stores = new Map<string, Store>()
  const there = await readRows(from, FILES.stores, problems, (cell, wrong) => {
    const id = cell('id')
    if (!isId(id) || RESERVED.has(id)) return wrong(`id ${ID_RULE}, and not be nearest or dots alone.`)
    if (stores.has(id)) return wrong(`the store ${id} was there before.`)
    const [latitude, longitude] = [coordinate(cell('latitude'), 90), coordinate(cell('longitude'), 180)]
    if (latitude === undefined) return wrong('latitude must be degrees from -90 to 90.')
    if (longitude === undefined) return wrong('longitude must be degrees from -180 to 180.')
    if (!isTimeZone(cell('time_zone'))) return wrong('time_zone must be a name such as Australia/Sydney.')
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
    if (!store.success) return wrong('name must not be empty.')
    stores.set(id, store.data)
  })
  if (!there) throw missing(FILES.stores.file)
  return stores
}

/** Adds the openings of each day; resolves to how many there are. */
export async function readHours(
  from: string,
  problems: Problems,
  stores: Map<string, Store>,
): Promise<number> {
  let count = 0
  await readRows(from, FILES.hours, problems, (cell, wrong) => {
    const store = stores.get(cell('store'))
    if (!store) return wrong(`there is no store ${cell('store').slice(0, 100)}.`)
    const day = dayOf(cell('day'))
    if (!day) return wrong('day must be a day of the week, such as Monday or Mon.')
    const opening = openingOf(cell('opens'), cell('closes'))
    if (typeof opening === 'string') return wrong(`${opening}.`)
    const { openingHours = [] } =
      store.tradingHours.dailyTradingHours.find((daily) => daily.day === day) ?? {}
    if (!addOpening(openingHours, opening)) return wrong(`${day} has another opening at that time.`)
    count++
  })
  return count
}

interface Holiday {
  date: string
  name: string
  openingHours: OpeningHours[]
}

/**
 * For a given date, store-level entries override state-level entries, which override global ones.
 * Resolves to how many holidays there are.
 */
export async function readHolidays(from: string, problems: Problems, stores: Store[]): Promise<number> {
  const ids = new Set(stores.map(({ id }) => id))
  const states = new Set(stores.map(({ address }) => address.state))
  const holidays = new Map<string, Holiday>()
  const key = (level: string, of: string, date: string) => JSON.stringify([level, of, date])
  const dates = new Set<string>()
  await readRows(from, FILES.holidays, problems, (cell, wrong) => {
    const [date, name, store, state] = [cell('date'), cell('name'), cell('store'), cell('state')]
    if (!isDate(date)) return wrong('date must be a day such as 2026-12-25.')
    if (!name) return wrong('name must not be empty.')
    if (store && state) return wrong('it names a store and a state; one of them is enough.')
    if (store && !ids.has(store)) return wrong(`there is no store ${store.slice(0, 100)}.`)
    if (state && !states.has(state)) return wrong(`there is no store in ${state.slice(0, 100)}.`)
    const level = store ? 'store' : state ? 'state' : 'all'
    const at = key(level, store || state, date)
    const closed = !cell('opens') && !cell('closes')
    const before = holidays.get(at)
    if (before && (closed || before.openingHours.length === 0))
      return wrong(`${date} was there before, and one of the two is closed.`)
    const holiday = before ?? { date, name, openingHours: [] }
    holidays.set(at, holiday)
    dates.add(date)
    if (closed) return
    const opening = openingOf(cell('opens'), cell('closes'))
    if (typeof opening === 'string') return wrong(`${opening}.`)
    if (!addOpening(holiday.openingHours, opening)) wrong(`${date} has another opening at that time.`)
  })
  const inOrder = [...dates].sort()
  for (const { id, address, tradingHours } of stores) {
    for (const date of inOrder) {
      const levels = [key('store', id, date), key('state', address.state, date), key('all', '', date)]
      const at = levels.find((level) => holidays.has(level))
      const holiday = at && holidays.get(at)
      if (holiday) tradingHours.publicHolidays.push(holiday)
    }
  }
  return holidays.size
}

function coordinate(text: string, most: number): number | undefined {
  const value = /^[+-]?\d{1,3}(\.\d{1,15})?$/.test(text) ? Number(text) : Number.NaN
  return Math.abs(value) <= most ? value : undefined
}

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    return timeZone.includes('/') || timeZone === 'UTC'
  } catch {
    return false
  }
}
