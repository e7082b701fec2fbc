import * as z from 'zod'
import { NEAREST_RANGES, type Store, storeSchema } from '../api/contract.ts'
import { badInput, type InputProblem } from './errors.ts'
import type { NearStore, Place } from './price-provider.ts'

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i

/** Parses the query of `GET /stores/nearest`. Throws `LivePricingError` (400) listing each invalid or missing parameter. */
export function parseSearch(parameters: URLSearchParams): Place {
  const errors: InputProblem[] = []
  const [latitude = 0, longitude = 0, radiusKm = 0] = NEAREST_RANGES.map(({ name, minimum, maximum }) => {
    const [text, ...repeated] = parameters.getAll(name)
    const value = text !== undefined && NUMBER.test(text) && repeated.length === 0 ? Number(text) : Number.NaN
    const rule = `must be a number from ${minimum} to ${maximum}`
    if (!(value >= minimum && value <= maximum))
      errors.push({ path: name, message: text === undefined ? `is missing: it ${rule}` : rule })
    return value
  })
  if (errors.length > 0) throw badInput(errors)
  return { latitude, longitude, radiusKm }
}

const storeShape = storeSchema.omit({ distance: true })

/** A copy with only the fields of the schema, at every level, because a provider's objects may have private fields. */
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

/** A search result with its distance in kilometres, rounded to metres. Throws a `TypeError` if the distance is invalid. */
export function publicNearStore({ store, distanceKm }: NearStore): unknown {
  if (typeof distanceKm !== 'number' || !(distanceKm >= 0 && distanceKm < Number.POSITIVE_INFINITY))
    throw new TypeError('distanceKm is not a number of kilometres')
  return { ...Object(publicStore(store)), distance: Math.round(distanceKm * 1000) / 1000 }
}
