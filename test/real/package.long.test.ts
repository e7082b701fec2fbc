import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadSandboxFeatures } from '../../src/sandbox/load.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { tempDir } from '../support/env.ts'
import { freePort, serve } from '../support/ports.ts'
import { answering, type Program, run } from '../support/process.ts'
import { createVisitor } from '../support/visitor.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const EXAMPLE = readFileSync(join(ROOT, 'docs/examples/core-app.mjs'), 'utf8')
const JSON_TYPE = { accept: 'application/json' }

const { dir, remove } = tempDir()
const npm = (...args: string[]) => execFileSync('npm', args, { cwd: dir, encoding: 'utf8' })

beforeAll(() => {
  execFileSync(process.execPath, ['src/cli/build-core-package.ts', dir], { cwd: ROOT })
  writeFileSync(join(dir, 'package.json'), '{ "name": "your-app", "private": true }')
  const [file = ''] = readdirSync(dir).filter((name) => name.endsWith('.tgz'))
  npm('install', `./${file}`, 'express', 'express-session', 'zod')
})
afterAll(remove)

test('the packed core brings one package beside express, redis and zod', () => {
  const dependenciesOf = (name: string) =>
    Object.keys(
      JSON.parse(readFileSync(join(dir, 'node_modules', name, 'package.json'), 'utf8')).dependencies ?? {},
    )
  const shared = ['express', 'redis', 'zod']
  const own = dependenciesOf('connect-core').filter((name) => !shared.includes(name))
  expect(own.sort()).toEqual(['undici'])
  for (const name of own) expect(dependenciesOf(name), name).toEqual([])
})

test('the packed core is the same by import and by require', () => {
  const script = `const core = require('connect-core'); const stores = require('connect-core/stores')
    console.log(typeof core.createConnect, typeof stores.openSqlite, typeof require('connect-core/express').connectRoutes, typeof require('connect-core/errors').AppError)`
  writeFileSync(join(dir, 'script.cjs'), script)
  expect(execFileSync(process.execPath, ['script.cjs'], { cwd: dir, encoding: 'utf8' }).trim()).toBe(
    'function function function function',
  )
})

test('docs/examples/core-app.mjs connects an account, calls the API, refreshes, and notices a revocation', async () => {
  const port = await freePort()
  const url = `http://localhost:${port}`
  const sandboxServer = await serve()
  const platform = `http://127.0.0.1:${sandboxServer.port}`
  const client = { clientId: 'sandbox-client', clientSecret: `secret-${randomBytes(9).toString('hex')}` }
  const redirectUrls = [`${url}/connect/context`, `${url}/connect/callback`]
  const sandbox = createSandbox({
    simulated: await loadSandboxFeatures(),
    baseUrl: platform,
    apps: [{ name: 'Your app', ...client, redirectUrls }],
    file: ':memory:',
  })
  sandboxServer.server.on('request', sandbox.app)
  writeFileSync(join(dir, 'app.mjs'), EXAMPLE)
  const env = {
    PORT: String(port),
    PLATFORM: platform,
    CLIENT_SECRET: client.clientSecret,
    SESSION_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  }
  const program: Program = run(join(dir, 'app.mjs'), env, { cwd: dir })
  await answering(`${url}/connections/x/leads`, program).catch(() => {})
  const visitor = createVisitor()
  await visitor.post(`${url}/sign-in`)
  await visitor.post(`${platform}/login`, {
    form: { email: 'marcus@ridgeline.example', password: 'sandbox' },
  })
  const consent = await visitor.follow(await visitor.post(`${url}/connect`))
  const page = await visitor.follow(
    await visitor.post(consent.url, { form: { answer: 'accept', scope: ['leads'] } }),
  )
  const [connection] = page.json()
  expect(connection).toMatchObject({ view: { state: 'active' }, scopes: ['leads'] })
  const leads = async () =>
    (await visitor.get(`${url}/connections/${connection.bxcontext}/leads`, JSON_TYPE)).json()
  const first = await leads()
  expect(first.items).toHaveLength(5)

  await fetch(`${platform}/sandbox/expire`, { method: 'POST' })
  expect(await leads()).toEqual(first)

  await fetch(`${platform}/sandbox/revoke`, { method: 'POST' })
  // A connection is refreshed at most once in 5 s.
  await expect.poll(async () => (await leads()).code, { interval: 1000 }).toBe('connection_revoked')
  expect(program.output()).not.toContain(client.clientSecret)
  await program.kill()
  sandbox.close()
  await sandboxServer.close()
})
