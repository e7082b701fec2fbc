import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { features } from '../../../src/features/index.ts'
import { connectDemo } from '../../support/demo.ts'
import { tempDir, testEnv } from '../../support/env.ts'
import { freePort, serve } from '../../support/ports.ts'
import { answering, type Program, run, runApp } from '../../support/process.ts'
import { createVisitor } from '../../support/visitor.ts'

/** A feature that calls the platform's API. */
const HAS_LEADS = features.some(({ name }) => name === 'leads')
const JSON_TYPE = { accept: 'application/json' }

interface Span {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  attributes: { key: string; value: Record<string, unknown> }[]
  events: { name: string }[]
}

let collector: Awaited<ReturnType<typeof serve>>
let bodies: string[]
let temp: ReturnType<typeof tempDir>
let programs: Program[]
beforeEach(async () => {
  ;[bodies, temp, programs] = [[], tempDir(), []]
  collector = await serve(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    bodies.push(`${req.url}\n${body}`)
    res.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
})
afterEach(async () => {
  await Promise.all(programs.map((program) => program.kill()))
  await collector.close()
  temp.remove()
})

/** The spans that were received, with their attributes as an object. */
const spans = () =>
  bodies
    .flatMap((body) => JSON.parse(body.slice(body.indexOf('\n'))).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans as Span[])
    .map((span) => ({
      ...span,
      facts: Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
    }))

async function start(env: Record<string, string> = {}) {
  const [port, sandboxPort] = [await freePort(), await freePort()]
  const platform = `http://localhost:${sandboxPort}`
  const settings = testEnv({
    PORT: String(port),
    PLATFORM_APP_URL: platform,
    PLATFORM_AUTH_URL: `${platform}/auth`,
    PLATFORM_API_URL: `${platform}/api`,
    SANDBOX_URL: platform,
    SANDBOX_PORT: String(sandboxPort),
    DATA_DIR: temp.dir,
    ...env,
  })
  const sandbox = run('src/cli/sandbox.ts', { ...settings, DATA_DIR: `${temp.dir}/sandbox` })
  programs.push(sandbox)
  await answering(`${platform}/`, sandbox)
  const app = await runApp(settings)
  programs.push(app)
  return { app, platform, settings }
}

describe('OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  test('sends traces of requests, with the calls of the platform and the core in them, and without any secret', async () => {
    const { app, platform, settings } = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
      OTEL_SERVICE_NAME: 'my-service',
    })
    const visitor = createVisitor()
    for (const path of ['/health/live', '/health/ready']) await fetch(app.url + path)
    const demo = { app: app.url, platform } as Parameters<typeof connectDemo>[1]
    await connectDemo(visitor, demo)
    await visitor.get(`${app.url}/connections?secret-in-query=marked-value`)
    if (HAS_LEADS) {
      const leads = await visitor.get(`${app.url}/connections/ridgeline-build/leads`, JSON_TYPE)
      await visitor.get(`${app.url}/connections/ridgeline-build/leads/${leads.json().items[0].id}`)
    }
    await fetch(`${platform}/sandbox/revoke`, { method: 'POST' })
    await visitor.post(`${app.url}/connections/ridgeline-build/refresh`)
    expect(await app.kill('SIGTERM')).toBe(0)

    const all = spans()
    expect(
      all.flatMap(({ facts }) => facts['http.route'] ?? []).filter((route) => /health/.test(String(route))),
    ).toEqual([])
    expect(all.filter(({ name }) => name === 'GET').map(({ facts }) => facts['url.full'])).not.toContain(
      app.url,
    )
    const names = all.map(({ name }) => name)
    const calls = HAS_LEADS ? ['GET /leads', 'GET /leads/:id'] : []
    expect(names).toEqual(expect.arrayContaining(['POST /oauth/token', ...calls]))
    const callback = all.find(({ facts }) => facts['http.route'] === '/connect/callback')
    expect(callback).toBeDefined()
    const inTrace = all.filter(({ traceId }) => traceId === callback?.traceId)
    expect(
      inTrace.some(({ facts }) => facts['url.full'] === platform && facts['http.request.method'] === 'POST'),
    ).toBe(true)
    expect(inTrace.flatMap(({ events }) => events.map(({ name }) => name))).toContain('connection connected')
    expect(all.map(({ name }) => name)).toContain('refresh lock acquired')
    expect(all.flatMap(({ events }) => events.map(({ name }) => name))).toContain('connection revoked')
    const text = bodies.join('\n')
    expect(text).toContain('my-service')
    expect(bodies.every((body) => body.startsWith('/v1/traces'))).toBe(true)
    const cookies = [...visitor.cookies.values()].flatMap((jar) => [...jar.values()])
    const { PLATFORM_CLIENT_SECRET = '', SESSION_SECRET = '', TOKEN_ENCRYPTION_KEYS = '' } = settings
    for (const secret of [...cookies, PLATFORM_CLIENT_SECRET, SESSION_SECRET, TOKEN_ENCRYPTION_KEYS])
      expect(text).not.toContain(secret)
    for (const part of [
      'client.address',
      'network.peer',
      'marked-value',
      'code=',
      'state=',
      'ridgeline-build',
      'eyJ',
    ])
      expect(text).not.toContain(part)
  })

  test('that does not answer is logged once, and the app works', async () => {
    const { app } = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    })
    for (let request = 0; request < 3; request++) expect((await fetch(`${app.url}/`)).status).toBe(200)
    await expect.poll(() => app.output()).toContain('traces_lost')
    const startedAt = performance.now()
    expect(await app.kill('SIGTERM')).toBe(0)
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    expect(app.output().match(/traces_lost/g)).toHaveLength(1)
  })

  test('is refused at the start if it is not an address', async () => {
    const nowhere = 'http://127.0.0.1:9'
    const program = run(
      'src/start.cjs',
      testEnv({
        PLATFORM_APP_URL: nowhere,
        PLATFORM_AUTH_URL: nowhere,
        PLATFORM_API_URL: nowhere,
        DATA_DIR: temp.dir,
        OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
      }),
    )
    expect(await program.exited).toBe(1)
    expect(program.output()).toContain('OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https address')
  })
})
