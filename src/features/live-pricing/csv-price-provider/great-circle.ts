import type { Place } from '../price-provider.ts'

/** The mean radius of the Earth (IUGG), in kilometres. */
const EARTH_KM = 6371.0088

/** Coordinates in degrees. */
export interface Point {
  latitude: number
  longitude: number
}

/** A range of coordinates in degrees. */
export interface Box {
  minLatitude: number
  maxLatitude: number
  minLongitude: number
  maxLongitude: number
}

const rad = (degrees: number) => (degrees * Math.PI) / 180
const deg = (radians: number) => (radians * 180) / Math.PI

/** The great-circle distance in kilometres, by the haversine formula. */
export function distanceKm(a: Point, b: Point): number {
  const sinHalfLongitude = Math.sin(rad(b.longitude - a.longitude) / 2)
  const sinHalfLatitude = Math.sin(rad(b.latitude - a.latitude) / 2)
  const haversine =
    sinHalfLatitude * sinHalfLatitude +
    Math.cos(rad(a.latitude)) * Math.cos(rad(b.latitude)) * sinHalfLongitude * sinHalfLongitude
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(haversine)))
}

/** Safety margin for locations in single precision, in degrees. */
const MARGIN = 1e-4

/** Boxes that contain every point within the radius: two across the antimeridian, all longitudes at a pole. */
export function boxesAround({ latitude, longitude, radiusKm }: Place): Box[] {
  const angle = radiusKm / EARTH_KM
  const [south, north] = [latitude - deg(angle) - MARGIN, latitude + deg(angle) + MARGIN]
  const latitudes = { minLatitude: Math.max(south, -90), maxLatitude: Math.min(north, 90) }
  const box = (minLongitude: number, maxLongitude: number) => ({ ...latitudes, minLongitude, maxLongitude })
  if (south <= -90 || north >= 90) return [box(-180, 180)]
  // The circle spans most longitudes slightly poleward of its centre, where meridians converge.
  const halfWidth = deg(Math.asin(Math.min(1, Math.sin(angle) / Math.cos(rad(latitude))))) + MARGIN
  const [west, east] = [longitude - halfWidth, longitude + halfWidth]
  if (west < -180) return [box(west + 360, 180), box(-180, east)]
  if (east > 180) return [box(west, 180), box(-180, east - 360)]
  return [box(west, east)]
}
