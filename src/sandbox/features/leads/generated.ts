import { DAY_MS, NEWEST, pick, seededRandom } from '../../random.ts'

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

const FIRST =
  'Ava Noah Mia Leo Zoe Kai Ruby Finn Isla Theo Grace Hugo Maya Oscar Ella Jude Nina Ravi Lucy Omar'.split(
    ' ',
  )
const LAST =
  'Walker Nguyen Patel Murphy Rossi Chen Taylor Kowalski Singh Martin Olsen Baker Haddad Lewis Clarke Young'.split(
    ' ',
  )
const SUBURBS = 'Brunswick, Newtown, Fremantle, Paddington, Glenelg, Sandy Bay, Belconnen, Northcote'.split(
  ', ',
)
const PROJECTS =
  'New home, Second storey addition, Kitchen renovation, Bathroom renovation, Granny flat, Deck'.split(', ')
const STATUSES = ['New', 'Contacted', 'Site visit booked', 'Quoted', 'Won', 'Lost']
const NOTES = [
  'Found us through a neighbour. Wants to start after the school holidays.',
  'Has council approval. Asked for two price options.',
  'Budget is firm. Prefers to talk in the evening.',
  'Sloping block; please bring the laser level to the visit.',
  'Comparing three builders and decides at the end of the month.',
]

/** Generates the sample leads of a business. Only their dates depend on the day. */
export function leadsOf(bxcontext: string): SandboxLead[] {
  const random = seededRandom(`leads ${bxcontext}`)
  return Array.from({ length: 36 + random(16) }, (_, index) => {
    const [first, last] = [pick(FIRST, random), pick(LAST, random)]
    return {
      id: `${bxcontext}-L${1000 + index}`,
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
