import { expect, test } from 'vitest'
import {
  firstPartySettings,
  requiredFirstPartySettings,
} from '../../../../src/features/supplier/first-party/settings.ts'
import { ConfigError, type Environment, readSettings } from '../../../../src/settings/read.ts'

const CREDENTIALS = {
  PLATFORM_API_EMAIL: 'priya@summit.example',
  PLATFORM_API_KEY: 'key',
  PLATFORM_SUBSCRIPTION_KEY: 'subscription',
}

const read = (env: Environment) => readSettings(env, firstPartySettings)
const readRequired = (env: Environment) => readSettings(env, requiredFirstPartySettings)

/** The names of the variables with a problem. */
function refused(reader: (env: Environment) => unknown, env: Environment): (string | undefined)[] {
  try {
    reader(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((problem) => problem.split(' ')[0])
    throw error
  }
}

test.each([read, readRequired])('the credentials, and a tenant', (reader) => {
  const credentials = { email: 'priya@summit.example', apiKey: 'key', subscriptionKey: 'subscription' }
  expect(reader(CREDENTIALS)).toEqual({ ...credentials, tenantId: undefined })
  expect(reader({ ...CREDENTIALS, PLATFORM_TENANT_ID: 't1' })).toEqual({ ...credentials, tenantId: 't1' })
})

test('the keys of the sandbox, which everybody can read, are refused in production only', () => {
  const KEYS = { PLATFORM_API_KEY: 'sandbox-api-key', PLATFORM_SUBSCRIPTION_KEY: 'sandbox-subscription-key' }
  const env = { ...CREDENTIALS, ...KEYS }
  expect(refused(read, env)).toEqual([])
  expect(refused(read, { ...env, NODE_ENV: 'production' })).toEqual(Object.keys(KEYS))
})

test('the app works without credentials; a command that needs them does not', () => {
  expect(read({})).toBeNull()
  expect(read({ PLATFORM_TENANT_ID: 't1' })).toBeNull()
  expect(refused(readRequired, {})).toEqual(Object.keys(CREDENTIALS))
})

test.each(Object.entries(CREDENTIALS))('%s alone is not enough', (name, value) => {
  const missing = Object.keys(CREDENTIALS).filter((other) => other !== name)
  expect(refused(read, { [name]: value })).toEqual(missing)
  expect(refused(read, { ...CREDENTIALS, [name]: ' ' })).toEqual([name])
})

test('a subscription key that is not a valid header value is rejected', () => {
  expect(refused(read, { ...CREDENTIALS, PLATFORM_SUBSCRIPTION_KEY: 'a b' })).toEqual([
    'PLATFORM_SUBSCRIPTION_KEY',
  ])
})
