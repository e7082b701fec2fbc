import { randomBytes } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { tempDir, testEnv } from '../support/app.ts'
import { freePort, serve } from '../support/ports.ts'
import { answering, type Program, run, runApp } from '../support/process.ts'
import { REDIS, withRedis } from '../support/programs.ts'
import { startRedis } from '../support/redis.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'

const PLATFORM = {
  PLATFORM_APP_URL: 'http://127.0.0.1:9',
  PLATFORM_AUTH_URL: 'http://127.0.0.1:9',
  PLATFORM_API_URL: 'http://127.0.0.1:9',
}

let temp: ReturnType<typeof tempDir>
let programs: Program[]
beforeEach(() => {
  temp = tempDir()
  programs = []
})
afterEach(async () => {
  await Promise.all(programs.map((program) => program.kill()))
  temp.remove()
})

const started = (program: Program) => {
  programs.push(program)
  return program
}

async function demo(env: Record<string, string> = {}) {
  const [port, sandboxPort] = [await freePort(), await freePort()]
  const settings = { PORT: String(port), SANDBOX_PORT: String(sandboxPort), DATA_DIR: temp.dir, ...env }
  const start = async () => {
    const program = started(run('src/demo.ts', settings))
    await answering(`http://localhost:${port}/health/live`, program)
    // A Redis is connected in the background.
    const ready = () => fetch(`http://localhost:${port}/health/ready`).then(({ ok }) => ok)
    await vi.waitFor(async () => expect(await ready()).toBe(true), { timeout: 10_000 })
    return program
  }
  return { start, app: `http://localhost:${port}`, platform: `http://localhost:${sandboxPort}`, settings }
}

/** The connect flow through the demo, as a user walks it. */
async function connect(visitor: Visitor, app: string, platform: string): Promise<void> {
  await visitor.post(`${app}/sign-in`, { form: { name: 'ann' } })
  await visitor.post(`${platform}/login`, {
    form: { email: 'marcus@ridgeline.example', password: 'sandbox' },
  })
  const consent = await visitor.follow(await visitor.post(`${app}/connect`))
  const form = { answer: 'accept', scope: ['leads', 'catalogues'] }
  const page = await visitor.follow(await visitor.post(consent.url, { form }))
  expect(page.text).toContain('The account is connected.')
}

describe('the demo', () => {
  test('needs no settings, prints both addresses and the accounts, and nothing else', async () => {
    const { start, app, platform } = await demo()
    const program = await start()
    await vi.waitFor(() => expect(program.output()).toContain('Ctrl-C'))
    expect(program.output()).toContain(app)
    expect(program.output()).toContain(platform)
    expect(program.output()).toContain('olivia@harbour.example')
    expect(program.output()).not.toMatch(/warn|"level"/i)
  })

  test('passes the check of its live pricing, by the command that the README tells', async () => {
    const { start, app } = await demo()
    await start()
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
    const [, words = ''] = /npm run check-supplier -- (http:\/\/localhost:3000\S+ [^`]+)/.exec(readme) ?? []
    const args = words.replaceAll('\\\n', ' ').trim().replace('http://localhost:3000', app).split(/\s+/)
    const check = started(run('src/features/live-pricing/cli-check-supplier.ts', {}, { args }))
    expect(await check.exited, check.output()).toBe(0)
    expect(check.output()).toContain(' 0 are broken, 0 could not be checked.')
  })

  test('remembers sessions and connections when it is stopped and started', async () => {
    const { start, app, platform } = await demo()
    const first = await start()
    const visitor = createVisitor()
    await connect(visitor, app, platform)
    expect(await first.kill('SIGINT')).toBe(0)
    await start()
    const leads = await visitor.get(`${app}/connections/ridgeline-build/probe`)
    expect(leads.status).toBe(200)
    expect((await visitor.post(`${app}/connections/ridgeline-build/refresh`)).status).toBe(303)
  })

  test('keeps its made-up secrets where only its user can read them', async () => {
    const { start } = await demo()
    await start()
    const file = join(temp.dir, 'secrets.json')
    expect(statSync(file).mode & 0o077).toBe(0)
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')))).toEqual([
      'SESSION_SECRET',
      'TOKEN_ENCRYPTION_KEYS',
    ])
  })

  test.each([
    ['PORT', 'PORT'],
    ['SANDBOX_PORT', 'SANDBOX_PORT'],
  ])('with %s taken says so in its last line, which names it', async (variable) => {
    const taken = await serveEverywhere()
    const { settings } = await demo({ [variable]: String(taken.port) })
    const program = started(run('src/demo.ts', settings))
    expect(await program.exited).toBe(1)
    const last = program.output().trim().split('\n').at(-1)
    expect(last).toMatch(new RegExp(`^${variable}: port ${taken.port} is taken`))
    taken.close()
  })

  test('with a bad setting says so in one line that names it', async () => {
    for (const [name, value] of [
      ['PORT', 'x'],
      ['SANDBOX_PORT', 'y'],
      ['TOKEN_ENCRYPTION_KEYS', 'z'],
      ['REDIS_URL', 'http://x'],
    ] as const) {
      const { settings } = await demo({ [name]: value })
      const program = started(run('src/demo.ts', settings))
      expect(await program.exited, name).toBe(1)
      expect(program.output().trim().split('\n'), name).toEqual([expect.stringContaining(name)])
    }
  })
})

async function serveEverywhere() {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, resolve))
  return { port: (server.address() as { port: number }).port, close: () => server.close() }
}

describe('the demo that is opened to other machines', () => {
  test('says so on every page, of the sandbox as well, and in the log', async () => {
    const { start, app, platform } = await demo({ DEMO_ALLOW_REMOTE: 'true' })
    const program = await start()
    const headers = { 'x-forwarded-for': '203.0.113.9', accept: 'text/html' }
    for (const url of [app, `${app}/connections`, `${app}/nowhere`, platform, `${platform}/login`]) {
      const page = await (await fetch(url, { headers })).text()
      expect(page, url).toContain('DEMO_ALLOW_REMOTE is true')
    }
    expect(program.output()).toContain('DEMO_ALLOW_REMOTE is true')
  })

  test('is closed without the setting', async () => {
    const { start, app, platform } = await demo()
    await start()
    const headers = { 'x-forwarded-for': '203.0.113.9' }
    for (const url of [app, platform]) expect((await fetch(url, { headers })).status, url).toBe(403)
  })

  test('has a log that people read, with the id that an error page shows', async () => {
    const { start, app } = await demo()
    const program = await start()
    const answer = await fetch(`${app}/nowhere`, { headers: { accept: 'application/json' } })
    const { requestId } = (await answer.json()) as { requestId: string }
    await vi.waitFor(() =>
      expect(program.output()).toMatch(new RegExp(`INFO: request GET \\(none\\) 404 \\d+ ms · ${requestId}`)),
    )
  })
})

describe('a Node that is too old', () => {
  test('is told in one line which one is needed', () => {
    const old = { versions: { node: '20.20.2' } }
    const script = readFileSync(new URL('../../src/runtime/check-node.cjs', import.meta.url), 'utf8')
    const printed: string[] = []
    let code = 0
    const exit = (status: number) => {
      code = status
    }
    const console = { error: (line: string) => void printed.push(line) }
    runInNewContext(script, { process: { ...old, exit }, console })
    expect(code).toBe(1)
    expect(printed.join('\n')).toMatch(/^Node 20\.20\.2 is too old: this app needs 22\.19 or newer\.[^\n]*$/)
  })
})

test('a program without an .env says nothing about it', async () => {
  const program = started(run('src/cli/doctor.ts', { DATA_DIR: temp.dir }, { cwd: temp.dir }))
  await program.exited
  expect(program.output()).not.toMatch(/\.env not found/)
  expect(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).not.toContain('--env-file')
})

describe('the app', () => {
  // /dev/full, a disk that is always full, is a thing of Linux.
  test.skipIf(process.platform !== 'linux')(
    'whose log goes to a full disk loses log lines and nothing else',
    async () => {
      const env = testEnv({ ...PLATFORM, PORT: String(await freePort()), DATA_DIR: temp.dir })
      const program = started(run('src/main.ts', env, { stdout: '/dev/full' }))
      await answering(`http://localhost:${env.PORT}/health/live`, program)
      const visitor = createVisitor()
      expect(
        (await visitor.post(`http://localhost:${env.PORT}/sign-in`, { form: { name: 'ann' } })).status,
      ).toBe(303)
      expect(await program.kill('SIGTERM')).toBe(0)
    },
  )

  test('started in production with weak or missing settings lists every problem and does not start', async () => {
    const program = started(run('src/main.ts', { NODE_ENV: 'production', SESSION_SECRET: 'weak', PORT: '0' }))
    expect(await program.exited).toBe(1)
    for (const name of [
      'SESSION_SECRET',
      'TOKEN_ENCRYPTION_KEYS',
      'PLATFORM_CLIENT_ID',
      'PLATFORM_APP_URL',
      'src/web/sign-in.ts',
    ]) {
      expect(program.output()).toContain(name)
    }
    expect(program.output()).not.toContain('weak\n')
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'stopped by %s lets requests in flight finish, and refuses new ones',
    async (signal) => {
      let arrived = () => {}
      const asked = new Promise<void>((resolve) => {
        arrived = resolve
      })
      const platform = await serve(async (req, res) => {
        for await (const _chunk of req);
        arrived()
        await new Promise((resolve) => setTimeout(resolve, 1000))
        const body = { access_token: 'a', refresh_token: 'r', expires_in: 300 }
        res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      })
      const address = `http://127.0.0.1:${platform.port}`
      const addresses = { PLATFORM_APP_URL: address, PLATFORM_AUTH_URL: address, PLATFORM_API_URL: address }
      const app = await runApp(testEnv({ ...addresses, PORT: String(await freePort()), DATA_DIR: temp.dir }))
      started(app)
      const visitor = createVisitor()
      await visitor.post(`${app.url}/sign-in`, { form: { name: 'ann' } })
      await visitor.post(`${app.url}/connect`)
      const consent = await visitor.get(`${app.url}/connect/context?bxcontext=ctx`)
      const state = new URL(consent.headers.get('location') ?? '').searchParams.get('state')
      const inFlight = visitor.get(`${app.url}/connect/callback?code=c&state=${state}`)
      await asked
      app.child.kill(signal)
      await vi.waitFor(async () => {
        await expect(fetch(`${app.url}/health/live`)).rejects.toMatchObject({
          cause: { code: 'ECONNREFUSED' },
        })
      })
      expect((await inFlight).headers.get('location')).toBe('/connections')
      expect(await app.exited).toBe(0)
      await platform.close()
    },
  )
})

describe('the command', () => {
  const platform = PLATFORM

  test('keys prints secrets that the config accepts, new ones each time', async () => {
    const [one, two] = [started(run('src/cli/keys.ts')), started(run('src/cli/keys.ts'))]
    expect([await one.exited, await two.exited]).toEqual([0, 0])
    expect(one.output()).toMatch(
      /^SESSION_SECRET=[\w-]{43}\nTOKEN_ENCRYPTION_KEYS=k\w+:[A-Za-z0-9+/]{43}=\n$/,
    )
    expect(one.output()).not.toBe(two.output())
  })

  test('doctor checks settings, store and platform, and fails for what does not answer', async () => {
    const program = started(run('src/cli/doctor.ts', testEnv({ ...platform, DATA_DIR: temp.dir })))
    expect(await program.exited).toBe(1)
    expect(program.output()).toContain('ok    settings: complete')
    expect(program.output()).toContain('ok    store: embedded SQLite')
    expect(program.output()).toContain('FAIL  platform authUrl')
    expect(program.output()).toContain('http://localhost:3000/connect/callback')
  })

  test.skipIf(!REDIS)(
    `doctor warns of a Redis that may evict, and names a key that is missing${withRedis}`,
    async () => {
      const redis = await startRedis('--maxmemory-policy', 'allkeys-lru')
      const { start, app, platform: sandbox } = await demo({ REDIS_URL: redis.url })
      const demoProgram = await start()
      await connect(createVisitor(), app, sandbox)
      await demoProgram.kill('SIGINT')
      const program = started(run('src/cli/doctor.ts', testEnv({ ...platform, REDIS_URL: redis.url })))
      await program.exited
      expect(program.output()).toContain('warn  Redis may evict')
      expect(program.output()).toMatch(
        /FAIL {2}a connection needs the key "k\w+", which TOKEN_ENCRYPTION_KEYS lacks/,
      )
      await redis.close()
    },
  )

  test('doctor names settings that are missing', async () => {
    const program = started(run('src/cli/doctor.ts', { DATA_DIR: temp.dir }))
    expect(await program.exited).toBe(1)
    expect(program.output()).toContain('PLATFORM_CLIENT_ID is not set')
  })

  test.skipIf(!REDIS)(`reencrypt waits for Redis and encrypts with the first key${withRedis}`, async () => {
    const redis = await startRedis()
    const [older, newer] = ['old', 'new'].map((id) => `${id}:${randomBytes(32).toString('base64')}`)
    const {
      start,
      app,
      platform: sandbox,
    } = await demo({ REDIS_URL: redis.url, TOKEN_ENCRYPTION_KEYS: String(older) })
    const demoProgram = await start()
    await connect(createVisitor(), app, sandbox)
    await demoProgram.kill('SIGINT')
    const env = testEnv({ ...platform, REDIS_URL: redis.url, TOKEN_ENCRYPTION_KEYS: `${newer},${older}` })
    const program = started(run('src/cli/reencrypt.ts', env))
    expect(await program.exited).toBe(0)
    expect(program.output()).toBe('1 connections encrypted with the key "new", 0 were already.\n')
    await redis.close()
  })

  test('reencrypt leaves records of a missing key as they are and says which key is missing', async () => {
    const {
      start,
      app,
      platform: sandbox,
    } = await demo({ TOKEN_ENCRYPTION_KEYS: `old:${randomBytes(32).toString('base64')}` })
    const demoProgram = await start()
    await connect(createVisitor(), app, sandbox)
    await demoProgram.kill('SIGINT')
    const program = started(run('src/cli/reencrypt.ts', testEnv({ ...platform, DATA_DIR: temp.dir })))
    expect(await program.exited).toBe(1)
    expect(program.output()).toContain('"old", which is not in TOKEN_ENCRYPTION_KEYS')
  })
})
