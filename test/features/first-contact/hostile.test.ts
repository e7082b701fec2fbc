import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { loadContracts } from '../../../src/features/contracts.ts'
import type { Consents } from '../../../src/features/first-contact/consent/consents.ts'
import { serve } from '../../support/ports.ts'
import { createVisitor, type Visitor } from '../../support/visitor.ts'
import { startConsentingOn } from './consenting.ts'

/** A value that nobody may see. */
const MARK = 'Zq7xMARKvalue0412'

/** What a platform without manners answers from the API, whatever is asked. */
type ApiAnswer = { status?: number; headers?: Record<string, string>; body: unknown }

/** A platform that consents at once and has its marks wherever an answer can have a text. */
async function startPlatform(api: ApiAnswer) {
  const { server, port, close } = await serve()
  onTestFinished(close)
  const url = `http://127.0.0.1:${port}`
  server.on('request', (req, res): unknown => {
    const address = new URL(req.url ?? '/', url)
    const send = (status: number, body: unknown, headers: Record<string, string> = {}) =>
      res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    if (address.pathname === '/oauth2.html')
      return res
        .writeHead(302, { location: `${address.searchParams.get('redirectUrl')}?bxcontext=${MARK}-context` })
        .end()
    if (address.pathname === '/authorize') {
      const query = new URLSearchParams({
        code: `${MARK}-code`,
        state: address.searchParams.get('state') ?? '',
      })
      return res.writeHead(302, { location: `${address.searchParams.get('redirect_uri')}?${query}` }).end()
    }
    if (address.pathname === '/oauth/token') {
      const tokens = {
        access_token: `${MARK}-access`,
        refresh_token: `${MARK}-refresh`,
        expires_in: 61412345678,
      }
      return send(200, {
        ...tokens,
        [`${MARK}-access`]: 1,
        [MARK]: 'x',
        scope: MARK,
        token_type: MARK,
        business_name: MARK,
      })
    }
    return send(api.status ?? 200, api.body, api.headers)
  })
  return url
}

async function startHostile(api: ApiAnswer) {
  const consenting = await startConsentingOn(await startPlatform(api), await loadContracts())
  onTestFinished(consenting.close)
  return consenting
}

/** Everything that somebody may see of a probe. */
async function shown(url: string, consents: Consents, visitor: Visitor): Promise<string> {
  const report = {
    checkedAt: '',
    platform: { appUrl: '', authUrl: '', apiUrl: '' },
    write: true,
    findings: consents.round.comparisons.findings(),
  }
  const page = await visitor.get(`${url}/`)
  expect(page.status).toBe(200)
  return JSON.stringify(report) + page.text
}

test.each<[string, ApiAnswer]>([
  [
    'in names of fields',
    {
      body: [
        { id: MARK, [MARK]: 1, [`${MARK}@x.example`]: 1 },
        { id: 2, [MARK]: 2 },
      ],
    },
  ],
  ['as the wrapper of a list', { body: { [MARK]: [{ id: 1, [`${MARK}-code`]: 1 }] } }],
  [
    'in error codes and challenges',
    {
      status: 403,
      headers: { 'www-authenticate': `${MARK} realm="${MARK}", ${MARK}="x", error="${MARK} user=${MARK}"` },
      body: { error: MARK, message: MARK },
    },
  ],
  ['in names of headers', { headers: { 'x-ratelimit-zq7xmarkvalue0412': MARK }, body: [] }],
  ['among records that are null', { body: [null, null] }],
  ['in a text', { body: MARK }],
])(
  'the value of a platform stands in no report: %s',
  async (_place, api) => {
    const { url, consents, visitor } = await startHostile(api)
    await visitor.follow(await visitor.post(`${url}/start`))
    expect(consents.count).toBe(1)
    expect((await visitor.post(`${url}/check`)).status).toBe(303)
    const text = await shown(url, consents, visitor)
    // Not `toContain`, which would print the whole text.
    expect(text.toLowerCase().includes('zq7xmark')).toBe(false)
    expect(text.includes('61412345678')).toBe(false)
  },
  20_000,
)

test('an outage of the API says nothing about the assumptions', async () => {
  const { url, consents, visitor } = await startHostile({ status: 503, body: {} })
  await visitor.follow(await visitor.post(`${url}/start`))
  await visitor.post(`${url}/check`)
  const ids = (await loadContracts())
    .filter(({ name }) => name !== 'core')
    .flatMap(({ assumptions }) => assumptions)
  const broken = consents.round.comparisons
    .findings()
    .filter(({ status }) => status === 'failure')
    .map(({ id }) => id)
  expect(
    broken.filter((id) => ids.some((assumption) => assumption.id === id) || id === 'api-address'),
  ).toEqual([])
})

test('a sender that gives up does not end the probe', async () => {
  const { url, port, visitor } = await startHostile({ body: [] })
  const socket = connect(port, '127.0.0.1')
  socket.write('POST /webhooks HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\nabc')
  await pause(100)
  socket.destroy()
  await pause(100)
  expect((await visitor.get(`${url}/`)).status).toBe(200)
})

test('other browsers and other sites cannot start, return to, or feed a probe', async () => {
  const { url, consents, visitor } = await startHostile({ body: [] })
  await visitor.post(`${url}/start`)
  const stranger = createVisitor()
  for (const path of ['/connect/context?bxcontext=theirs', '/connect/callback?error=access_denied'])
    expect((await stranger.get(url + path)).status).toBe(400)
  const image = { headers: { 'sec-fetch-dest': 'image' } }
  expect((await visitor.get(`${url}/connect/callback?error=server_error`, image)).status).toBe(400)
  const crossSite = { text: '{}', headers: { 'sec-fetch-site': 'cross-site' } }
  for (const path of ['/start', '/check', '/webhooks'])
    expect((await visitor.post(url + path, crossSite)).status).toBe(403)
  expect(consents.received).toEqual([])
  // A callback with a foreign state changes nothing: the real one still succeeds.
  const consent = await visitor.follow(await visitor.post(`${url}/start`), `${url}/connect/callback`)
  await visitor.get(`${url}/connect/callback?code=theirs&state=foreign`)
  await visitor.get(consent.url)
  expect(consents.count).toBe(1)
  expect(
    consents.round.comparisons
      .findings()
      .filter(({ id, status }) => id === 'consent-url' && status === 'failure'),
  ).toEqual([])
})

test('a second press of the button checks nothing again, and a new consent begins a new report', async () => {
  const { url, consents, visitor } = await startHostile({ body: [] })
  await visitor.follow(await visitor.post(`${url}/start`))
  await Promise.all([visitor.post(`${url}/check`), visitor.post(`${url}/check`)])
  const first = consents.round.comparisons.findings()
  await visitor.post(`${url}/check`)
  expect(consents.round.comparisons.findings()).toEqual(first)
  await visitor.follow(await visitor.post(`${url}/start`))
  expect(consents.count).toBe(1)
  expect(consents.round.comparisons.findings().find(({ id }) => id === 'api-address')?.status).toBe(
    'not seen',
  )
})
