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
  stopRequested,
  takenOver,
} from '../../../../../src/features/supplier/catalogue-files/import.ts'

const NOW = new Date('2026-11-29T12:00:00Z')
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
const end = (state: 'completed' | 'failed' | 'stopped') => (job: Import) =>
  ended(job, job.run, { state, problem: null, said: null }, NOW)

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
    { running: 'running', stopping: 'stopping' },
  ],
  ['its user stops it', stopRequested, { running: 'stopping', stopping: 'stopping' }],
  [
    'it is completed',
    end('completed'),
    { running: 'completed', stopping: 'completed', completed: 'completed' },
  ],
  ['it fails', end('failed'), { running: 'failed', stopping: 'failed', failed: 'failed' }],
  ['it is stopped', end('stopped'), { running: 'stopped', stopping: 'stopped', stopped: 'stopped' }],
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
  expect(() => ended(second, first.run, { state: 'completed', problem: null, said: null }, NOW)).toThrow(
    refused,
  )
  expect(progressed(second, second.run, { sent: 1, note: '' })).toMatchObject({ progress: { sent: 1 } })
})

test('what one run has sent still counts as accepted when the next one begins again', () => {
  const first = progressed(takenOver(started(READY)), 1, { sent: 2, note: '' })
  const second = progressed(takenOver(first), 2, { sent: 1, note: '' })
  expect(second).toMatchObject({ accepted: 2, progress: { sent: 1 } })
})

test('the import of a deleted user stops, and names neither the user nor the file', () => {
  expect(forgotten(started(READY))).toMatchObject({ by: null, fileName: '', state: 'stopping' })
})
