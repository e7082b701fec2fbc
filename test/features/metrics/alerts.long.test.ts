import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { endsWithFile } from '../../support/children.ts'
import { connected } from '../../support/flow.ts'
import { freePort } from '../../support/ports.ts'
import { PROMETHEUS, REDIS } from '../../support/programs.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import type { Visitor } from '../../support/visitor.ts'

const DOCS = new URL('../../../docs/metrics/', import.meta.url)
const TOKEN = 'metrics-token-of-the-scraper'

/** The rules with windows of seconds, so that a test does not take an hour. */
const fastRules = () =>
  readFileSync(new URL('alerts.yaml', DOCS), 'utf8')
    .replaceAll(/\[(\d+[mh])\]/g, '[6s]')
    .replaceAll(/^ +for: .*\n/gm, '')

describe.skipIf(!process.env.LONG_TESTS || !PROMETHEUS || !REDIS)('with a real Prometheus', () => {
  let app: Running
  let redis: RedisServer
  let visitors: Visitor[]
  let dir: string
  let port: number
  const stops: (() => void)[] = []

  beforeAll(async () => {
    redis = await startRedis()
    app = await startAll({ METRICS_TOKEN: TOKEN, REDIS_URL: redis.url })
    visitors = []
    for (let user = 0; user < 12; user++) visitors.push(await connected(app, { name: `user ${user}` }))
    dir = mkdtempSync(join(tmpdir(), 'connect-test-'))
    port = await freePort()
    writeFileSync(join(dir, 'rules.yaml'), fastRules())
    writeFileSync(
      join(dir, 'prometheus.yaml'),
      `global: { scrape_interval: 500ms, evaluation_interval: 500ms }
rule_files: [rules.yaml]
scrape_configs:
  - job_name: app
    authorization: { credentials: ${TOKEN} }
    static_configs: [{ targets: ['${new URL(app.url).host}'] }]
`,
    )
    const args = [`--config.file=${dir}/prometheus.yaml`, `--storage.tsdb.path=${dir}/data`]
    const child = spawn(PROMETHEUS ?? '', [...args, `--web.listen-address=127.0.0.1:${port}`], {
      stdio: 'ignore',
    })
    endsWithFile(child)
    stops.push(() => child.kill('SIGKILL'))
    await vi.waitFor(async () => expect(await query('up == 1')).toHaveLength(1), { timeout: 20_000 })
  })
  afterAll(async () => {
    for (const stop of stops) stop()
    await app?.close()
    await redis?.close()
    rmSync(dir, { recursive: true, force: true })
  })

  async function get(path: string): Promise<unknown> {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)
    return ((await answer.json()) as { data: unknown }).data
  }
  const query = async (expression: string) =>
    ((await get(`query?query=${encodeURIComponent(expression)}`)) as { result: unknown[] }).result
  const firing = async () =>
    ((await get('alerts')) as { alerts: { state: string; labels: { alertname: string } }[] }).alerts
      .filter(({ state }) => state === 'firing')
      .map(({ labels }) => labels.alertname)
  const calm = () => expect.poll(firing, { timeout: 30_000, interval: 300 }).toEqual([])

  /** Everyone opens a page, again and again, until the alert fires. */
  async function expectAlert(alert: string, others: string[] = []): Promise<void> {
    const deadline = Date.now() + 25_000
    let fired: string[] = []
    while (!fired.includes(alert) && Date.now() < deadline) {
      await Promise.all(visitors.map((visitor) => visitor.get(`${app.url}/connections`).catch(() => {})))
      await pause(200)
      fired = await firing()
    }
    expect(fired).toContain(alert)
    expect(fired.filter((name) => name !== alert && !others.includes(name))).toEqual([])
  }
  /** Refreshes every token; each connection may do so every few seconds. */
  const refreshAll = async () => {
    await Promise.all(
      visitors.map((visitor) => visitor.post(`${app.url}/connections/harbour-homes/refresh`).catch(() => {})),
    )
  }

  test('no alert fires while users work', async () => {
    await refreshAll()
    for (let round = 0; round < 10; round++) {
      await Promise.all(visitors.map((visitor) => visitor.get(`${app.url}/connections/harbour-homes/probe`)))
      await pause(300)
    }
    expect(await firing()).toEqual([])
  })

  test('ConnectRefreshesFail fires when the token endpoint fails', async () => {
    await pause(5_000)
    await app.fault('refresh', '500')
    await refreshAll()
    await expectAlert('ConnectRefreshesFail', ['ConnectServerErrors'])
    await app.fault('refresh', 'none')
    await calm()
  })

  test('ConnectMisconfigured fires when the platform rejects the client', async () => {
    await pause(5_000)
    await app.fault('refresh', 'invalid_client')
    await refreshAll()
    await expectAlert('ConnectMisconfigured', ['ConnectServerErrors'])
    await app.fault('refresh', 'none')
    // The next successful token request ends the alert. A person can ask for it once in 5 s.
    await pause(5_000)
    await refreshAll()
    await calm()
  })

  test('ConnectServerErrors fires when the platform fails calls', async () => {
    await app.fault('probe', '500')
    const calls = async () => {
      await Promise.all(
        visitors.map((visitor) => visitor.get(`${app.url}/connections/harbour-homes/probe`).catch(() => {})),
      )
    }
    await calls()
    await calls()
    await expectAlert('ConnectServerErrors')
    await app.fault('probe', 'none')
    await calm()
  })

  test('ConnectRevocations fires when many users lose their connection', async () => {
    await app.sandbox('revoke')
    await Promise.all(visitors.map((visitor) => visitor.get(`${app.url}/connections/harbour-homes/probe`)))
    await expectAlert('ConnectRevocations')
    await calm()
  })

  // This is the last alert, because the errors of this outage stay in the window of other alerts after Redis is back.
  test('ConnectStoreDown fires when Redis is gone', async () => {
    await redis.kill()
    await expectAlert('ConnectStoreDown', ['ConnectServerErrors'])
    await redis.start()
    await calm()
  })

  test('every query of the dashboard finds metrics of this run', async () => {
    const { panels } = JSON.parse(readFileSync(new URL('dashboard.json', DOCS), 'utf8')) as {
      panels: { title: string; targets: { expr: string }[] }[]
    }
    expect(panels.length).toBeGreaterThan(10)
    for (const { title, targets } of panels) {
      // Counted by the checks of all connections, which this app does not make.
      if (title === 'Connections') continue
      for (const { expr } of targets)
        expect((await query(expr.replaceAll('$__rate_interval', '1m'))).length, title).toBeGreaterThan(0)
    }
  })
})
