import { expect, onTestFinished, test } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import connectionGauges from '../../../src/features/connection-checks/gauges.ts'
import { sharedApp, startAll } from '../../support/app.ts'
import { connected } from '../../support/flow.ts'

const shared = await sharedApp()

test('the gauge of connections has no values while the store is gone, and does not keep other metrics from being read', async () => {
  const { deps, store } = shared.services
  const get = () => Promise.reject(new StoreUnavailableError('gone'))
  const gauges = await connectionGauges({ ...deps, store: { ...store, get } })
  expect(gauges).toMatchObject([{ name: 'connect_connections', values: [] }])
})

test('the gauge has the connections that the last round has counted, and no values before it', async () => {
  const app = await startAll({ CHECK_CONNECTIONS_EVERY: '1m' })
  onTestFinished(app.close)
  await connected(app, { name: 'ann' })
  const values = async () => {
    const [gauge] = await connectionGauges(app.services.deps)
    return gauge?.values
  }
  expect(await values()).toEqual([])
  for (const part of app.services.parts) part.start?.()
  await expect.poll(values).toContainEqual({ labels: { status: 'active' }, value: 1 })
})
