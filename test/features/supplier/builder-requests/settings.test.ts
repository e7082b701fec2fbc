import { expect, test } from 'vitest'
import { builderRequestsSettings } from '../../../../src/features/supplier/builder-requests/settings.ts'
import { type Environment, readSettings } from '../../../../src/settings/read.ts'

const read = (env: Environment) => readSettings(env, builderRequestsSettings)

test('webhooks are disabled without a secret; several secrets are separated by commas', () => {
  expect(read({})).toEqual({ webhookSecrets: [], webhookHeader: 'X-Webhook-Signature' })
  expect(read({ PLATFORM_WEBHOOK_SECRET: 'a, b', PLATFORM_WEBHOOK_HEADER: 'X-Sign' })).toEqual({
    webhookSecrets: ['a', 'b'],
    webhookHeader: 'X-Sign',
  })
})

test('an invalid header name is rejected by name', () => {
  expect(() => read({ PLATFORM_WEBHOOK_HEADER: 'X Sign:' })).toThrow(
    'problem: PLATFORM_WEBHOOK_HEADER must be',
  )
})

test.each(['short', 'sandbox-webhook-secret', `${'good-secret'.repeat(3)},short`])(
  'production rejects the secret %s, and does not repeat it',
  (secret) => {
    const env = { PLATFORM_WEBHOOK_SECRET: secret, NODE_ENV: 'production' }
    expect(() => read(env)).toThrow(/problem: PLATFORM_WEBHOOK_SECRET is too weak/)
    expect(() => read(env)).not.toThrow(secret)
    expect(read({ PLATFORM_WEBHOOK_SECRET: secret }).webhookSecrets).not.toEqual([])
  },
)
