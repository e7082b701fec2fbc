import { describe, expect, test } from 'vitest'
import {
  checked,
  ended,
  forgotten,
  type Import,
  importSchema,
  NOTHING_SENT,
  progressed,
  resumed,
  started,
  stopped,
  takenOver,
} from '../../../../../src/features/supplier/catalogue-files/import.ts'

const FILE = {
  id: 'f1',
  items: 2,
  catalogueId: '1',
  catalogueName: 'National',
  fileName: 'items.csv',
  by: { userId: 'sam', bxcontext: 'summit' },
}
const READY = checked(null, FILE)
const STATES = importSchema.shape.state.options
type State = Import['state']
const end = (state: 'completed' | 'failed') => (job: Import) => ended(job, job.run, { state, message: null })

/** The next state for each event and state. Every other state refuses the event with 409. */
const TABLE: [string, (job: Import) => Import, Partial<Record<State, State>>][] = [
  [
    'another file is checked',
    (job) => checked(job, { ...FILE, id: 'f2' }),
    { ready: 'ready', completed: 'ready', failed: 'ready', stopped: 'ready' },
  ],
  ['it is sent', started, { ready: 'running', running: 'running' }],
  ['a process takes it over', takenOver, { running: 'running' }],
  [
    'it comes further',
    (job) => progressed(job, job.run, NOTHING_SENT),
    { running: 'running', stopped: 'stopped' },
  ],
  ['its user stops it', stopped, { running: 'stopped', stopped: 'stopped' }],
  [
    'it is completed',
    end('completed'),
    { running: 'completed', stopped: 'completed', completed: 'completed' },
  ],
  ['it fails', end('failed'), { running: 'failed', stopped: 'failed', failed: 'failed' }],
  ['its user sends it again', resumed, { running: 'running', failed: 'running', stopped: 'running' }],
]

describe.each(TABLE)('when %s', (_name, to, allowed) => {
  test.each(STATES)('one that is %s', (state) => {
    const change = () => to({ ...READY, state })
    const next = allowed[state]
    if (next === undefined) expect(change).toThrow(expect.objectContaining({ status: 409, code: 'conflict' }))
    else expect(change()).toMatchObject({ state: next })
  })
})

test('only the run that began last writes how far it is and how it ends', () => {
  const first = takenOver(started(READY))
  const second = takenOver(first)
  const refused = expect.objectContaining({ status: 409 })
  expect(() => progressed(second, first.run, NOTHING_SENT)).toThrow(refused)
  expect(() => ended(second, first.run, { state: 'completed', message: null })).toThrow(refused)
  expect(progressed(second, second.run, { sent: 1, note: '' })).toMatchObject({ sent: 1 })
})

test('a catalogue has received the items of the last completed import, whatever happens to later files', () => {
  const received = { id: FILE.id, items: FILE.items }
  const first = end('completed')(started(READY))
  const later = started(checked(first, { ...FILE, id: 'f2' }))
  for (const job of [first, later, end('failed')(later), stopped(later)])
    expect(job).toMatchObject({ received })
})

test('the import of a deleted user stops, and names neither the user nor the file, which goes unless it was received', () => {
  expect(forgotten(started(READY))).toBeNull()
  const later = started(checked(end('completed')(started(READY)), { ...FILE, id: 'f2' }))
  expect(forgotten(later)).toMatchObject({ by: null, fileName: '', items: 0, state: 'stopped' })
})

test('a run whose last answer arrives after its user was deleted ends nothing, so the received items stay', () => {
  const later = takenOver(started(checked(end('completed')(started(READY)), { ...FILE, id: 'f2' })))
  const left = forgotten(later)
  expect(left).toMatchObject({ received: { id: FILE.id, items: FILE.items } })
  expect(() => left && ended(left, later.run, { state: 'completed', message: null })).toThrow(
    expect.objectContaining({ status: 409 }),
  )
})
