import { expect, test } from 'vitest'
import { demoEnv } from '../../../../src/features/supplier/first-party/by-api-key.cli.ts'
import { sandboxSettings } from '../../../../src/runtime/run-sandbox.ts'
import { ACCOUNTS } from '../../../../src/sandbox/accounts.ts'
import { SAMPLE_SUPPLIER } from '../../../../src/sandbox/features/supplier/businesses.ts'
import { API_KEY, SUBSCRIPTION_KEY } from '../../../../src/sandbox/features/supplier/first-party/api.ts'
import { addressesOf } from '../../../../src/sandbox/platform.ts'

const supplier = ACCOUNTS.find(({ businesses }) =>
  businesses.some(({ bxcontext }) => bxcontext === SAMPLE_SUPPLIER),
)

test('--demo uses the API key of the sandbox’s sample supplier, whatever the environment names', () => {
  const other = {
    PLATFORM_API_URL: 'https://elsewhere.example',
    PLATFORM_API_KEY: 'x',
    PLATFORM_TENANT_ID: 'x',
  }
  expect(demoEnv(other)).toEqual({
    PLATFORM_API_URL: 'http://localhost:4400/api',
    PLATFORM_API_EMAIL: supplier?.email,
    PLATFORM_API_KEY: API_KEY,
    PLATFORM_SUBSCRIPTION_KEY: SUBSCRIPTION_KEY,
    PLATFORM_TENANT_ID: undefined,
  })
})

test.each([{}, { SANDBOX_PORT: '5500' }])(
  '--demo finds the sandbox where npm run demo starts it (%j)',
  async (env) => {
    expect(demoEnv(env).PLATFORM_API_URL).toBe(addressesOf((await sandboxSettings(env)).url).apiUrl)
  },
)

test('--demo finds it on this machine, wherever browsers do', () => {
  const env = { SANDBOX_URL: 'https://sandbox.example', CODESPACE_NAME: 'box' }
  expect(demoEnv(env).PLATFORM_API_URL).toBe('http://localhost:4400/api')
})
