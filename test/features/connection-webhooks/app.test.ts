import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqlite } from '../../../src/connect/stores.ts'
import { OUTBOX_OWNER } from '../../../src/features/connection-webhooks/outbox.ts'
import { startAll } from '../../support/app.ts'
import { testEnv } from '../../support/env.ts'
import { connected } from '../../support/flow.ts'
import { serve } from '../../support/ports.ts'
import { command } from '../../support/process.ts'

const SECRET = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`

test('the app sends the selected events, and nothing else', async () => {
  const types: string[] = []
  const receiver = await serve(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    types.push(JSON.parse(body).type)
    res.end()
  })
  const app = await startAll({
    CONNECTION_WEBHOOK_URL: `http://127.0.0.1:${receiver.port}`,
    CONNECTION_WEBHOOK_SECRET: SECRET,
    CONNECTION_WEBHOOK_EVENTS: 'connected,revoked',
  })
  for (const part of app.services.parts) part.start?.()
  const ann = await connected(app, { name: 'ann' })
  await app.sandbox('revoke')
  await ann.get(`${app.url}/connections/harbour-homes/probe`)
  await ann.post(`${app.url}/connections/harbour-homes/disconnect`)
  await expect.poll(() => types).toEqual(['connection.connected', 'connection.revoked'])
  await app.close()
  await receiver.close()
})

test('an event of a command waits in the store for the app to send it', async () => {
  const nowhere = 'http://127.0.0.1:9'
  const app = await startAll()
  await connected(app, { name: 'ann' })
  const env = testEnv({
    PLATFORM_APP_URL: nowhere,
    PLATFORM_AUTH_URL: nowhere,
    PLATFORM_API_URL: nowhere,
    DATA_DIR: app.config.dataDir,
    CONNECTION_WEBHOOK_URL: nowhere,
    CONNECTION_WEBHOOK_SECRET: SECRET,
  })
  const { code } = await command('src/cli/connections.ts', env, { args: ['revoke', 'ann', 'harbour-homes'] })
  expect(code).toBe(0)
  const store = openSqlite({ file: join(app.config.dataDir, 'store.sqlite') })
  expect((await store.list('webhook-delivery', OUTBOX_OWNER)).map(({ value }) => value).join()).toContain(
    'connection.disconnected',
  )
  await store.close()
  await app.close()
})
