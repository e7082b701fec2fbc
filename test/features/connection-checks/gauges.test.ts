import { afterEach, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import { connectionChecks } from '../../../src/features/connection-checks/index.ts'
import { type Running, startAll } from '../../support/app.ts'

let app: Running
afterEach(() => app.close())

test('the gauge of connections has no values while the store is gone, and does not keep other metrics from being read', async () => {
  app = await startAll({ CHECK_CONNECTIONS_EVERY: '1m' })
  const { context, store } = app.services
  const get = () => Promise.reject(new StoreUnavailableError('gone'))
  const parts = await connectionChecks.create?.({ ...context, store: { ...store, get } }, { everyMs: 60_000 })
  expect(await parts?.gauges?.()).toMatchObject([{ name: 'connect_connections', values: [] }])
})
