import { expect, test } from 'vitest'
import { connectionWebhooksSettings } from '../../../src/features/connection-webhooks/settings.ts'
import { readSettings } from '../../../src/settings/read.ts'

const SECRET = `whsec_${Buffer.alloc(24, 'k').toString('base64')}`
const read = (env: Record<string, string>) => readSettings(env, { hooks: connectionWebhooksSettings }).hooks
const FULL = {
  CONNECTION_WEBHOOK_URL: 'https://hooks.example/x',
  CONNECTION_WEBHOOK_SECRET: `${SECRET},${SECRET}`,
}

test('webhooks are off without an address', () => {
  expect(read({})).toBeNull()
})

test('an address, several secrets and the events are read', () => {
  expect(read({ ...FULL, CONNECTION_WEBHOOK_EVENTS: 'revoked, refreshFailed' })).toEqual({
    url: 'https://hooks.example/x',
    secrets: [Buffer.alloc(24, 'k'), Buffer.alloc(24, 'k')],
    events: ['revoked', 'refreshFailed'],
  })
  expect(read(FULL)?.events).toEqual(['connected', 'revoked', 'recovered', 'disconnected'])
})

test('the address is used as it is typed', () => {
  const url = 'https://hooks.example/connect/?source=app'
  expect(read({ ...FULL, CONNECTION_WEBHOOK_URL: url })?.url).toBe(url)
})

test.each([
  [{ CONNECTION_WEBHOOK_URL: 'https://hooks.example' }, 'CONNECTION_WEBHOOK_SECRET is required'],
  [{ ...FULL, CONNECTION_WEBHOOK_SECRET: 'my secret' }, 'CONNECTION_WEBHOOK_SECRET must be whsec_'],
  [{ ...FULL, CONNECTION_WEBHOOK_SECRET: 'whsec_c2hvcnQ=' }, 'CONNECTION_WEBHOOK_SECRET must be whsec_'],
  [{ ...FULL, CONNECTION_WEBHOOK_EVENTS: 'revoked,lost' }, 'CONNECTION_WEBHOOK_EVENTS must be some of'],
  [{ ...FULL, NODE_ENV: 'production', CONNECTION_WEBHOOK_URL: 'http://hooks.example' }, 'must be https'],
])('%o is refused', (env, message) => {
  expect(() => read(env as Record<string, string>)).toThrow(message)
})
