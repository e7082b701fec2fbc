import { afterAll, beforeAll, test } from 'vitest'
import simulated from '../../../../src/sandbox/features/supplier/builder-requests/index.ts'
import { type Running, startAll } from '../../../support/app.ts'
import { watchSecrets } from '../../../support/secrets.ts'

const WEBHOOK_SECRET = simulated.demoEnv.PLATFORM_WEBHOOK_SECRET

let app: Running
beforeAll(async () => {
  app = await startAll({ LOG_LEVEL: 'trace' })
})
afterAll(() => app.close())

test('after builder requests and rejected webhooks, no secret is in a log line, page or error', async () => {
  const watch = await watchSecrets(app, { 'webhook secret': WEBHOOK_SECRET })
  const { visitor } = watch
  await watch.connect()
  const at = `${app.url}/connections/harbour-homes/builder-requests`
  for (const accept of ['text/html', 'application/json']) {
    await visitor.get(at, { accept })
    await visitor.post(`${at}/none/accept`, { accept })
  }
  for (const signature of ['', '0'.repeat(64)]) {
    const headers = { 'content-type': 'application/json', 'x-webhook-signature': signature }
    await visitor.post(`${app.url}/webhooks/platform`, { text: '{}', headers })
  }
  watch.expectNoLeaks()
})
