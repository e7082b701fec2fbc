import { fieldOf } from '../../../connect/index.ts'
import { NEAREST_RANGES, type Store, storeSchema } from '../api/contract.ts'
import { badInput, type InputProblem } from './errors.ts'
import { type NearStore, type Place, PriceProviderError } from './price-provider.ts'

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

const publicSchema = storeSchema.omit({ distance: true })

/** A store without a provider's private fields: only those of the contract. Throws `PriceProviderError` if a field is wrong. */
export function publicStore(store: Store): Store {
  const { data, error } = publicSchema.safeParse(store)
  if (data) return data
  throw new PriceProviderError(`a store is not as in the contract: ${fieldOf(error)}`)
}

/** A search result with its distance in kilometres, rounded to metres. Throws `PriceProviderError` if the distance is wrong. */
export function publicNearStore({ store, distanceKm }: NearStore): Store {
  if (typeof distanceKm !== 'number' || !(distanceKm >= 0 && distanceKm < Number.POSITIVE_INFINITY))
    throw new PriceProviderError('distanceKm is not a number of kilometres')
  return { ...publicStore(store), distance: Math.round(distanceKm * 1000) / 1000 }
}
