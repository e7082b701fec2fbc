import { afterAll, beforeAll, expect, test } from 'vitest'
import { API_KEY, SUBSCRIPTION_KEY } from '../../../../../src/sandbox/features/supplier/first-party/api.ts'
import { type RunningSandbox, startSandbox } from '../../../../support/sandbox.ts'

let sandbox: RunningSandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.close())

const KEYS = { 'content-type': 'application/json', 'ocp-apim-subscription-key': SUBSCRIPTION_KEY }

async function auth(path: 'login' | 'refresh-token', body: object = {}) {
  const answer = await fetch(`${sandbox.url}/api/accounts/auth/${path}`, {
    method: 'POST',
    headers: KEYS,
    body: JSON.stringify({ email: 'priya@summit.example', apiKey: API_KEY, ...body }),
  })
  return {
    status: answer.status,
    body: (await answer.json()) as { accessToken: string; refreshToken: string },
  }
}

test('the API rejects a first-party token without the subscription key', async () => {
  const { accessToken } = (await auth('login')).body
  const status = async (headers: Record<string, string>) =>
    (
      await fetch(`${sandbox.url}/api/probe`, {
        headers: { authorization: `Bearer ${accessToken}`, ...headers },
      })
    ).status
  expect(await status(KEYS)).toBe(200)
  expect(await status({})).toBe(401)
})

test('of 201 refresh tokens the oldest is deactivated', async () => {
  const first = (await auth('login')).body.refreshToken
  const second = (await auth('login')).body.refreshToken
  for (let count = 0; count < 199; count++) await auth('login')
  expect((await auth('refresh-token', { refreshToken: first })).status).toBe(401)
  expect((await auth('refresh-token', { refreshToken: second })).status).toBe(200)
  expect((await auth('refresh-token', { refreshToken: second })).status).toBe(401)
})

test('the quick actions expire access tokens and refresh tokens', async () => {
  const post = async (path: string) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${sandbox.url}/sandbox/${path}`, { method: 'POST', headers, body: '{}' })
    return ((await answer.json()) as { expired: number }).expired
  }
  const { accessToken, refreshToken } = (await auth('login')).body
  const headers = { ...KEYS, authorization: `Bearer ${accessToken}` }
  const tenants = async () => (await fetch(`${sandbox.url}/api/accounts/tenants`, { headers })).status
  expect(await tenants()).toBe(200)
  expect(await post('expire')).toBeGreaterThanOrEqual(1)
  expect(await tenants()).toBe(401)
  expect(await post('expire-refresh-tokens')).toBeGreaterThanOrEqual(1)
  expect((await auth('refresh-token', { refreshToken })).status).toBe(401)
})
