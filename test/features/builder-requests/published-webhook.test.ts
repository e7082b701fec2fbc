import { createHmac } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { type WebhookEvent, webhookChannel } from '../../../src/connect/index.ts'
import { startAll } from '../../support/app.ts'
import { WEBHOOK_SECRET } from '../../support/env.ts'
import { connected } from '../../support/flow.ts'

test('a webhook is published once, with the users of its business and nothing of its data', async () => {
  const app = await startAll()
  await connected(app, { name: 'sam', bxcontext: 'summit-supplies', email: 'priya@summit.example' })
  const published: WebhookEvent[] = []
  const onEvent = (event: WebhookEvent) => void published.push(event)
  webhookChannel.subscribe(onEvent)
  const body = JSON.stringify({
    id: 'evt_1',
    type: 'something-new',
    occurredAt: new Date().toISOString(),
    data: { bxcontext: 'summit-supplies', name: 'a private name' },
  })
  const signature = createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex')
  const headers = { 'content-type': 'application/json', 'x-webhook-signature': signature }
  await fetch(`${app.url}/webhooks/platform`, { method: 'POST', body, headers })
  await vi.waitFor(() => expect(published).toHaveLength(1))
  expect(published[0]).toMatchObject({ id: 'evt_1', type: 'something-new', userIds: ['sam'] })
  expect(JSON.stringify(published)).not.toContain('a private name')
  webhookChannel.unsubscribe(onEvent)
  await app.close()
})
