import type { Request } from 'express'
import {
  dailyTradingHoursSchema,
  LIMITS,
  NEAREST,
  openingHoursSchema,
  publicHolidaySchema,
  type Store,
  storeSchema,
} from './contract.ts'
import { badInput } from './errors.ts'
import type { NearStore, Place } from './price-provider.ts'

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i

/** The search of `GET /stores/nearest`. Throws `LivePricingError` (400) that names each bad or missing parameter. */
export function placeOf({ query }: Request): Place {
  const errors: { path: string; message: string }[] = []
  const read = (name: string, least: number, most: number): number => {
    const text = query[name]
    const value = typeof text === 'string' && NUMBER.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    const message = `${text === undefined ? 'is missing: it' : ''} must be one number from ${least} to ${most}`
    errors.push({ path: name, message: message.trim() })
    return Number.NaN
  }
  const place = {
    latitude: read(NEAREST.latitude, -90, 90),
    longitude: read(NEAREST.longitude, -180, 180),
    radiusKm: read(NEAREST.radius, 0, LIMITS.radiusKm),
  }
  if (errors.length > 0) throw badInput(errors)
  return place
}

const { distance: _, ...SHAPE } = storeSchema.shape
/** A Store's fields, at every depth: what else a price provider has in its objects is told to nobody. */
const FIELDS = [
  { shape: SHAPE },
  SHAPE.address,
  SHAPE.tradingHours,
  dailyTradingHoursSchema,
  publicHolidaySchema,
  openingHoursSchema,
].flatMap(({ shape }) => Object.keys(shape))

/** Stores are told again and again, and are long: one that is frozen is written as JSON once. */
const written = new WeakMap<Store, string>()
export function storeJson(store: Store): string {
  if (!Object.isFrozen(store)) return JSON.stringify(store, FIELDS)
  let json = written.get(store)
  if (json === undefined) {
    json = JSON.stringify(store, FIELDS)
    written.set(store, json)
  }
  return json
}

/** A store of a search, with its distance in kilometres, to the metre. */
export function nearStoreJson({ store, distanceKm }: NearStore): string {
  const distance = Math.round(distanceKm * 1000) / 1000
  if (!Object.isFrozen(store)) return JSON.stringify({ ...store, distance }, [...FIELDS, 'distance'])
  return `${storeJson(store).slice(0, -1)},"distance":${distance}}`
}
