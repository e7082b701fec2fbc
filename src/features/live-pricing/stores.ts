import * as z from 'zod'
import { LIMITS, NEAREST, type Store, storeSchema } from '../../supplier-api/contract.ts'
import { badInput, type InputProblem } from './errors.ts'
import type { NearStore, Place } from './price-provider.ts'

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i

/**
 * Parses the query of `GET /stores/nearest`. Throws `LivePricingError` (400) listing each invalid or missing parameter.
 */
export function parseSearch(parameters: URLSearchParams): Place {
  const errors: InputProblem[] = []
  const read = (name: string, min: number, max: number): number => {
    const [text, ...repeated] = parameters.getAll(name)
    const valid = text !== undefined && repeated.length === 0 && NUMBER.test(text)
    const value = valid ? Number(text) : Number.NaN
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

const storeShape = storeSchema.omit({ distance: true })

/** A copy with the fields of the schema, at every level: a provider's objects may have private ones. */
function onlyFields(schema: z.core.$ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodOptional)
    return value === undefined ? undefined : onlyFields(schema.unwrap(), value)
  if (schema instanceof z.ZodArray)
    return Array.isArray(value) ? value.map((entry) => onlyFields(schema.element, entry)) : null
  if (schema instanceof z.ZodObject) {
    const record: Record<string, unknown> = Object(value)
    return Object.fromEntries(
      Object.entries(schema.shape).map(([name, field]) => [name, onlyFields(field, record[name])]),
    )
  }
  // Any other field is text or a number.
  return typeof value === 'object' ? null : value
}

/** A store with the fields of the contract. Throws a `TypeError` if it is no object. */
export function publicStore(store: Store): unknown {
  if (typeof store !== 'object' || store === null) throw new TypeError('the store is not an object')
  return onlyFields(storeShape, store)
}

/** A search result with its distance in kilometres, rounded to metres. Throws a `TypeError` if that is no distance. */
export function publicNearStore({ store, distanceKm }: NearStore): unknown {
  if (typeof distanceKm !== 'number' || !(distanceKm >= 0 && distanceKm < Number.POSITIVE_INFINITY))
    throw new TypeError('distanceKm is not a number of kilometres')
  return { ...Object(publicStore(store)), distance: Math.round(distanceKm * 1000) / 1000 }
}
