/** The addresses that the sandbox can find: it has no map, only these suburbs and towns. Degrees. */
const PLACES: [name: string, latitude: number, longitude: number][] = [
  ['Adelaide', -34.93, 138.6],
  ['Alice Springs', -23.7, 133.88],
  ['Balmain', -33.859, 151.179],
  ['Belconnen', -35.238, 149.066],
  ['Brisbane', -27.47, 153.03],
  ['Broken Hill', -31.96, 141.46],
  ['Brunswick', -37.767, 144.96],
  ['Cairns', -16.92, 145.77],
  ['Canberra', -35.28, 149.13],
  ['Coogee', -33.92, 151.255],
  ['Darwin', -12.46, 130.84],
  ['Fremantle', -32.055, 115.745],
  ['Geelong', -38.15, 144.36],
  ['Glenelg', -34.98, 138.515],
  ['Gold Coast', -28.0, 153.43],
  ['Hobart', -42.88, 147.33],
  ['Launceston', -41.44, 147.14],
  ['Melbourne', -37.81, 144.96],
  ['Newcastle', -32.93, 151.78],
  ['Newtown', -33.898, 151.177],
  ['Northcote', -37.77, 145.0],
  ['Paddington', -33.885, 151.227],
  ['Perth', -31.95, 115.86],
  ['Sandy Bay', -42.897, 147.327],
  ['Sydney', -33.87, 151.21],
  ['Toowoomba', -27.56, 151.95],
  ['Wollongong', -34.43, 150.89],
]

export const PLACE_NAMES = PLACES.map(([name]) => name)

/** Where an address is: by the suburb or town that it names. */
export function findPlace(
  address: string,
): { name: string; latitude: number; longitude: number } | undefined {
  const words = ` ${address.toLowerCase().replaceAll(/[^a-z]+/g, ' ')} `
  const named = PLACES.filter(([name]) => words.includes(` ${name.toLowerCase()} `))
  // The last name counts: Melbourne Street, Newtown is in Newtown.
  const [found] = named.sort(
    ([a], [b]) => words.lastIndexOf(b.toLowerCase()) - words.lastIndexOf(a.toLowerCase()),
  )
  return found && { name: found[0], latitude: found[1], longitude: found[2] }
}
