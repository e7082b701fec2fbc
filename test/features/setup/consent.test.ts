import { expect, onTestFinished, test } from 'vitest'
import { platform } from '../../../src/connect/index.ts'
import { createClient } from '../../../src/features/setup/client.ts'
import { createConsentServer } from '../../../src/features/setup/consent.ts'
import { loadSandboxFeatures } from '../../../src/sandbox/load.ts'
import type { Finding } from '../../../src/web/feature-api.ts'
import { CLIENT } from '../../support/env.ts'
import { SCOPES } from '../../support/flow.ts'
import { serve } from '../../support/ports.ts'
import { probe, sandboxProbe } from '../../support/probe.ts'
import { startSandbox } from '../../support/sandbox.ts'
import { createVisitor } from '../../support/visitor.ts'
import { configOf, type Env } from './support.ts'

const { catalogues } = platform.scopes

const sandboxFeatures = await loadSandboxFeatures()

/** The doctor's address; the test closes it. */
async function startAddress() {
  const { server, port, close } = await serve()
  onTestFinished(close)
  return { server, url: `http://localhost:${port}` }
}

/** Serves the doctor's pages for these settings. Resolves to a browser, and to what the consent shows. */
async function startDoctor({ server, url }: Awaited<ReturnType<typeof startAddress>>, env: Env) {
  const { platform: settings } = configOf({ BASE_URL: url, ...env })
  const client = createClient(settings)
  onTestFinished(client.close)
  const target = { platform, ...settings, baseUrl: url, client }
  const { promise: findings, resolve } = Promise.withResolvers<Finding[]>()
  server.on('request', createConsentServer(target, [probe], resolve))
  return { visitor: createVisitor(), findings }
}

/** The doctor asks for a consent of the real sandbox. `answer`: the form of the consent page. */
async function consentOf(answer: Record<string, string | string[]>) {
  const address = await startAddress()
  const { url } = address
  const redirectUrls = [`${url}/connect/context`, `${url}/connect/callback`]
  const apps = [{ name: 'Probe', ...CLIENT, redirectUrls }]
  const sandbox = await startSandbox({ apps, simulated: [...sandboxFeatures, sandboxProbe] })
  onTestFinished(sandbox.close)
  const { visitor, findings } = await startDoctor(address, {
    PLATFORM_APP_URL: sandbox.url,
    PLATFORM_AUTH_URL: `${sandbox.url}/auth`,
    PLATFORM_API_URL: `${sandbox.url}/api`,
    PLATFORM_CLIENT_ID: CLIENT.clientId,
    PLATFORM_CLIENT_SECRET: CLIENT.clientSecret,
  })
  await visitor.post(`${sandbox.url}/login`, { form: { email: 'priya@summit.example', password: 'sandbox' } })
  const page = await visitor.follow(await visitor.get(`${url}/`))
  const { text } = await visitor.follow(await visitor.post(page.url, { form: answer }))
  return { text, findings: await findings }
}

const idsOf = (findings: Finding[]) => findings.map(({ id }) => id)

test('one consent is exchanged and refreshed, and the calls of the features are made with it', async () => {
  const { text, findings } = await consentOf({ answer: 'accept', scope: SCOPES })
  expect(findings.map(({ id, status }) => [id, status])).toEqual([
    ['exchange', 'ok'],
    ['refresh', 'ok'],
    ['call', 'ok'],
  ])
  for (const finding of findings) expect(text).toContain(finding.text)
  expect(text).not.toContain(CLIENT.clientSecret)
})

test('a call whose scope was not granted is not made', async () => {
  const { findings } = await consentOf({ answer: 'accept', scope: [catalogues] })
  expect(idsOf(findings)).toEqual(['exchange', 'refresh'])
})

test('a consent that was denied is told with the error of the platform', async () => {
  const { findings } = await consentOf({ answer: 'deny' })
  expect(findings).toMatchObject([
    { id: 'consent.denied', status: 'failure', text: expect.stringContaining('access_denied') },
  ])
})

/** A value of the platform that must not be shown. */
const MARK = 'Zq7xMARKvalue0412'
const tokens = (more: object = {}) => ({ access_token: `${MARK}-access`, expires_in: 60, ...more })

/** The doctor asks for a consent of a platform that consents at once, and answers this to a code, a refresh and a call. */
async function scripted(code: object, refresh: object, call: [status: number, body: unknown] = [200, []]) {
  const { server, port, close } = await serve()
  onTestFinished(close)
  const url = `http://127.0.0.1:${port}`
  server.on('request', async (req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '/', url)
    const body = Buffer.concat(await req.toArray()).toString()
    const send = (status: number, json: unknown) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
    const goTo = (place: string | null, query: Record<string, string>) =>
      res.writeHead(302, { location: `${place}?${new URLSearchParams(query)}` }).end()
    const state = searchParams.get('state') ?? ''
    if (pathname === '/oauth2.html') return goTo(searchParams.get('redirectUrl'), { bxcontext: 'b' })
    if (pathname === '/authorize') return goTo(searchParams.get('redirect_uri'), { code: MARK, state })
    if (pathname === '/oauth/token') return send(200, body.includes('refresh_token') ? refresh : code)
    return send(...call)
  })
  const address = await startAddress()
  const doctor = await startDoctor(address, {
    PLATFORM_APP_URL: url,
    PLATFORM_AUTH_URL: url,
    PLATFORM_API_URL: `${url}/api`,
  })
  return { ...doctor, url: address.url }
}

const WITH_REFRESH = tokens({ refresh_token: `${MARK}-1` })

test.each<[string, Parameters<typeof scripted>, ids: string[]]>([
  [
    'brings a new refresh token with each refresh',
    [WITH_REFRESH, tokens({ refresh_token: `${MARK}-2` })],
    ['exchange', 'refresh.rotated', 'call'],
  ],
  ['issues no refresh token', [tokens(), {}], ['exchange', 'refresh.none', 'call']],
  ['answers a code with no token', [{ error: MARK }, {}], ['consent.failed']],
  ['answers a refresh with no token', [WITH_REFRESH, { text: MARK }], ['exchange', 'consent.failed']],
  [
    'refuses a call with a fresh token',
    [WITH_REFRESH, WITH_REFRESH, [401, { error: MARK }]],
    ['exchange', 'refresh', 'consent.failed'],
  ],
])('a platform that %s is told so, and none of its values is shown', async (_what, answers, ids) => {
  const { visitor, url, findings } = await scripted(...answers)
  const { text } = await visitor.follow(await visitor.get(`${url}/`))
  expect(idsOf(await findings)).toEqual(ids)
  expect(text + JSON.stringify(await findings)).not.toContain(MARK)
})

test('another browser cannot end a consent, nor can a callback with another state', async () => {
  const { visitor, url, findings } = await scripted(WITH_REFRESH, WITH_REFRESH)
  const callback = await visitor.follow(await visitor.get(`${url}/`), `${url}/connect/callback`)
  expect((await createVisitor().get(callback.url)).status).toBe(400)
  expect((await visitor.get(`${url}/connect/callback?code=theirs&state=another`)).status).toBe(400)
  expect((await visitor.get(callback.url)).status).toBe(200)
  expect((await visitor.get(callback.url)).status).toBe(400)
  expect(idsOf(await findings)).toContain('refresh')
})
