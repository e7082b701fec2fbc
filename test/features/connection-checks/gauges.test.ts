import { afterEach, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import connectionGauges from '../../../src/features/connection-checks/gauges.ts'
import { type Running, startAll } from '../../support/app.ts'

let app: Running
afterEach(() => app.close())

test('the gauge of connections has no values while the store is gone, and does not keep other metrics from being read', async () => {
  app = await startAll()
  const { deps, store } = app.services
  const get = () => Promise.reject(new StoreUnavailableError('gone'))
  const gauges = await connectionGauges({ ...deps, store: { ...store, get } })
  expect(gauges).toMatchObject([{ name: 'connect_connections', values: [] }])
})
