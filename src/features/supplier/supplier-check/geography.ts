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

/** Sydney, Melbourne, Brisbane, Perth, Adelaide, Wellington, Auckland and London. */
const CITIES =
  '-33.87,151.21 -37.81,144.96 -27.47,153.03 -31.95,115.86 -34.93,138.6 -41.29,174.78 -36.85,174.76 51.51,-0.13'

/** Where the check searches for stores by default. */
export const DEFAULT_PLACES: readonly Coordinates[] = CITIES.split(' ').map((city) => {
  const [latitude = 0, longitude = 0] = city.split(',').map(Number)
  return { latitude, longitude }
})

/**
 * Distances to search within, in kilometres: around a city, and everywhere. A server that counts in metres takes the second as
 * 20 km.
 */
export const RADII = [100, 20_000]

const DEGREE = Math.PI / 180
const EARTH_KM = 6371
/** The length of a degree of latitude, in kilometres. */
const DEGREE_KM = EARTH_KM * DEGREE

/** The great-circle distance in kilometres (haversine formula). */
export function distanceKm(a: Coordinates, b: Coordinates): number {
  const half =
    Math.sin(((b.latitude - a.latitude) * DEGREE) / 2) ** 2 +
    Math.cos(a.latitude * DEGREE) *
      Math.cos(b.latitude * DEGREE) *
      Math.sin(((b.longitude - a.longitude) * DEGREE) / 2) ** 2
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(half)))
}

/**
 * How much a distance may differ from ours: 1 %, because models of the Earth differ by half a percent either way, and 1 km, because
 * coordinates may have only two decimals.
 */
export const slackKm = (km: number) => km * 0.01 + 1

/** The place that is this many kilometres to the east and to the north of another one. */
export function placeAway(from: Coordinates, eastKm: number, northKm: number): Coordinates {
  const latitude = from.latitude + northKm / DEGREE_KM
  const longitude = from.longitude + eastKm / DEGREE_KM / Math.cos(latitude * DEGREE)
  return { latitude: round(latitude), longitude: round(longitude > 180 ? longitude - 360 : longitude) }
}

/** Rounds to six decimals, which are a tenth of a metre. */
const round = (degrees: number) => Number(degrees.toFixed(6))
