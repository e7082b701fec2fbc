import { describe, expect, test } from 'vitest'
import {
  ended,
  type Import,
  importSchema,
  NOTHING_SENT,
  newImport,
  progressed,
  readAgain,
  resumed,
  started,
  stopped,
  takenOver,
} from '../../../../../src/features/supplier/price-files/import.ts'
import { CHOICE, REF } from './service-support.ts'

const FILE = { ...REF, id: 'i1', fileName: 'prices.csv', bytes: 10 }
const READ = {
  checkId: 'c1',
  leftOut: [],
  receivedRevision: 'r1',
  itemsPath: '',
  reading: { found: null, missing: [], outline: null as never },
}
const READY: Import = { ...newImport(FILE, { id: '1' }, READ), choice: CHOICE, rows: 2, items: 2 }
const STATES = importSchema.shape.state.options
const END = { progress: NOTHING_SENT, problem: null }

/** By transition and state: the next state; one that is not named is refused with 409. */
const TABLE: [string, (job: Import) => Import, Partial<Record<Import['state'], Import['state']>>][] = [
  ['a page is sent', (job) => started(job, 'c1'), { ready: 'running' }],
  ['the rest is sent', resumed, { failed: 'running', stopped: 'running' }],
  ['a process takes it over', takenOver, { running: 'running' }],
  ['its user stops it', stopped, { running: 'stopped' }],
  ['it is completed', (job) => ended(job, job.run, { ...END, state: 'completed' }), { running: 'completed' }],
  ['it fails', (job) => ended(job, job.run, { ...END, state: 'failed' }), { running: 'failed' }],
  [
    'it comes further',
    (job) => progressed(job, job.run, NOTHING_SENT),
    { running: 'running', stopped: 'stopped' },
  ],
  [
    'it is read again',
    (job) => readAgain(job, job.run, READ),
    { ready: 'ready', failed: 'ready', stopped: 'ready' },
  ],
]

describe.each(TABLE)('when %s', (_name, to, allowed) => {
  test.each(STATES)('one that is %s', (state) => {
    const next = allowed[state]
    const change = () => to({ ...READY, state })
    if (next === undefined) expect(change).toThrow(expect.objectContaining({ status: 409, code: 'conflict' }))
    else expect(change()).toMatchObject({ state: next })
  })
})

test('a reading that began before an import was sent does not replace what was sent', () => {
  const running = takenOver(started(READY, 'c1'))
  const failed = ended(running, running.run, { ...END, state: 'failed' })
  expect(() => readAgain(failed, READY.run, READ)).toThrow(expect.objectContaining({ status: 409 }))
})

test('only the work that began the last run writes what becomes of it', () => {
  const running = started(READY, 'c1')
  const next = takenOver(running)
  expect(() => progressed(next, running.run, NOTHING_SENT)).toThrow(expect.objectContaining({ status: 409 }))
  expect(() => ended(next, running.run, { ...END, state: 'completed' })).toThrow()
  expect(ended(next, next.run, { ...END, state: 'completed' })).toMatchObject({ state: 'completed' })
})
