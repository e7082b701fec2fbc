import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { loadFeatures } from '../../src/features/load.ts'
import { configOf } from '../../src/runtime/run-app.ts'
import { sandboxSettings } from '../../src/runtime/run-sandbox.ts'
import { connectDemo, type Demo, openDemo } from '../support/demo.ts'
import { command, type Program } from '../support/process.ts'
import { createVisitor } from '../support/visitor.ts'

describe('the demo', () => {
  let demo: Demo
  let program: Program
  beforeAll(async () => {
    demo = await openDemo()
    program = await demo.start()
  })
  afterAll(() => demo.close())

  test('needs no settings and prints both addresses and the accounts, without warnings', async () => {
    await vi.waitFor(() => expect(program.output()).toContain('Ctrl-C'), { timeout: 5_000 })
    expect(program.output()).toContain(demo.app)
    expect(program.output()).toContain(demo.platform)
    expect(program.output()).toContain('olivia@harbour.example')
    expect(program.output()).not.toMatch(/warn|"level"/i)
  })

  test('keeps its generated secrets where only its user can read them', () => {
    const file = join(demo.dir, 'secrets.json')
    expect(statSync(file).mode & 0o077).toBe(0)
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')))).toEqual([
      'SESSION_SECRET',
      'TOKEN_ENCRYPTION_KEYS',
    ])
  })

  test('is closed to other machines without DEMO_ALLOW_REMOTE', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9' }
    for (const url of [demo.app, demo.platform]) expect((await fetch(url, { headers })).status, url).toBe(403)
  })

  test('has a readable log, with the id that an error page shows', async () => {
    const answer = await fetch(`${demo.app}/nowhere`, { headers: { accept: 'application/json' } })
    const { requestId } = (await answer.json()) as { requestId: string }
    await vi.waitFor(
      () =>
        expect(program.output()).toMatch(
          new RegExp(`INFO: request GET \\(none\\) 404 \\d+ ms · ${requestId}`),
        ),
      { timeout: 5_000 },
    )
  })

  test('remembers sessions and connections when it is stopped and started', async () => {
    const visitor = createVisitor()
    await connectDemo(visitor, demo)
    expect(await program.kill('SIGINT')).toBe(0)
    program = await demo.start()
    const page = await visitor.get(`${demo.app}/connections`)
    expect(page.text).toContain('ridgeline-build')
    expect((await visitor.post(`${demo.app}/connections/ridgeline-build/refresh`)).status).toBe(303)
  })

  test('shares its data with the commands, which need no settings either, while it runs', async () => {
    await connectDemo(createVisitor(), demo)
    const connections = (...args: string[]) =>
      command('src/cli/connections.ts', { DATA_DIR: demo.dir }, { args })
    const { output } = await connections('list')
    expect(output).toContain('this is the data of npm run demo')
    expect(output).toContain('ann\tridgeline-build\tactive\tRidgeline Build')
    expect((await connections('revoke', 'ann', 'ridgeline-build')).code).toBe(0)
    expect((await connections('list')).output).toContain('0 connections.')
  })
})

// As src/demo.ts reads them; it prints the message of the error.
test.each([
  ['PORT', 'x', sandboxSettings],
  ['SANDBOX_PORT', 'y', sandboxSettings],
  ['REDIS_URL', 'http://x', async (env: NodeJS.ProcessEnv) => configOf(env, await loadFeatures())],
])(
  'a demo that cannot start because of a bad %s has one line to print, which names it',
  async (name, value, read) => {
    const address = 'http://localhost:1'
    const env = {
      PLATFORM_APP_URL: address,
      PLATFORM_AUTH_URL: address,
      PLATFORM_API_URL: address,
      PLATFORM_CLIENT_ID: 'client',
      PLATFORM_CLIENT_SECRET: 'secret',
      [name]: value,
    }
    const message = await read(env).then(() => '', String)
    expect(message.split('\n')).toEqual([expect.stringContaining(name)])
  },
)
