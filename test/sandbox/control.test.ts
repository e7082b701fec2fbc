import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type RunningSandbox, startSandbox } from '../support/sandbox.ts'
import { probe } from '../support/sandbox-probe.ts'
import { createVisitor } from '../support/visitor.ts'
import { ZODS_WORDS } from '../support/words.ts'

let sandbox: RunningSandbox
beforeAll(async () => {
  sandbox = await startSandbox({ simulated: [probe] })
})
afterAll(() => sandbox.close())
beforeEach(() => clear())

const clear = () => fetch(`${sandbox.url}/sandbox/faults`, { method: 'DELETE' })
const call = () => sandbox.call('harbour-homes', '/probe')
const setFault = (body: unknown) => {
  const headers = { 'content-type': 'application/json' }
  return fetch(`${sandbox.url}/sandbox/faults`, { method: 'POST', headers, body: JSON.stringify(body) })
}
const fault = (name: string, times?: number, retryAfter?: number) =>
  setFault({ endpoint: 'probe', fault: name, times, retryAfter })

describe('faults', () => {
  test('apply to the given number of calls, or until they are cleared', async () => {
    const status = async () => (await call()).status
    await fault('500', 2)
    expect([await status(), await status(), await status()]).toEqual([500, 500, 200])
    await fault('500')
    for (let time = 0; time < 5; time++) expect(await status()).toBe(500)
    await fault('none')
    expect(await status()).toBe(200)
    await fault('forbidden')
    await clear()
    expect(await status()).toBe(200)
  })

  test('429 says when to retry; garbage is not JSON; drop and stall give no response; expired is a 401', async () => {
    await fault('429', 1, 7)
    expect((await call()).headers.get('retry-after')).toBe('7')
    await fault('garbage', 1)
    await expect((await call()).json()).rejects.toThrow()
    await fault('drop', 1)
    await expect(call()).rejects.toThrow()
    await fault('stall', 1)
    const headers = { authorization: 'Bearer probe-harbour-homes' }
    const signal = AbortSignal.timeout(300)
    await expect(fetch(`${sandbox.url}/api/probe`, { headers, signal })).rejects.toThrow(/timeout/)
    await fault('expired', 1)
    expect((await call()).headers.get('www-authenticate')).toContain('invalid_token')
  })

  test.each<[unknown, string]>([
    [{ endpoint: 'nowhere', fault: '500' }, 'endpoint must be one of consent, exchange, refresh, probe'],
    [{ endpoint: 'probe', fault: 'deny' }, 'fault must be none or one of 500'],
    [{ endpoint: 'probe' }, 'fault must be none or a fault of the endpoint'],
    [{ endpoint: 'probe', fault: '500', times: 0 }, 'times must be a whole number from 1 to 1000'],
    [{ endpoint: 'probe', fault: '500', times: 'x' }, 'times must be a whole number from 1 to 1000'],
    [{ endpoint: 'probe', fault: '429', retryAfter: 9999 }, 'retryAfter must be a whole number from 0 to'],
    [{}, 'endpoint must be one of'],
    [[], 'the body must be a JSON object'],
  ])('that do not exist (%j) are rejected by name', async (body, says) => {
    const answer = await setFault(body)
    expect(answer.status).toBe(400)
    const { message } = (await answer.json()) as { message: string }
    expect(message).toContain(says)
    expect(message).not.toMatch(ZODS_WORDS)
  })

  test('that do not exist are rejected on a page that names the rule', async () => {
    const form = { endpoint: 'probe', fault: '500', times: '0' }
    const { status, text } = await createVisitor().post(`${sandbox.url}/sandbox/faults`, { form })
    expect([status, text]).toEqual([400, expect.stringContaining('times must be a whole number from 1')])
    expect(text).not.toMatch(ZODS_WORDS)
  })

  test('can be set on the page, whose list of calls contains no token', async () => {
    await call()
    const visitor = createVisitor()
    const form = { endpoint: 'probe', fault: '500', times: '', retryAfter: '' }
    await visitor.post(`${sandbox.url}/sandbox/faults`, { form })
    const { text } = await visitor.get(`${sandbox.url}/sandbox/faults`)
    expect(text).toContain('500, until cleared')
    expect(text).toContain('The platform fails at calls of “probe”.')
    expect(text).toContain('<td data-label="Endpoint">probe</td>')
    expect(text).not.toContain('probe-harbour-homes')
  })

  test('are named by what a person sees, with the technical words beside it', async () => {
    const { text } = await createVisitor().get(`${sandbox.url}/sandbox/faults`)
    expect(text).toContain('The platform refuses the sign-in (invalid_grant)')
    expect(text).toContain('Take all access back</button> <span class="hint">revoke all consents</span>')
    // Each fault of each endpoint has its own text.
    expect(text).not.toContain('has the fault')
    const visitor = createVisitor()
    const form = { endpoint: 'exchange', fault: 'invalid_grant', times: '1' }
    const page = await visitor.follow(await visitor.post(`${sandbox.url}/sandbox/faults`, { form }))
    expect(page.text).toContain('The platform refuses the sign-in (exchange: invalid_grant), for one call.')
  })

  test.each([
    { 'sec-fetch-site': 'cross-site' },
    // Without Sec-Fetch-Site, as old browsers send it.
    { origin: 'https://other.example' },
    { origin: 'null' },
    // Firefox, after a redirect that hides where it comes from.
    { 'sec-fetch-site': 'none', origin: 'null' },
  ])('cannot be set by another site: %o', async (headers) => {
    const form = { endpoint: 'probe', fault: 'none' }
    const post = (sent: Record<string, string>) =>
      createVisitor().post(`${sandbox.url}/sandbox/faults`, { form, headers: sent })
    expect((await post(headers)).status).toBe(403)
    expect((await post({ origin: sandbox.url })).status).toBe(303)
  })
})

test('the rate limit accepts its number of calls in a window, and says when to retry', async () => {
  const { call, close } = await startSandbox({
    rateLimit: { limit: 5, windowMs: 1_000 },
    simulated: [probe],
  })
  const status = async () => (await call('harbour-homes', '/probe')).status
  for (let time = 0; time < 5; time++) expect(await status()).toBe(200)
  const rejected = await call('harbour-homes', '/probe')
  expect(rejected.status).toBe(429)
  expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  await vi.waitFor(async () => expect(await status()).toBe(200), { timeout: 5_000 })
  await close()
})

test('without features it still has its home page, and the menu shows only pages of the core', async () => {
  const { url, logIn, close } = await startSandbox({ simulated: [] })
  const visitor = await logIn('olivia@harbour.example')
  const { status, text } = await visitor.get(`${url}/`)
  expect(status).toBe(200)
  expect([...text.matchAll(/<a href="(\/[^"]+)"/g)].map(([, path]) => path)).toEqual([
    '/connected-apps',
    '/sandbox/faults',
  ])
  await close()
})
