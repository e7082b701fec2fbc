import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { loadContracts } from '../../../src/features/contracts.ts'
import { createVisitor } from '../../support/visitor.ts'
import { type Answered, type Script, startConsentingOn } from './consenting.ts'

/** A value that nobody may see. */
const MARK = 'Zq7xMARKvalue0412'

/** A platform that has its marks wherever an answer can have a text; the API answers this, whatever is asked. */
const hostile = (answered: Answered): Script => ({
  bxcontext: `${MARK}-context`,
  code: `${MARK}-code`,
  token: () => [
    200,
    {
      access_token: `${MARK}-access`,
      refresh_token: `${MARK}-refresh`,
      expires_in: 61412345678,
      [`${MARK}-access`]: 1,
      [MARK]: 'x',
      scope: MARK,
      token_type: MARK,
      business_name: MARK,
    },
  ],
  api: () => answered,
})

const startHostile = async (...answered: Answered) =>
  startConsentingOn(hostile(answered), await loadContracts())

test.each<[string, Answered]>([
  [
    'in names of fields',
    [
      200,
      [
        { id: MARK, [MARK]: 1, [`${MARK}@x.example`]: 1 },
        { id: 2, [MARK]: 2 },
      ],
    ],
  ],
  ['as the wrapper of a list', [200, { [MARK]: [{ id: 1, [`${MARK}-code`]: 1 }] }]],
  [
    'in error codes and challenges',
    [
      403,
      { error: MARK, message: MARK },
      { 'www-authenticate': `${MARK} realm="${MARK}", ${MARK}="x", error="${MARK} user=${MARK}"` },
    ],
  ],
  ['in names of headers', [200, [], { 'x-ratelimit-zq7xmarkvalue0412': MARK }]],
  ['among records that are null', [200, [null, null]]],
  ['in a text', [200, MARK]],
])('the value of a platform stands in no report: %s', async (_place, answered) => {
  const { url, consents, visitor, consent, check } = await startHostile(...answered)
  await consent()
  expect(consents.count).toBe(1)
  const report = JSON.stringify(await check())
  const { status, text } = await visitor.get(`${url}/`)
  expect(status).toBe(200)
  // Not `toContain`, which would print the whole text.
  expect((report + text).toLowerCase().includes('zq7xmark')).toBe(false)
  expect((report + text).includes('61412345678')).toBe(false)
})

test('an outage of the API says nothing about the assumptions', async () => {
  const { consent, check } = await startHostile(503, {})
  await consent()
  const core = (await loadContracts()).find(({ name }) => name === 'core')?.assumptions ?? []
  const broken = (await check()).filter(({ status }) => status === 'failure')
  const ofApi = broken.filter(({ id }) => id === 'api-address' || !core.some((one) => one.id === id))
  expect(ofApi).toEqual([])
})

test('a sender that gives up does not end the probe', async () => {
  const { url, port, visitor } = await startHostile(200, [])
  const socket = connect(port, '127.0.0.1')
  socket.write('POST /webhooks HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\nabc')
  await pause(100)
  socket.destroy()
  await pause(100)
  expect((await visitor.get(`${url}/`)).status).toBe(200)
})

test('other browsers and other sites cannot start, return to, or feed a probe', async () => {
  const { url, consents, visitor } = await startHostile(200, [])
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
  const { url, consents, visitor } = await startHostile(200, [])
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
