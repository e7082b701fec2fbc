/** Believable leads and catalogues for each business; the same ones at every start. */
export interface SandboxLead {
  id: string
  name: string
  email: string
  phone: string
  suburb: string
  projectType: string
  status: string
  notes: string
  createdAt: string
}

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

const DAY_MS = 86_400_000
const NEWEST = Date.UTC(2026, 9, 30, 9)

const FIRST =
  'Ava Noah Mia Leo Zoe Kai Ruby Finn Isla Theo Grace Hugo Maya Oscar Ella Jude Nina Ravi Lucy Omar'.split(
    ' ',
  )
const LAST =
  'Walker Nguyen Patel Murphy Rossi Chen Taylor Kowalski Singh Martin Olsen Baker Haddad Lewis Clarke Young'.split(
    ' ',
  )
const SUBURBS = [
  'Brunswick',
  'Newtown',
  'Fremantle',
  'Paddington',
  'Glenelg',
  'Sandy Bay',
  'Belconnen',
  'Northcote',
]
const PROJECTS = [
  'New home',
  'Second storey addition',
  'Kitchen renovation',
  'Bathroom renovation',
  'Granny flat',
  'Deck',
]
const STATUSES = ['New', 'Contacted', 'Site visit booked', 'Quoted', 'Won', 'Lost']
const NOTES = [
  'Found us through a neighbour. Wants to start after the school holidays.',
  'Has council approval. Asked for two price options.',
  'Budget is firm. Prefers to talk in the evening.',
  'Sloping block; please bring the laser level to the visit.',
  'Comparing three builders and decides at the end of the month.',
]
const RANGES = [
  'Framing timber',
  'Plasterboard',
  'Roofing',
  'Insulation',
  'Windows',
  'Doors',
  'Tapware',
  'Tiles',
  'Fixings',
]
const REGIONS = ['National', 'NSW', 'VIC', 'QLD', 'WA']

const GRADES = ['standard', 'premium', 'trade', 'heavy duty', 'low allergen', 'recycled']
const SIZES = ['90 x 45 mm', '1200 x 600 mm', '2400 mm', '3.6 m', '10 pack', '25 kg', '600 mm']
const UNITS = ['each', 'm', 'm2', 'pack']

export function leadsOf(context: string): SandboxLead[] {
  const random = generator(`leads ${context}`)
  return Array.from({ length: 36 + random(16) }, (_, index) => {
    const [first, last] = [pick(FIRST, random), pick(LAST, random)]
    return {
      id: `${context}-L${1000 + index}`,
      name: `${first} ${last}`,
      email: `${first}.${last}@mail.example`.toLowerCase(),
      phone: `04${String(10_000_000 + random(89_999_999)).slice(0, 8)}`,
      suburb: pick(SUBURBS, random),
      projectType: pick(PROJECTS, random),
      status: pick(STATUSES, random),
      notes: pick(NOTES, random),
      createdAt: new Date(NEWEST - index * DAY_MS - random(DAY_MS)).toISOString(),
    }
  })
}

export function cataloguesOf(context: string): SandboxCatalogue[] {
  const random = generator(`catalogues ${context}`)
  return RANGES.flatMap((range) => REGIONS.map((region) => `${range} ${region} 2026`))
    .filter(() => random(4) > 0)
    .map((name, index) => ({
      id: `${context}-C${100 + index}`,
      name,
      scope: random(3) === 0 ? 'Managed' : 'Public',
      itemCount: 40 + random(2400),
      updatedAt: new Date(NEWEST - random(120) * DAY_MS).toISOString(),
    }))
}

/** Items of a catalogue that the business came with, from `from` on. */
export function itemsOf(catalogue: SandboxCatalogue, from: number, count: number): SandboxItem[] {
  const range = catalogue.name.replace(/ \S+ 2026$/, '')
  const last = Math.min(from + count, catalogue.itemCount)
  return Array.from({ length: Math.max(0, last - from) }, (_, at) => {
    const random = generator(`${catalogue.id} ${from + at}`)
    const name = `${range}, ${pick(GRADES, random)}, ${pick(SIZES, random)}`
    return {
      code: `${range.slice(0, 2).toUpperCase()}-${10_000 + from + at}`,
      name,
      unit: pick(UNITS, random),
      category: range,
      price: (500 + random(40_000)) / 100,
    }
  })
}

function pick<T>(from: T[], random: (below: number) => number): T {
  return from[random(from.length)] as T
}

/** Whole numbers that look random and depend on the seed alone (the mulberry32 generator). */
function generator(seed: string): (below: number) => number {
  let state = [...seed].reduce(
    (hash, char) => Math.imul(hash ^ char.charCodeAt(0), 16_777_619),
    2_166_136_261,
  )
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
