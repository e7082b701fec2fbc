import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../src/connect/errors.ts'
import { platform, Vault } from '../../src/connect/index.ts'
import { type KeyValueStore, openSqlite, ready as waitForStore } from '../../src/connect/stores.ts'
import { createLog } from '../../src/runtime/log.ts'
import { tempDir, testEnv } from '../support/env.ts'
import { freePort, serve } from '../support/ports.ts'
import { answering, command, type Program, runProgram } from '../support/process.ts'
import { consent, newKey, oauthFor, REF } from '../support/vault.ts'
import { createVisitor } from '../support/visitor.ts'

/** Nobody listens there. */
const NOWHERE = 'http://127.0.0.1:9'
const PLATFORM = { PLATFORM_APP_URL: NOWHERE, PLATFORM_AUTH_URL: NOWHERE, PLATFORM_API_URL: NOWHERE }

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

/** The settings of an app in the test's folder. */
const settingsOf = async (extra: Record<string, string> = {}) =>
  testEnv({ ...PLATFORM, PORT: String(await freePort()), DATA_DIR: temp.dir, ...extra })

const started = (program: Program) => {
  programs.push(program)
  return program
}

/** The app stores a connection, encrypted with this key. */
async function storeConnection(store: KeyValueStore, key: ReturnType<typeof newKey>): Promise<void> {
  const vault = new Vault({
    platform,
    store,
    keys: [key],
    oauth: oauthFor(NOWHERE),
    log: createLog('silent'),
  })
  await consent(vault)
  await vault.close(0)
  await store.close()
}

const setting = ({ id, secret }: ReturnType<typeof newKey>) => `${id}:${secret.toString('base64')}`

test.each([
  ['Node is too old', () => '', /^Node 20\.20\.2 is too old: this project requires 22\.19 or later\.[^\n]*$/],
  [
    'the packages are not installed, whatever Node it is',
    () => {
      throw new Error('Cannot find module')
    },
    /^The packages of this project are not installed\. Run npm install[^\n]*$/,
  ],
  [
    'an interrupted update has left package.json in conflict',
    () => {
      throw Object.assign(new Error('Invalid package config'), { code: 'ERR_INVALID_PACKAGE_CONFIG' })
    },
    /^package\.json is not JSON\. If an update was interrupted, undo it: git [^\n]*$/,
  ],
])('if %s, each program tells in one line what to do', (_what, resolve, message) => {
  const script = readFileSync(new URL('../../src/run.cjs', import.meta.url), 'utf8')
  const printed: string[] = []
  const exit = (status: number) => {
    throw new Error(`exit ${status}`)
  }
  const console = { error: (line: string) => void printed.push(line) }
  const process = { versions: { node: '20.20.2' }, exit }
  expect(() => runInNewContext(script, { process, console, require: { resolve } })).toThrow('exit 1')
  expect(printed.join('\n')).toMatch(message)
})

describe('the app', () => {
  test('started in production with weak or missing settings lists every problem and does not start', async () => {
    const weak = { NODE_ENV: 'production', SESSION_SECRET: 'weak', PORT: '0' }
    const { code, output } = await command('src/main.ts', weak)
    expect(code).toBe(1)
    for (const name of ['SESSION_SECRET', 'TOKEN_ENCRYPTION_KEYS', 'PLATFORM_APP_URL'])
      expect(output).toContain(name)
    expect(output).not.toContain('weak\n')
  })

  test('warns once, at its start, if BASE_URL is https and TRUST_PROXY is 0', async () => {
    const env = await settingsOf({ BASE_URL: 'https://app.example' })
    const program = started(runProgram('src/main.ts', env))
    const url = `http://localhost:${env.PORT}/health/live`
    await answering(url, program)
    await fetch(url, { headers: { 'x-forwarded-for': '203.0.113.9' } })
    expect(program.output().match(/TRUST_PROXY: it is 0/g)).toHaveLength(1)
  })

  test.each([
    [
      { NODE_ENV: 'prod' },
      /^The settings have a problem: NODE_ENV must be production, development, test or unset\n$/,
    ],
    [
      { DATA_DIR: fileURLToPath(import.meta.url) },
      /^The settings have a problem: DATA_DIR is a file: name a folder\n$/,
    ],
  ])('says what is wrong with one setting, and not what follows from it: %o', async (wrong, message) => {
    const { code, output } = await command('src/main.ts', { ...(await settingsOf()), ...wrong })
    expect([code, output]).toEqual([1, expect.stringMatching(message)])
  })

  test('ends at SIGTERM during its start too', async () => {
    // A Redis that never answers: the start waits for it.
    const port = await freePort()
    const silent = createServer().listen(port, '127.0.0.1')
    const asked = once(silent, 'connection')
    const env = await settingsOf({ REDIS_URL: `redis://127.0.0.1:${port}` })
    const program = started(runProgram('src/main.ts', env))
    await asked
    expect(await program.kill('SIGTERM')).toBe(0)
    silent.close()
  })

  test('names a setting in .env that does not exist; at SIGTERM it is not ready for SHUTDOWN_DELAY_SECONDS but keeps working, then lets requests in flight finish and accepts no new ones', async () => {
    const [asked, respond] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const platform = await serve(async (req, res) => {
      for await (const _chunk of req);
      asked.resolve()
      await respond.promise
      const body = { access_token: 'a', refresh_token: 'r', expires_in: 300 }
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    const address = `http://127.0.0.1:${platform.port}`
    const addresses = { PLATFORM_APP_URL: address, PLATFORM_AUTH_URL: address, PLATFORM_API_URL: address }
    const env = await settingsOf({ ...addresses, SHUTDOWN_DELAY_SECONDS: '3' })
    writeFileSync(join(temp.dir, '.env'), 'SESION_SECRET=x\n')
    const program = started(runProgram('src/main.ts', env, { cwd: temp.dir }))
    const url = `http://localhost:${env.PORT}`
    await answering(`${url}/health/live`, program)
    expect(program.output()).toContain('"name":"SESION_SECRET"')
    const visitor = createVisitor()
    await visitor.post(`${url}/sign-in`, { form: { name: 'ann' } })
    await visitor.post(`${url}/connect`)
    const consent = await visitor.get(`${url}/connect/context?bxcontext=ctx`)
    const state = new URL(consent.headers.get('location') ?? '').searchParams.get('state')
    const inFlight = visitor.get(`${url}/connect/callback?code=c&state=${state}`)
    await asked.promise
    program.child.kill('SIGTERM')
    const statusOf = async (path: string) => (await fetch(url + path)).status
    await vi.waitFor(async () => expect(await statusOf('/health/ready')).toBe(503), { interval: 20 })
    expect(await statusOf('/')).toBe(200)
    const refused = { cause: { code: 'ECONNREFUSED' } }
    await vi.waitFor(() => expect(statusOf('/health/live')).rejects.toMatchObject(refused), { interval: 20 })
    respond.resolve()
    expect((await inFlight).headers.get('location')).toBe('/connections')
    expect(await program.exited).toBe(0)
    await platform.close()
  })
})

describe('the command', () => {
  // A process of its own, whose pipe is closed before it prints.
  test('whose reader ends first, such as head, ends quietly', async () => {
    const program = started(runProgram('src/cli/generate-secrets.ts'))
    program.child.stdout?.destroy()
    expect(await program.exited).toBe(0)
    expect(program.output()).toBe('')
  })

  test.each<[script: string, args: string[], env: Record<string, string>, call: string]>([
    ['connections', ['list', 'foo'], { npm_config_status: 'true' }, '-- list --status foo'],
    ['connections', ['list', 'foo'], { npm_config_status: 'active' }, '-- list foo --status active'],
    ['users', ['delete', 'ann'], { npm_config_yes: 'true' }, '-- delete ann --yes'],
    ['add-feature', ['x', 'Site visits'], { npm_config_title: 'true' }, '-- x --title "Site visits"'],
  ])(
    '%s whose option was kept by npm says to add --, with what was given',
    async (script, args, env, call) => {
      const { code, output } = await command(`src/cli/${script}.ts`, env, { args })
      const message = `Add -- before the arguments, for example: npm run ${script} ${call}`
      expect([code, output]).toEqual([1, expect.stringContaining(message)])
    },
  )

  test('keys prints secrets that the settings accept, new ones each time', async () => {
    const [one, two] = [
      await command('src/cli/generate-secrets.ts'),
      await command('src/cli/generate-secrets.ts'),
    ]
    expect(one.output).toMatch(/^SESSION_SECRET=[\w-]{43}\nTOKEN_ENCRYPTION_KEYS=k\w+:[A-Za-z0-9+/]{43}=\n$/)
    expect(two.code).toBe(0)
    expect(one.output).not.toBe(two.output)
  })

  test('a command whose store is not reachable says why, and where to look', async () => {
    const env = testEnv({ ...PLATFORM, REDIS_URL: 'redis://127.0.0.1:9' })
    for (const args of [['src/cli/connections.ts', 'list'], ['src/cli/reencrypt.ts']]) {
      const [script = '', ...rest] = args
      const { code, output } = await command(script, env, { args: rest })
      expect(code).toBe(1)
      expect(output).toMatch(
        /^Redis at 127\.0\.0\.1:9 is not available \(.+\)\. Start it, or correct REDIS_URL\.$/m,
      )
    }
  })

  test('waits for a store that connects in the background', async () => {
    const store = openSqlite({ file: join(temp.dir, 'store.sqlite') })
    const away = new StoreUnavailableError('not connected yet')
    const ping = vi.spyOn(store, 'ping').mockRejectedValueOnce(away).mockRejectedValueOnce(away)
    await waitForStore(store)
    expect(ping).toHaveBeenCalledTimes(3)
    await store.close()
  })

  test('reencrypt encrypts with the first key', async () => {
    const [older, newer] = [newKey('old'), newKey('new')]
    await storeConnection(openSqlite({ file: join(temp.dir, 'store.sqlite') }), older)
    const keys = `${setting(newer)},${setting(older)}`
    const env = testEnv({ ...PLATFORM, DATA_DIR: temp.dir, TOKEN_ENCRYPTION_KEYS: keys })
    const { code, output } = await command('src/cli/reencrypt.ts', env)
    expect(code, output).toBe(0)
    // On a busy machine, lines on its progress come before.
    expect(output).toMatch(/^1 records re-encrypted with the key "new"; 0 already used it\.$/m)
  })

  test('reencrypt leaves records of a missing key as they are and says which key is missing', async () => {
    const file = join(temp.dir, 'store.sqlite')
    await storeConnection(openSqlite({ file }), newKey('old'))
    const before = await storedIn(file)
    const { code, output } = await command(
      'src/cli/reencrypt.ts',
      testEnv({ ...PLATFORM, DATA_DIR: temp.dir }),
    )
    expect(code).toBe(1)
    expect(output).toContain('"old", which is not in TOKEN_ENCRYPTION_KEYS')
    expect(await storedIn(file)).toEqual(before)
  })
})

/** All entries of the user in a store. */
async function storedIn(file: string) {
  const store = openSqlite({ file })
  const entries = await store.ofOwner(REF.userId)
  await store.close()
  return entries
}
