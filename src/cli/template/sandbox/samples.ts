import { DAY_MS, NEWEST, pick, seededRandom } from '../../../sandbox/random.ts'

export interface SandboxEntry {
  id: string
  name: string
  status: string
  notes: string
  createdAt: string
}

const STATUSES = ['New', 'In progress', 'Done']
const NOTES = ['Checked by phone.', 'Waiting for an answer.', 'Nothing left to do.', '']

/** The sample spare parts of a business. */
export function samplesOf(bxcontext: string): SandboxEntry[] {
  const random = seededRandom(`spare-parts ${bxcontext}`)
  return Array.from({ length: 30 + random(16) }, (_, index) => ({
    id: `${bxcontext}-${1000 + index}`,
    name: `Spare part ${1000 + index}`,
    status: pick(STATUSES, random),
    notes: pick(NOTES, random),
    createdAt: new Date(NEWEST - index * DAY_MS - random(DAY_MS)).toISOString(),
  }))
}
