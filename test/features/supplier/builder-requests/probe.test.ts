import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import probeBuilderRequests from '../../../../src/features/supplier/builder-requests/probe.ts'
import type { Probe, ProbeAnswer, ReceivedRequest } from '../../../../src/web/kit.ts'

const SECRET = 'the-secret-of-the-webhook'
const EVENT = { id: 'e1', type: 'integration-connection.requested', data: { bxcontext: 'b' } }

function delivery(headers: (body: string) => Record<string, string>, event: object = EVENT): ReceivedRequest {
  const body = JSON.stringify({ occurredAt: new Date().toISOString(), ...event })
  return { path: '/webhooks/platform', headers: headers(body), body: Buffer.from(body) }
}

const hmac = (body: string, encoding: 'hex' | 'base64') =>
  createHmac('sha256', SECRET).update(body).digest(encoding)
const asAssumed = (body: string) => ({ 'x-webhook-signature': `sha256=${hmac(body, 'hex')}` })

/** What the probe reports about these deliveries: the status and the text, by the id of the assumption. */
async function reported(deliveries: ReceivedRequest[], secrets = [SECRET]) {
  const results: Record<string, [status: string, text: string]> = {}
  const note = (status: string) => (id: string, text: string) => {
    results[id] = [status, text]
  }
  const probe: Partial<Probe> = {
    received: deliveries,
    call: async () => ({ status: 403 }) as ProbeAnswer,
    confirm: note('confirmed'),
    differ: note('different'),
    compare: (id, isAsAssumed, seen) => note(isAsAssumed ? 'confirmed' : 'different')(id, seen),
    notSeen: note('not seen'),
    checkFields: (id) => note('confirmed')(id, ''),
  }
  const settings = { webhookSecrets: secrets, webhookHeader: 'X-Webhook-Signature' }
  await probeBuilderRequests(probe as Probe, settings)
  return results
}

test('a webhook in gzip, whose sent bytes are signed, is confirmed', async () => {
  const body = gzipSync(JSON.stringify({ occurredAt: new Date().toISOString(), ...EVENT }))
  const signature = createHmac('sha256', SECRET).update(body).digest('hex')
  const headers = { 'content-encoding': 'gzip', 'x-webhook-signature': signature }
  const results = await reported([{ path: '/webhooks/platform', headers, body }])
  expect(results['webhook-signature']?.[0]).toBe('confirmed')
  expect(results['webhook-event']?.[0]).toBe('confirmed')
})

test('a webhook that is signed as assumed is confirmed, whatever else arrived before it', async () => {
  const junk = delivery(() => ({ 'x-webhook-signature': 'junk' }), { id: 'junk' })
  const results = await reported([junk, delivery(asAssumed)])
  expect(results['webhook-signature']?.[0]).toBe('confirmed')
  expect(results['webhook-event']?.[0]).toBe('confirmed')
})

test.each<[string, (body: string) => Record<string, string>, string]>([
  [
    'in base64',
    (body) => ({ 'x-webhook-signature': hmac(body, 'base64') }),
    'HMAC-SHA256 as base64 in `X-Webhook-Signature`',
  ],
  [
    'in another header',
    (body) => ({ 'x-hub-signature': hmac(body, 'hex') }),
    'HMAC-SHA256 as hex in `x-hub-signature`',
  ],
  [
    'with other text',
    (body) => ({ 'x-webhook-signature': `t=1,v1=${hmac(body, 'hex')}` }),
    'HMAC-SHA256 as hex in `X-Webhook-Signature`, with other text around it',
  ],
  ['not at all', () => ({}), 'no header has an HMAC-SHA256 of the body with `PLATFORM_WEBHOOK_SECRET`'],
])('a webhook that is signed %s is different', async (_how, headers, text) => {
  expect((await reported([delivery(headers)]))['webhook-signature']).toEqual(['different', text])
})

test('an event that comes late is as assumed, and one with other fields is different', async () => {
  const late = await reported([delivery(asAssumed, { ...EVENT, occurredAt: '2001-01-01T00:00:00Z' })])
  expect(late['webhook-event']?.[0]).toBe('confirmed')
  const other = await reported([delivery(asAssumed, { eventId: 'e1' })])
  expect(other['webhook-event']?.[0]).toBe('different')
})

test('without a webhook, or without a secret, the report says how to see it', async () => {
  expect((await reported([]))['webhook-signature']?.[0]).toBe('not seen')
  const [status, text] = (await reported([delivery(asAssumed)], []))['webhook-signature'] ?? []
  expect(status).toBe('not seen')
  expect(text).toContain('PLATFORM_WEBHOOK_SECRET')
})
