import { expect, test } from 'vitest'
import { livePricingSettings } from '../../../../src/features/supplier/live-pricing/settings.ts'
import { ConfigError, type Environment, readSettings } from '../../../../src/settings/read.ts'

const read = (env: Environment) => readSettings(env, livePricingSettings)

function problems(env: Environment): readonly string[] {
  try {
    read(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

test('clients have one secret each, or two during a rotation', () => {
  const { clients } = read({ LIVE_PRICING_CLIENTS: 'a:first-secret, a:second:secret, b:third' })
  const a = ['first-secret', 'second:secret'].map((secret) => ({ id: 'a', secret }))
  expect(clients).toEqual([...a, { id: 'b', secret: 'third' }])
  expect(read({}).clients).toEqual([])
})

test.each([
  ['LIVE_PRICING_CLIENTS', 'no-colon'],
  ['LIVE_PRICING_CLIENTS', ':nameless'],
  ['LIVE_PRICING_CLIENTS', 'a:with space'],
  ['LIVE_PRICING_RATE_LIMIT', 'many'],
])('%s=%s is rejected by name, and the value is not repeated', (name, value) => {
  const reported = problems({ [name]: value })
  expect(reported).toEqual([expect.stringMatching(new RegExp(`^${name} `))])
  expect(reported.join()).not.toContain(value)
})

test('a rate limit of 0 means none', () => {
  expect(read({}).rateLimit).toEqual({ limit: 3000, windowMs: 10_000 })
  expect(read({ LIVE_PRICING_RATE_LIMIT: '0' }).rateLimit).toBeNull()
})

test.each(['a:short', `a:${'x'.repeat(40)}`, 'a:sandbox-platform-secret'])(
  'production rejects %s as too weak',
  (client) => {
    expect(problems({ LIVE_PRICING_CLIENTS: client, NODE_ENV: 'production' })).toEqual([
      expect.stringMatching(/^LIVE_PRICING_CLIENTS entry 1 has a weak secret/),
    ])
    expect(problems({ LIVE_PRICING_CLIENTS: client })).toEqual([])
  },
)
