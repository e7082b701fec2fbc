/** Follows docs/guides.md with its commands and examples. */
import { execFile, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { readSettings } from '../../src/settings/read.ts'
import type { Feature } from '../../src/web/feature-api.ts'
import { startAll } from '../support/app.ts'
import { connectDemo } from '../support/demo.ts'
import { ROOT, read } from '../support/documents.ts'
import { tempDir, testEnv } from '../support/env.ts'
import { connected } from '../support/flow.ts'
import { freePort, serve } from '../support/ports.ts'
import { answering, programOf, run } from '../support/process.ts'
import { createVisitor } from '../support/visitor.ts'

const exec = promisify(execFile)

/** The commands of a guide, in their order. */
function blocksOf(heading: string): string[] {
  const [, section = ''] = read('docs/guides.md').split(`\n## ${heading}\n`)
  const [text = ''] = section.split('\n## ')
  return [...text.matchAll(/```\w+\n([\s\S]*?)```/g)].map(([, code = '']) => code)
}

/** A folder with links to parts of the project. */
function folderWith(...paths: string[]): string {
  const { dir, remove } = tempDir()
  onTestFinished(remove)
  for (const path of paths) symlinkSync(join(ROOT, path), join(dir, path))
  return dir
}

/** A server that keeps the bodies of requests, and answers with the next status in the list, or with 200. */
async function receiver(statuses: number[] = []) {
  const received: { headers: NodeJS.Dict<string | string[]>; body: string }[] = []
  const { port, close } = await serve(async (req, res) => {
    let body = ''
    for await (const part of req) body += part
    received.push({ headers: req.headers, body })
    res.writeHead(statuses.shift() ?? 200, { 'content-type': 'application/json' }).end('{}')
  })
  onTestFinished(close)
  return { url: `http://127.0.0.1:${port}`, received }
}

test('Tracing: a trace has the requests of the app and to the platform, and no secret', async () => {
  const [install = '', start = ''] = blocksOf('Tracing')
  const dir = folderWith('src', 'views')
  writeFileSync(join(dir, 'package.json'), '{ "private": true }')
  await exec('sh', ['-c', install], { cwd: dir })
  cpSync(join(ROOT, 'docs/examples/tracing.mjs'), join(dir, 'tracing.mjs'))

  const collector = await receiver()
  const [port, sandboxPort] = [await freePort(), await freePort()]
  const platform = `http://localhost:${sandboxPort}`
  const env = testEnv({
    PORT: String(port),
    PLATFORM_APP_URL: platform,
    PLATFORM_AUTH_URL: `${platform}/auth`,
    PLATFORM_API_URL: `${platform}/api`,
    SANDBOX_URL: platform,
    SANDBOX_PORT: String(sandboxPort),
    DATA_DIR: join(dir, 'data'),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  })
  const sandbox = run('src/cli/sandbox.ts', { ...env, DATA_DIR: join(dir, 'sandbox') })
  onTestFinished(async () => void (await sandbox.kill()))
  const [program = '', ...args] = start.trim().split(' ')
  const app = programOf(spawn(program, args, { cwd: dir, env: { PATH: process.env.PATH, ...env } }))
  const url = `http://localhost:${port}`
  await answering(`${url}/health/live`, app)

  const visitor = createVisitor()
  await connectDemo(visitor, { app: url, platform } as Parameters<typeof connectDemo>[1])
  await visitor.get(`${url}/connections?code=marked-value`)
  const text = () => collector.received.map(({ body }) => body).join('\n')
  const spans = () =>
    collector.received
      .flatMap(({ body }) => JSON.parse(body).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap(({ spans }) => spans)
  const callback = () => spans().find(({ name }) => name === 'GET /connect/callback')
  // The page after the callback, and the one above.
  await expect.poll(() => spans().filter(({ name }) => name === 'GET /connections')).toHaveLength(2)
  const inTrace = spans().filter(({ traceId }) => traceId === callback()?.traceId)
  const attributes = JSON.stringify(
    inTrace.filter(({ name }) => name === 'POST').map((span) => span.attributes),
  )
  expect(attributes).toContain('"http.response.status_code","value":{"intValue":200}')
  expect(await app.kill('SIGTERM')).toBe(0)

  const cookies = [...visitor.cookies.values()].flatMap((jar) => [...jar.values()])
  const { PLATFORM_CLIENT_SECRET = '', SESSION_SECRET = '', TOKEN_ENCRYPTION_KEYS = '' } = env
  const secrets = [...cookies, PLATFORM_CLIENT_SECRET, SESSION_SECRET, TOKEN_ENCRYPTION_KEYS]
  for (const secret of [...secrets, 'marked-value', 'code=', 'state=', 'ridgeline-build', 'Bearer', 'health'])
    expect(text()).not.toContain(secret)
})

test('Webhooks to your own system: changes arrive signed, again after a failure, and without a token', async () => {
  const dir = folderWith('node_modules', 'package.json')
  cpSync(join(ROOT, 'src'), join(dir, 'src'), { recursive: true })
  const folder = join(dir, 'src/features/connection-webhooks')
  cpSync(join(ROOT, 'docs/examples/connection-webhooks'), folder, { recursive: true })
  const compiler = { extends: join(ROOT, 'tsconfig.json'), compilerOptions: { tsBuildInfoFile: 'info' } }
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ ...compiler, include: ['src/app.ts', folder] }))
  await exec('npx', ['tsc', '-p', '.'], { cwd: dir }).catch(({ stdout }) => expect(stdout).toBe(''))

  const system = await receiver([503])
  const key = Buffer.alloc(32, 'k')
  const env = {
    CONNECTION_WEBHOOK_URL: system.url,
    CONNECTION_WEBHOOK_SECRET: `whsec_${key.toString('base64')}`,
  }
  const module: { default: Feature } = await import(pathToFileURL(join(folder, 'index.ts')).href)
  const feature = module.default
  if (!feature.settings) throw new Error('the recipe has no feature')
  const app = await startAll()
  onTestFinished(app.close)
  const settings = readSettings(env, feature.settings)
  const parts = await feature.create?.(app.services.deps, settings)

  const visitor = await connected(app)
  await visitor.post(`${app.url}/connections/harbour-homes/disconnect`)
  await parts?.stop?.()
  const ofType = (type: string) => system.received.filter(({ body }) => JSON.parse(body).type === type)
  const [first, again] = ofType('connection.connected')
  expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  expect(ofType('connection.disconnected')).toHaveLength(1)
  expect(JSON.parse(first?.body ?? '').data).toMatchObject({ userId: 'ann', bxcontext: 'harbour-homes' })
  for (const { headers, body } of system.received) {
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const signature = createHmac('sha256', key).update(signed).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${signature}`)
    expect(body).not.toMatch(/token/i)
  }
})
