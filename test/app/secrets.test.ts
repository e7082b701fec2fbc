import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Running, startAll } from '../support/app.ts'
import { watchSecrets } from '../support/secrets.ts'

let app: Running
beforeAll(async () => {
  app = await startAll({ LOG_LEVEL: 'trace' })
})
afterAll(() => app.close())

test('after every flow and fault, no secret is in a log line, page, error, or url sent to another origin', async () => {
  const watch = await watchSecrets(app)
  const { visitor } = watch

  const open = async (...paths: string[]) => {
    for (const path of paths)
      for (const accept of ['text/html', 'application/json']) await visitor.get(app.url + path, { accept })
  }
  async function walkOnce(): Promise<void> {
    await watch.connect()
    await open('/connections', '/connections/harbour-homes/probe', '/connections/harbour-homes/probe/none')
    await visitor.post(`${app.url}/connections/harbour-homes/probe`, { form: { name: '' } })
    await visitor.post(`${app.url}/connections/harbour-homes/refresh`)
    await watch.collect()
  }

  // A promise that holds under every fault of the platform.
  await open('/', '/connections/%00', '/nowhere')
  await walkOnce()
  for (const fault of ['500', '429', 'garbage', 'drop', 'invalid_grant', 'invalid_client']) {
    // A consent that fails leaves the connection, which is refreshed later in the walk.
    for (const endpoint of ['exchange', 'refresh']) await app.fault(endpoint, fault, 1, 0)
    await walkOnce()
  }
  for (const fault of ['500', '429', 'garbage', 'drop', 'expired', 'forbidden']) {
    await app.fault('probe', fault, 3, 0)
    await walkOnce()
  }
  for (const fault of ['deny', 'server_error', 'missing_scope']) {
    await app.fault('consent', fault, 1)
    await walkOnce()
  }
  await app.sandbox('revoke')
  await walkOnce()
  await visitor.post(`${app.url}/connections/harbour-homes/disconnect`)
  await visitor.post(`${app.url}/sign-out`)

  expect(watch.answers.length).toBeGreaterThan(200)
  expect(app.logLines.length).toBeGreaterThan(200)
  expect(watch.secrets.size).toBeGreaterThan(40)
  watch.expectNoLeaks()
})
