import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHttp } from '../../../../src/connect/index.ts'
import checkFirstParty from '../../../../src/features/supplier/first-party/check.ts'
import { serve } from '../../../support/ports.ts'
import { CREDENTIALS, type Platform, startPlatform } from './support.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

const http = createHttp()
afterAll(() => http.close())
const noAnswer = () => expect.unreachable()
const check = (changes: object, apiUrl = platform.apiUrl) =>
  checkFirstParty({ http, apiUrl, isSandbox: true, noAnswer }, { ...CREDENTIALS, ...changes })

describe('the doctor logs in anew', () => {
  test('each time, and not with a stored token', async () => {
    const before = (await platform.statusesOf('login')).length
    expect(await check({})).toMatchObject([{ id: 'first-party', status: 'ok' }])
    await check({})
    expect((await platform.statusesOf('login')).length).toBe(before + 2)
  })

  test.each([{ subscriptionKey: 'wrong-one' }, { apiKey: 'wrong-one' }, { email: 'nobody@example.com' }])(
    'and names the settings that may be wrong, with what the platform says: %o',
    async (changes) => {
      const found = await check(changes)
      expect(found).toMatchObject([{ id: 'first-party.login', status: 'failure' }])
      for (const name of ['PLATFORM_SUBSCRIPTION_KEY', 'PLATFORM_API_EMAIL', 'PLATFORM_API_KEY'])
        expect(found[0]?.text).toContain(name)
      expect(found[0]?.text).toMatch(/refuses the login \(401: .+\)/)
      expect(found[0]?.text).not.toContain('wrong-one')
    },
  )

  test('and names a tenant that is wrong', async () => {
    const found = await check({ tenantId: 'nobody' })
    expect(found).toMatchObject([{ id: 'first-party.tenant', setting: 'PLATFORM_TENANT_ID' }])
    expect(found[0]?.text).toContain('the tenant nobody')
  })

  test('and says so if the API is at another address, or answers with an error', async () => {
    expect(await check({}, platform.url)).toMatchObject([{ id: 'first-party.not-found' }])
    await platform.fault('login', '500')
    expect(await check({})).toMatchObject([{ id: 'first-party.unavailable' }])
    await platform.fault('login', 'none')
  })
})

test('a secret that the platform repeats is not shown', async () => {
  const server = await serve(async (req, res) => {
    const { apiKey } = JSON.parse((await Array.fromAsync(req)).join(''))
    const key = req.headers['ocp-apim-subscription-key']
    const message = `no ${apiKey} ${encodeURIComponent(apiKey)} ${btoa(String(key))}`
    res.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify({ message }))
  })
  const secrets = { apiKey: 'a/secret key', subscriptionKey: 'another-secret' }
  const [found] = await check(secrets, `http://127.0.0.1:${server.port}`)
  await server.close()
  expect(found?.text).toContain('(403: message: no … … …')
})
