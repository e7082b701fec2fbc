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

/**
 * Parses the query of `GET /stores/nearest`. Throws `LivePricingError` (400) listing each invalid or missing parameter.
 */
export function parseSearch({ query }: Request): Place {
  const errors: { path: string; message: string }[] = []
  const read = (name: string, min: number, max: number): number => {
    const text = query[name]
    const value = typeof text === 'string' && NUMBER.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    const rule = `must be a number from ${min} to ${max}`
    errors.push({ path: name, message: text === undefined ? `is missing: it ${rule}` : rule })
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
/** The names of all fields of a Store, at every level. Other fields of a provider's objects are not sent. */
const FIELDS = [
  { shape: SHAPE },
  SHAPE.address,
  SHAPE.tradingHours,
  dailyTradingHoursSchema,
  publicHolidaySchema,
  openingHoursSchema,
].flatMap(({ shape }) => Object.keys(shape))

/** The JSON of frozen stores, which are requested often. */
const cache = new WeakMap<Store, string>()
/** Serializes a store. */
export function storeJson(store: Store): string {
  if (!Object.isFrozen(store)) return JSON.stringify(store, FIELDS)
  let json = cache.get(store)
  if (json === undefined) {
    json = JSON.stringify(store, FIELDS)
    cache.set(store, json)
  }
  return json
}

/** Serializes a search result with its distance in kilometres, rounded to metres. */
export function nearStoreJson({ store, distanceKm }: NearStore): string {
  const distance = Math.round(distanceKm * 1000) / 1000
  if (!Object.isFrozen(store)) return JSON.stringify({ ...store, distance }, [...FIELDS, 'distance'])
  return `${storeJson(store).slice(0, -1)},"distance":${distance}}`
}
