import { describe, expect, test } from 'vitest'
import { missingSandboxEnv } from '../../src/runtime/load-env-file.ts'
import { configOf } from '../../src/runtime/run-app.ts'
import { sandboxSettings } from '../../src/runtime/run-sandbox.ts'
import { testEnv } from '../support/env.ts'

test('a blank variable is unset for the sandbox as well', async () => {
  const names = ['PLATFORM_CLIENT_ID', 'PLATFORM_CLIENT_SECRET', 'SANDBOX_URL', 'DATA_DIR']
  const blank = Object.fromEntries(names.map((name) => [name, ' ']))
  expect(JSON.stringify(await sandboxSettings(blank))).toBe(JSON.stringify(await sandboxSettings({})))
})

describe('the platform’s addresses', () => {
  test('follow SANDBOX_PORT, and the app’s follow PORT', async () => {
    const env = { PORT: '3100', SANDBOX_PORT: '4500' }
    const config = configOf({ ...testEnv(env), ...missingSandboxEnv(env) }, [])
    expect(config.baseUrl).toBe('http://localhost:3100')
    expect(config.platform).toMatchObject({
      appUrl: 'http://localhost:4500',
      authUrl: 'http://localhost:4500/auth',
      apiUrl: 'http://localhost:4500/api',
      sandboxUrl: (await sandboxSettings(env)).url,
    })
  })

  test('follow SANDBOX_URL if browsers reach the sandbox elsewhere', () => {
    const env = { SANDBOX_PORT: '4500', SANDBOX_URL: 'https://sandbox.example/' }
    expect(missingSandboxEnv(env).PLATFORM_API_URL).toBe('https://sandbox.example/api')
  })

  test.each([
    [{ PLATFORM_API_URL: 'https://api.example' }],
    [{ NODE_ENV: 'production' }],
    [{ SANDBOX_PORT: ' ' }],
  ])('are not the sandbox’s with %j', (env) => {
    expect(missingSandboxEnv({ SANDBOX_PORT: '4400', ...env })).toEqual({})
  })
})
