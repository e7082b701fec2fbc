import { DAY_MS, NEWEST, pick, seededRandom } from '../../random.ts'

export interface SandboxCatalogue {
  id: string
  name: string
  scope: 'Public' | 'Managed'
  itemCount: number
  updatedAt: string
}

export interface SandboxItem {
  code: string
  price: number
  [field: string]: unknown
}

const wordsOf = (list: string) => list.split(', ')
const RANGES = wordsOf(
  'Framing timber, Plasterboard, Roofing, Insulation, Windows, Doors, Tapware, Tiles, Fixings',
)
const REGIONS = ['National', 'NSW', 'VIC', 'QLD', 'WA']
const GRADES = wordsOf('standard, premium, trade, heavy duty, low allergen, recycled')
const SIZES = wordsOf('90 x 45 mm, 1200 x 600 mm, 2400 mm, 3.6 m, 10 pack, 25 kg, 600 mm')
const UNITS = ['each', 'm', 'm2', 'pack']

/** Generates the sample catalogues of a business. Only their dates depend on the day. */
export function cataloguesOf(bxcontext: string): SandboxCatalogue[] {
  const random = seededRandom(`catalogues ${bxcontext}`)
  return RANGES.flatMap((range) => REGIONS.map((region) => `${range} ${region} 2026`))
    .filter(() => random(4) > 0)
    .map((name, index) => ({
      id: `${bxcontext}-C${100 + index}`,
      name,
      scope: random(3) === 0 ? 'Managed' : 'Public',
      itemCount: 40 + random(2400),
      updatedAt: new Date(NEWEST - random(120) * DAY_MS).toISOString(),
    }))
}

/** A sample catalogue by its id. */
export const generatedCatalogue = (id: string): SandboxCatalogue | undefined =>
  cataloguesOf(id.replace(/-C\d+$/, '')).find((catalogue) => catalogue.id === id)

/** Generates the items of a sample catalogue, which are always the same. */
export function itemsOf(catalogue: SandboxCatalogue): SandboxItem[] {
  const range = catalogue.name.replace(/ \S+ 2026$/, '')
  return Array.from({ length: catalogue.itemCount }, (_, index) => {
    const random = seededRandom(`${catalogue.id} ${index}`)
    const name = `${range}, ${pick(GRADES, random)}, ${pick(SIZES, random)}`
    return {
      code: `${range.slice(0, 2).toUpperCase()}-${10_000 + index}`,
      name,
      unit: pick(UNITS, random),
      category: range,
      price: (500 + random(40_000)) / 100,
    }
  })
}
