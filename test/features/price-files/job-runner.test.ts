import { once } from 'node:events'
import { expect, test } from 'vitest'
import { type KeyValueStore, type Lease, openSqlite } from '../../../src/connect/stores.ts'
import { jobKey, leaseKey, newJob } from '../../../src/features/price-files/import-job.ts'
import { createJobRunner } from '../../../src/features/price-files/job-runner.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { createFaultyStore } from '../../support/faulty-store.ts'

/** A stored job with its lease, and a runner. */
async function setup(store: KeyValueStore) {
  const runner = createJobRunner({
    store,
    log: createLog('silent'),
    onSent: async () => {},
    onCompleted: async () => {},
  })
  const catalogue = { id: 'c', name: 'Trade', scope: 'Public' as const }
  const job = newJob({
    id: 'job',
    userId: 'ann',
    bxcontext: 'b',
    catalogue,
    fileName: 'prices.csv',
    bytes: 1,
  })
  const record = JSON.stringify(job)
  await store.set(jobKey('ann', 'job'), record)
  const lease = (await runner.acquireLease('ann', 'job')) as Lease
  return { runner, job, record, lease }
}

test('a job whose lease another process has taken stops', async () => {
  const store = openSqlite({ file: ':memory:' })
  const { runner, job, record, lease } = await setup(store)
  let stopped = false
  runner.run(job, record, lease, async (_record, signal) => {
    await once(signal, 'abort')
    stopped = true
    throw signal.reason
  })
  await store.set(leaseKey('ann', 'job'), 'another process', 60_000)
  await expect.poll(() => stopped).toBe(true)
  await runner.settled('job')
  expect(await store.get(leaseKey('ann', 'job'))).toBe('another process')
  await runner.close()
  await store.close()
})

test('a job goes on after a write whose answer was lost and one that failed', async () => {
  const { store, failBy, heal } = createFaultyStore()
  const { runner, job, record, lease } = await setup(store)
  const moments = ['after', 'before'] as const
  runner.run(job, record, lease, async ({ update, save }) => {
    let writes = 0
    failBy((operation, kind) =>
      operation === 'compareAndSet' && kind === 'import' ? moments[writes++] : undefined,
    )
    for (const bytes of [2, 3]) {
      update({ bytes })
      await expect(save()).rejects.toMatchObject({ code: 'store_unavailable' })
    }
    heal()
    return { state: 'ready' }
  })
  await runner.settled('job')
  const stored = JSON.parse((await store.get(jobKey('ann', 'job'))) ?? '')
  expect(stored).toMatchObject({ state: 'ready', bytes: 3 })
  await runner.close()
  await store.close()
})
