import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHttp } from '../../../src/connect/index.ts'
import checkFirstParty from '../../../src/features/first-party/check.ts'
import { serve } from '../../support/ports.ts'
import { CREDENTIALS, type Platform, startPlatform } from './support.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

const http = createHttp()
afterAll(() => http.close())
const check = (changes: object, apiUrl = platform.apiUrl) =>
  checkFirstParty({ http, apiUrl, isSandbox: true }, { ...CREDENTIALS, ...changes })

describe('the doctor logs in anew', () => {
  test('each time, and not with a stored token', async () => {
    const before = (await platform.statusesOf('login')).length
    expect(await check({})).toMatchObject([{ id: 'first-party', status: 'ok' }])
    await check({})
    expect((await platform.statusesOf('login')).length).toBe(before + 2)
  })

  test.each([
    [{ subscriptionKey: 'wrong-one' }, 'first-party.subscription-key', 'PLATFORM_SUBSCRIPTION_KEY'],
    [{ tenantId: 'nobody' }, 'first-party.tenant', 'PLATFORM_TENANT_ID'],
    // The sandbox answers both alike.
    [{ apiKey: 'wrong-one' }, 'first-party.login', 'PLATFORM_API_KEY'],
    [{ email: 'nobody@example.com' }, 'first-party.login', 'PLATFORM_API_EMAIL'],
  ])('and names what is wrong: %o', async (changes, id, setting) => {
    const found = await check(changes)
    expect(found).toMatchObject([{ id, status: 'failure' }])
    expect(found[0]?.text).toContain(setting)
    expect(found[0]?.text).not.toContain('wrong-one')
  })

  test('and says so if the API is at another address, or answers with an error', async () => {
    expect(await check({}, platform.url)).toMatchObject([{ id: 'first-party.not-found' }])
    await platform.fault('login', '500')
    expect(await check({})).toMatchObject([{ id: 'first-party.unavailable' }])
    await platform.fault('login', 'none')
  })
})

describe('a platform that tells more, or less:', () => {
  /** Its answers: one for each value that is wrong, in the order in which it looks at them. */
  async function answering(messages: Record<string, string>) {
    const server = await serve(async (req, res) => {
      const body = JSON.parse((await Array.fromAsync(req)).join(''))
      const given = { ...body, subscriptionKey: req.headers['ocp-apim-subscription-key'] }
      const wrong = Object.keys(messages).find(
        (name) => given[name] !== CREDENTIALS[name as keyof typeof CREDENTIALS],
      )
      const answer = wrong ? { message: messages[wrong] } : { accessToken: 'a', expiresIn: 60 }
      res.writeHead(wrong ? 403 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
    return { ...server, apiUrl: `http://127.0.0.1:${server.port}` }
  }

  const EMAIL_FIRST = { subscriptionKey: 'no plan', email: 'no', apiKey: 'sorry' }
  const KEY_FIRST = { subscriptionKey: 'no plan', apiKey: 'no', email: 'sorry' }
  const WORDS = { subscriptionKey: 'no plan', email: 'unknown e-mail', apiKey: 'bad API key' }
  test.each([
    [{ apiKey: 'x' }, 'first-party.api-key', 'PLATFORM_API_KEY', EMAIL_FIRST],
    [{ email: 'x@example.com' }, 'first-party.email', 'PLATFORM_API_EMAIL', KEY_FIRST],
    [{ apiKey: 'x' }, 'first-party.api-key', 'PLATFORM_API_KEY', WORDS],
    [{ email: 'x@example.com' }, 'first-party.email', 'PLATFORM_API_EMAIL', WORDS],
  ])('an answer for each value tells which is wrong: %o', async (changes, id, setting, messages) => {
    const server = await answering(messages)
    expect(await check(changes, server.apiUrl)).toMatchObject([{ id, setting }])
    await server.close()
  })

  test.each([{ apiKey: 'x' }, { subscriptionKey: 'x' }])(
    'one answer for everything names all three settings: %o',
    async (changes) => {
      const server = await answering({ subscriptionKey: 'no', email: 'no', apiKey: 'no' })
      const [found] = await check(changes, server.apiUrl)
      expect(found?.id).toBe('first-party.credentials')
      for (const name of ['PLATFORM_SUBSCRIPTION_KEY', 'PLATFORM_API_EMAIL', 'PLATFORM_API_KEY'])
        expect(found?.text).toContain(name)
      await server.close()
    },
  )
})
