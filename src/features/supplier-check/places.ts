import { NEAREST, PATHS } from '../../supplier-api/contract.ts'

/** Coordinates in degrees. */
export interface Coordinates {
  latitude: number
  longitude: number
}

/** Coordinates and a distance in kilometres. */
export interface Place extends Coordinates {
  radius: number
}

/** Point Nemo in the South Pacific, far from any store. */
export const REMOTE_PLACE: Place = { latitude: -48.8767, longitude: -123.3933, radius: 1 }

/** Where stores are searched for by default. */
export const DEFAULT_PLACES: Place[] = [
  [-33.87, 151.21, 100],
  [-37.81, 144.96, 100],
  [-27.47, 153.03, 100],
  [-31.95, 115.86, 100],
  [-34.93, 138.6, 100],
  [-41.29, 174.78, 800],
  [-17.7, 179.9, 1000],
  [51.51, -0.13, 500],
  [-25, 134, 2500],
  [39.8, -98.6, 2500],
  [0, 0, 20_000],
].map(([latitude = 0, longitude = 0, radius = 0]) => ({ latitude, longitude, radius }))

/** Distances to search within around a given location, in kilometres. */
export const RADII = [5, 50, 500, 5_000]

/** The path and query of a store search. */
export function searchPath(place: Partial<Record<keyof typeof NEAREST, number | string>>): string {
  const named = Object.entries(place).map(([name, value]) => [
    NEAREST[name as keyof typeof NEAREST],
    String(value),
  ])
  return `${PATHS.nearest}?${new URLSearchParams(Object.fromEntries(named))}`
}

/** The path of a store. */
export const storePath = (id: string | number) =>
  PATHS.store.replace('{id}', () => encodeURIComponent(String(id).toWellFormed()))

const DEGREE = Math.PI / 180
const EARTH_KM = 6371
/** Kilometres of a degree of latitude. */
const DEGREE_KM = EARTH_KM * DEGREE

/** The distance in kilometres, independent of the implementation in `csv-price-provider`. */
export function distanceKm(a: Coordinates, b: Coordinates): number {
  const cosine =
    Math.sin(a.latitude * DEGREE) * Math.sin(b.latitude * DEGREE) +
    Math.cos(a.latitude * DEGREE) *
      Math.cos(b.latitude * DEGREE) *
      Math.cos((a.longitude - b.longitude) * DEGREE)
  return EARTH_KM * Math.acos(Math.max(-1, Math.min(1, cosine)))
}

/** A place that is about `km` kilometres from another, to the east or between east and the equator. */
export function placeAway(from: Coordinates, km: number, bearing: 'east' | 'diagonal'): Coordinates {
  const east = bearing === 'east' ? km : km * Math.SQRT1_2
  const toEquator = bearing === 'east' ? 0 : km * Math.SQRT1_2 * (from.latitude > 0 ? -1 : 1)
  const latitude = from.latitude + toEquator / DEGREE_KM
  const longitude = from.longitude + east / DEGREE_KM / Math.cos(latitude * DEGREE)
  return { latitude: round(latitude), longitude: wrap(longitude) }
}

/** A longitude from -180 to 180. */
export const wrap = (longitude: number) => round(((((longitude + 180) % 360) + 360) % 360) - 180)

/** Seven decimal places: a centimetre. */
const round = (degrees: number) => Number(degrees.toFixed(7))
