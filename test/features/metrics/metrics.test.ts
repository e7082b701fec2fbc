import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import { createMetrics } from '../../../src/features/metrics/metrics.ts'
import { metricsSettings } from '../../../src/features/metrics/settings.ts'
import { readSettings } from '../../../src/settings/read.ts'
import { type Running, sharedApp, startAll } from '../../support/app.ts'
import { connected } from '../../support/flow.ts'
import { freePort } from '../../support/ports.ts'
import { run } from '../../support/process.ts'

const TOKEN = 'metrics-token-of-the-scraper'
const shared = await sharedApp()
const scrape = ({ url }: Running, token = TOKEN) =>
  fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
/** The value of a metric whose line starts like this. */
const figure = (text: string, start: string) =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(start))
      ?.split(' ')
      .at(-1),
  )

describe('GET /metrics', () => {
  let app: Running
  beforeAll(async () => {
    app = await startAll({ METRICS_TOKEN: TOKEN })
  })
  afterAll(() => app.close())

  test('counts requests, refreshes, platform calls and the event loop, and names nobody', async () => {
    const ann = await connected(app, { name: 'ann-the-user' })
    await app.sandbox('expire')
    await ann.get(`${app.url}/connections/harbour-homes/probe`)
    await ann.get(`${app.url}/Connections/harbour-homes/Probe/P1`)
    await ann.get(`${app.url}/no-such-page/ann-the-user`)
    const answer = await scrape(app)
    const text = await answer.text()
    expect(answer.headers.get('content-type')).toContain('text/plain')
    expect(figure(text, 'connect_connection_events_total{type="connected",reason=""}')).toBe(1)
    expect(figure(text, 'connect_connection_events_total{type="refreshed",reason=""}')).toBe(1)
    expect(text).toMatch(
      /connect_http_request_duration_seconds_count\{method="GET",route="\/connect\/callback",status="303"\} 1/,
    )
    expect(text).toContain('route="/connections/:bxcontext/probe/:id"')
    expect(text).toMatch(
      /connect_http_request_duration_seconds_count\{method="GET",route="\(none\)",status="404"\} 1/,
    )
    expect(text).toMatch(
      /connect_platform_request_duration_seconds_count\{endpoint="token endpoint",status="200"\} 2/,
    )
    expect(text).toMatch(
      /connect_platform_request_duration_seconds_count\{endpoint="GET \(other\)",status="200"\} 2/,
    )
    expect(figure(text, 'connect_store_up')).toBe(1)
    expect(text).toMatch(/nodejs_eventloop_lag_p99_seconds [\d.]+/)
    for (const secret of ['ann-the-user', 'harbour-homes', app.config.platform.clientSecret, TOKEN])
      expect(text).not.toContain(secret)
  })

  test('says whether the platform refuses this app', async () => {
    const refused = async () => figure(await (await scrape(app)).text(), 'connect_credentials_refused')
    expect(await refused()).toBe(0)
    await app.services.connect.vault.credentials.note(true)
    expect(await refused()).toBe(1)
  })

  test('has the connections that the last check of all connections has counted, and no such figure before it', async () => {
    const app = await startAll({ CHECK_CONNECTIONS_EVERY: '1m' })
    onTestFinished(app.close)
    await connected(app, { name: 'ann' })
    const { text, close } = await createMetrics(app.services.deps)
    onTestFinished(close)
    expect(await text()).not.toContain('connect_connections')
    for (const part of app.services.parts) part.start?.()
    await expect.poll(text).toContain('connect_connections{status="active"} 1')
  })

  test('can be read while the store is unavailable, without the figures that come from it', async () => {
    const { deps, store } = shared.services
    const fails = () => Promise.reject(new StoreUnavailableError('gone'))
    const gone = { ...store, get: fails, getCached: fails, ping: fails }
    const { text, close } = await createMetrics({ ...deps, store: gone })
    onTestFinished(close)
    expect(figure(await text(), 'connect_store_up')).toBe(0)
    expect(await text()).not.toContain('connect_connections')
  })

  test('is refused without the token, and with a part of it', async () => {
    for (const token of ['', 'x', TOKEN.slice(0, -1), `${TOKEN}x`])
      expect((await scrape(app, token)).status).toBe(401)
    expect((await fetch(`${app.url}/metrics`)).headers.get('www-authenticate')).toContain('Bearer')
  })

  test('is on a port of its own with METRICS_PORT, and then not on the address of the app', async () => {
    const port = await freePort()
    const app = await startAll({ METRICS_PORT: String(port) })
    onTestFinished(app.close)
    for (const part of app.services.parts) part.start?.()
    await expect
      .poll(() =>
        fetch(`http://127.0.0.1:${port}/metrics`).then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200)
    expect((await fetch(`http://127.0.0.1:${port}/connections`)).status).toBe(404)
    expect((await scrape(app)).status).toBe(404)
  })

  test('does not exist without settings, and its library is not loaded', async () => {
    expect((await scrape(shared)).status).toBe(404)
    // Uses a separate process, because this process has already loaded it.
    const program = run('test/features/metrics/loaded.ts')
    await program.exited
    expect(program.output()).toBe('loaded: express\n')
  })
})

test.each([{ PORT: '3001' }, {}])('METRICS_PORT must not be the port of the app: %o', (env) => {
  const METRICS_PORT = 'PORT' in env ? env.PORT : '3000'
  expect(() => readSettings({ ...env, METRICS_PORT }, metricsSettings)).toThrow('METRICS_PORT is PORT')
})
