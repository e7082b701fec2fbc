import { once } from 'node:events'
import { expect, test } from 'vitest'
import { type Lease, openSqlite } from '../../../src/connect/stores.ts'
import { jobKey, leaseKey, newJob } from '../../../src/features/price-files/import-job.ts'
import { createJobRunner } from '../../../src/features/price-files/job-runner.ts'
import { createLog } from '../../../src/runtime/log.ts'

test('a job whose lease another process has taken stops', async () => {
  const store = openSqlite({ file: ':memory:' })
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
