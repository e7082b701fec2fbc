import { DAY_MS, NEWEST, pick, seededRandom } from '../../../sandbox/random.ts'

export interface SandboxWidget {
  id: string
  name: string
  status: string
  notes: string
  createdAt: string
}

const STATUSES = ['New', 'In progress', 'Done']
const NOTES = ['Checked by phone.', 'Waiting for an answer.', 'Nothing left to do.', '']

/** The sample widgets of a business. */
export function widgetsOf(bxcontext: string): SandboxWidget[] {
  const random = seededRandom(`widgets ${bxcontext}`)
  return Array.from({ length: 30 + random(16) }, (_, index) => ({
    id: `${bxcontext}-${1000 + index}`,
    name: `Widget ${1000 + index}`,
    status: pick(STATUSES, random),
    notes: pick(NOTES, random),
    createdAt: new Date(NEWEST - index * DAY_MS - random(DAY_MS)).toISOString(),
  }))
}
