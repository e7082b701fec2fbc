import { readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'

/** The addresses that the sandbox can find: it has no map, only these suburbs and towns. Degrees. */
const PLACES: { name: string; latitude: string; longitude: string }[] = parse(
  readFileSync(new URL('places.csv', import.meta.url)),
  { columns: true },
)

export const PLACE_NAMES = PLACES.map(({ name }) => name)

/** Where an address is: by the suburb or town that it names. */
export function findPlace(address: string): { latitude: number; longitude: number } | undefined {
  const words = ` ${address.toLowerCase().replaceAll(/[^a-z]+/g, ' ')} `
  const at = ({ name }: { name: string }) => words.lastIndexOf(` ${name.toLowerCase()} `)
  // The last name counts: Melbourne Street, Newtown is in Newtown.
  const [found] = PLACES.filter((place) => at(place) >= 0).sort((a, b) => at(b) - at(a))
  return found && { latitude: Number(found.latitude), longitude: Number(found.longitude) }
}
