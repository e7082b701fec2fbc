import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { platform } from '../../../src/connect/index.ts'
import { platformParameters } from '../../../src/features/flow-inspector/masking.ts'
import { explain } from '../../../src/features/flow-inspector/parameter-texts.ts'
import { flowInspectorSettings } from '../../../src/features/flow-inspector/settings.ts'
import { readSettings } from '../../../src/settings/read.ts'
import { sharedApp, startAll } from '../../support/app.ts'
import { connected, newUser, signedIn, toCallback } from '../../support/flow.ts'
import { expectBothFormats } from '../../support/pages.ts'
import { startTokenEndpoint, tokens } from '../../support/token-endpoint.ts'
import { consent } from '../../support/vault.ts'
import type { Visitor } from '../../support/visitor.ts'
import { fingerprintIn, flowsOf, latestFlow, latestRefresh, type ShownFlow, stepsOf } from './support.ts'

const JSON_ONLY = { accept: 'application/json' }

const app = await sharedApp()

describe('a connect flow', () => {
  let ann: Visitor
  let connect: ShownFlow
  beforeAll(async () => {
    ann = await connected(app, { name: newUser() })
    connect = await latestFlow(app, ann, 'connect')
  })

  test('a connect flow has every hop in its order, and the times on pages of the platform', () => {
    expect(connect).toMatchObject({ outcome: 'connected', bxcontext: 'harbour-homes', requests: 1 })
    expect(connect.steps.map(({ topic }) => topic)).toEqual([
      'connect_started',
      'to_start_page',
      'platform_start',
      'bxcontext_received',
      'to_consent_page',
      'platform_consent',
      'callback_received',
      'code_exchange',
      'record_written',
      'connection_event',
      'to_connections',
    ])
    expect(connect.steps.map(({ number }) => number)).toEqual(connect.steps.map((_, index) => index + 1))
  })

  test.each([
    ['the step of the app', 'to_start_page', 'response'],
    ['the step on the platform', 'platform_start', 'request'],
  ] as const)(
    '%s shows where the browser was sent, with its parameter explained',
    async (_what, topic, part) => {
      const address = `${app.platform}/oauth2.html`
      const [step] = stepsOf(connect, topic)
      const { parameters = [] } = step?.[part] ?? {}
      expect(JSON.stringify(step?.[part])).toContain(`"${address}"`)
      expect(parameters).toEqual([{ name: 'redirectUrl', value: `${app.url}/connect/context` }])
      const page = await ann.get(`${app.url}/flows/${connect.id}/steps/${step?.number}`)
      const exported = await ann.get(`${app.url}/flows/${connect.id}/export`)
      for (const { text } of [page, exported])
        for (const shown of [address, `${app.url}/connect/context`, explain('redirectUrl').what])
          expect(text).toContain(shown)
    },
  )

  test('the state that returns has the fingerprint of the one that was sent; the code is exchanged once', () => {
    const [sent, returned] = [
      stepsOf(connect, 'to_consent_page')[0],
      stepsOf(connect, 'callback_received')[0],
    ]
    const state = fingerprintIn(sent?.response?.parameters, 'state')
    expect(state).toMatch(/^state:43:[\da-f]{6}$/)
    expect(fingerprintIn(returned?.request?.parameters, 'state')).toBe(state)

    const exchanges = stepsOf(connect, 'code_exchange')
    expect(exchanges).toHaveLength(1)
    expect(fingerprintIn(exchanges[0]?.request?.parameters, 'code')).toBe(
      fingerprintIn(returned?.request?.parameters, 'code'),
    )
  })

  test('pages of the platform are drawn as not visible, between the times that the app saw', () => {
    const pages = connect.steps.filter(({ topic }) => topic.startsWith('platform_'))
    expect(pages.map(({ to }) => to)).toEqual(['web_application', 'identity_provider'])
    for (const { number, at, ms, title } of pages) {
      expect(title).toContain('not visible to this app')
      const [left, back] = [connect.steps[number - 2], connect.steps[number]]
      expect(Date.parse(at)).toBe(Date.parse(left?.at ?? ''))
      expect(Date.parse(at) + ms).toBe(Date.parse(back?.at ?? ''))
    }
  })

  test('every parameter is explained, and none is unknown', () => {
    const all = connect.steps.flatMap(({ request, response }) => [
      ...(request?.parameters ?? []),
      ...(response?.parameters ?? []),
    ])
    expect(all.length).toBeGreaterThan(20)
    for (const { name } of all) expect(explain(name).what, name).not.toContain('does not know')
  })

  test('an exported flow needs nothing else: no script, no link, no address', async () => {
    const { text, headers } = await ann.get(`${app.url}/flows/${connect.id}/export`)
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename=flow-[\da-f]{8}\.html$/)
    expect(text).toContain('<style>')
    expect(text).toContain('Exchange the code for tokens: 200')
    expect(text).toContain('Without this check, an attacker could')
    expect(text).not.toMatch(/<script|<link|<img|src=|href=|url\((?!#head)/)
  })

  test('a flow is visible to its own user only', async () => {
    const eve = await signedIn(app, newUser())
    expect(await flowsOf(app, eve)).toEqual([])
    for (const path of ['', '/steps/1', '/present/1', '/export'])
      expect((await eve.get(`${app.url}/flows/${connect.id}${path}`, JSON_ONLY)).status, path).toBe(404)
  })

  test('the list, a flow and a step are pages, and JSON at the same address', async () => {
    await expectBothFormats(ann, `${app.url}/flows`, 'Flows')
    await expectBothFormats(ann, `${app.url}/flows/${connect.id}`, 'Connect a business: Harbour Homes')
    const title = '1. The user presses “Connect a business”'
    await expectBothFormats(ann, `${app.url}/flows/${connect.id}/steps/1`, title)
    expect((await ann.get(`${app.url}/flows/${connect.id}/steps/99`, JSON_ONLY)).status).toBe(404)
  })
})

describe('what happens to a connection', () => {
  let ann: Visitor
  let connect: ShownFlow
  beforeEach(async () => {
    ann = await connected(app, { name: newUser() })
    connect = await latestFlow(app, ann, 'connect')
  })

  const callApi = () => ann.get(`${app.url}/connections/harbour-homes/probe`, JSON_ONLY)

  test('a flow that failed is linked from its page, unless the page is for customers, and found by the id in each of its log lines', async () => {
    const failed = await ann.follow(await ann.get(await toCallback(app, ann, { form: { answer: 'deny' } })))
    const link = /href="(\/flows\/[^"]+)"[^>]*>See the flow/.exec(failed.text)?.[1] ?? ''
    const flow = await vi.waitFor(async () => {
      const shown = (await ann.get(app.url + link, JSON_ONLY)).json()
      expect(shown.outcome).toBe('consent_denied')
      return shown
    })
    const lines = app.logLines.map((line) => JSON.parse(line)).filter(({ flowId }) => flowId === flow.id)
    const routes = lines.filter(({ route }) => route && route !== '/connect/failed')
    expect(routes.map(({ route }) => route)).toEqual(['/connect', '/connect/context', '/connect/callback'])
    const page = await ann.follow(await ann.get(`${app.url}/flows?id=${flow.id}`))
    expect(page.text).toContain(`href="/flows/${flow.id}/export"`)
    await ann.post(`${app.url}/customer-view`, { form: { on: 'true' } })
    expect((await ann.get(failed.url)).text).not.toContain('See the flow')
  })

  test('a refresh sends the refresh token of the exchange and receives the same one, and another access token', async () => {
    await app.sandbox('expire')
    await callApi()
    const call = await vi.waitFor(async () => {
      const flow = await latestFlow(app, ann, 'api_call')
      expect(stepsOf(flow, 'api_call')).toHaveLength(2)
      return flow
    })
    expect(call.call).toMatch(/^GET \/api\/\w+$/)
    expect(connect.call).toBeNull()
    const exchange = stepsOf(connect, 'code_exchange')[0]?.response?.parameters
    const [refresh] = stepsOf(call, 'token_refresh')
    const refreshToken = fingerprintIn(exchange, 'refresh_token')
    expect(refreshToken).toBeDefined()
    expect(fingerprintIn(refresh?.request?.parameters, 'refresh_token')).toBe(refreshToken)
    expect(fingerprintIn(refresh?.response?.parameters, 'refresh_token')).toBe(refreshToken)

    const [rejected, accepted] = stepsOf(call, 'api_call')
    expect([rejected?.response?.status, accepted?.response?.status]).toEqual([401, 200])
    const bearer = (call: typeof rejected) => fingerprintIn(call?.request?.headers, 'authorization')
    expect(bearer(rejected)).toBe(fingerprintIn(exchange, 'access_token'))
    expect(bearer(accepted)).toBe(fingerprintIn(refresh?.response?.parameters, 'access_token'))
    expect(bearer(rejected)).not.toBe(bearer(accepted))
  })

  test('a revocation, a disconnect and a denied consent are flows with their outcomes', async () => {
    await app.sandbox('revoke')
    await callApi()
    expect((await latestFlow(app, ann, 'revocation')).outcome).toBe('revoked')

    await ann.get(await toCallback(app, ann, { form: { answer: 'deny' } }))
    const denied = await latestFlow(app, ann, 'connect', 'consent_denied')
    expect(stepsOf(denied, 'code_exchange')).toEqual([])

    await ann.post(`${app.url}/connections/harbour-homes/disconnect`)
    expect((await latestFlow(app, ann, 'disconnect')).outcome).toBe('disconnected')
  })
})

test('every parameter and header that is shown in clear has an explanation of its own', () => {
  const shown = ['state', 'code', 'scope', 'retry-after', 'www-authenticate', ...platformParameters(platform)]
  for (const name of shown) expect(explain(name).what, name).not.toContain('does not know')
})

test('a platform that rotates refresh tokens: the fingerprint differs', async () => {
  const endpoint = await startTokenEndpoint()
  const app = await startAll({ PLATFORM_AUTH_URL: endpoint.authUrl })
  const ann = await signedIn(app)
  const granted = { refreshToken: 'first-refresh-token' }
  await consent(app.services.connect.vault, granted, { userId: 'ann', bxcontext: 'b' })
  endpoint.answers(tokens({ refresh_token: 'second-refresh-token' }))
  await ann.post(`${app.url}/connections/b/refresh`)
  const flow = await latestRefresh(app, ann)
  const [refresh] = stepsOf(flow, 'token_refresh')
  const [sent, received] = [refresh?.request, refresh?.response].map((part) =>
    fingerprintIn(part?.parameters, 'refresh_token'),
  )
  expect(sent).toMatch(/^refresh_token:19:/)
  expect(received).toMatch(/^refresh_token:20:/)
  await app.close()
  await endpoint.close()
})

test('the inspector is on in development, and off in production unless FLOW_INSPECTOR is true', () => {
  const isEnabled = (env: Record<string, string>) => readSettings(env, flowInspectorSettings).isEnabled
  expect([{}, { NODE_ENV: 'test' }].map(isEnabled)).toEqual([true, true])
  expect(isEnabled({ NODE_ENV: 'production' })).toBe(false)
  expect(isEnabled({ NODE_ENV: 'production', FLOW_INSPECTOR: 'true' })).toBe(true)
  expect(isEnabled({ FLOW_INSPECTOR: 'false' })).toBe(false)
})

test('without FLOW_INSPECTOR, nothing is recorded and there are no pages', async () => {
  const app = await startAll({ FLOW_INSPECTOR: 'false' })
  const ann = await connected(app)
  expect((await ann.get(`${app.url}/flows`, JSON_ONLY)).status).toBe(404)
  const page = await ann.get(`${app.url}/connections`)
  expect(page.text).not.toMatch(/Flows|Scenarios|Step by step/)
  await app.close()
})
