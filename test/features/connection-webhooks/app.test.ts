import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
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

test('a revocation that the platform reports while the app stops is stored for the next start', async () => {
  const app = await startAll(
    { CONNECTION_WEBHOOK_URL: 'http://127.0.0.1:9', CONNECTION_WEBHOOK_SECRET: SECRET },
    { slowMs: 500 },
  )
  await connected(app, { name: 'ann' })
  await app.sandbox('revoke')
  await app.fault('refresh', 'slow', 1)
  const { store, connect } = app.services
  const asked = vi.spyOn(connect.oauth, 'refresh')
  const refreshing = connect.vault.refresh({ userId: 'ann', bxcontext: 'harbour-homes' })
  const stored: string[] = []
  const { close } = store
  store.close = async () => {
    stored.push(...(await store.list('webhook-delivery', OUTBOX_OWNER)).map(({ value }) => value))
    await close()
  }
  await expect.poll(() => asked.mock.calls.length).toBe(1)
  const ended = expect(refreshing).rejects.toMatchObject({ code: 'connection_revoked' })
  await app.services.close(10_000)
  await ended
  expect(stored.join()).toContain('connection.revoked')
  store.close = async () => {}
  await app.close()
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
