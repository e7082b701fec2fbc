import { connect, createServer, type Server } from 'node:net'
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { platform, Vault } from '../../../src/connect/index.ts'
import { type KeyValueStore, openRedis } from '../../../src/connect/stores.ts'
import { checkStore } from '../../../src/features/setup/store.ts'
import { createStore } from '../../../src/runtime/create-store.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { CERTIFICATES, TEST_CA } from '../../support/certificates.ts'
import { tempDir } from '../../support/env.ts'
import { freePort } from '../../support/ports.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { consent, newKey, oauthFor, REF } from '../../support/vault.ts'
import { problemsOf } from './support.ts'

const key = newKey('k1')
const log = createLog('silent')
const oauth = oauthFor('http://127.0.0.1:1')
const client = { clientId: 'client', clientSecret: 'client secret' }

interface Options {
  prepare?(store: KeyValueStore): unknown
  /** For a store that does not answer; by default, any machine is fast enough. */
  timeoutMs?: number
}

/** The doctor's findings about a store, which is embedded if there are no Redis addresses. */
async function findings(redisUrls: string[], { prepare, timeoutMs = 60_000 }: Options = {}) {
  const { dir: dataDir, remove } = tempDir()
  const { store } = await createStore({ redisUrls, dataDir }, log)
  try {
    await prepare?.(store)
    const settings = { redisUrls, dataDir, tokenEncryptionKeys: [key], platform: client }
    return await Array.fromAsync(checkStore(store, settings, timeoutMs))
  } finally {
    await store.close()
    remove()
  }
}

test('SQLite that works has no problem', async () => {
  const found = await findings([])
  expect(found.map(({ id, status }) => [id, status])).toEqual([
    ['store', 'ok'],
    ['keys', 'ok'],
  ])
})

test('that the platform refuses the client id or the secret is a problem, for this secret only', async () => {
  const refused = (clientSecret: string) => async (store: KeyValueStore) => {
    const vault = new Vault({ platform, store, keys: [key], oauth, client: { ...client, clientSecret } })
    await vault.credentials.note(true)
  }
  expect(problemsOf(await findings([], { prepare: refused('another secret') }))).toEqual([])
  expect(problemsOf(await findings([], { prepare: refused(client.clientSecret) }))).toMatchObject([
    { id: 'token.refused' },
  ])
})

test('a key that records need and that is missing is named, with the number of its connections', async () => {
  const prepare = async (store: KeyValueStore) => {
    const encryptedWith = (id: string) => new Vault({ platform, store, keys: [newKey(id)], oauth })
    for (const [bxcontext, keyId] of Object.entries({ a: 'k1', b: 'lost', c: 'lost' }))
      await consent(encryptedWith(keyId), {}, { ...REF, bxcontext })
  }
  const problems = problemsOf(await findings([], { prepare }))
  expect(problems).toMatchObject([{ id: 'store.missing-key', setting: 'TOKEN_ENCRYPTION_KEYS' }])
  expect(problems[0]?.text).toContain('2 of 3 connections need the key "lost"')
})

describe('a Redis that is not reachable:', () => {
  async function listening(server: Server): Promise<string> {
    onTestFinished(() => void server.close())
    const port = await freePort()
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    return `127.0.0.1:${port}`
  }

  test.each<[string, () => string | Promise<string>, id: string, options?: Options]>([
    ['nobody listens', async () => `127.0.0.1:${await freePort()}`, 'address.refused'],
    ['the host is unknown', () => 'no-such-host.invalid:6379', 'address.unknown-host'],
    [
      'it accepts and does not answer',
      () => listening(createServer(() => {})),
      'address.timeout',
      { timeoutMs: 300 },
    ],
    [
      'it closes the connection',
      () => listening(createServer((socket) => socket.destroy())),
      'store.unavailable',
    ],
  ])('%s', async (_what, host, id, options = {}) => {
    const problems = problemsOf(await findings([`redis://${await host()}`], options))
    expect(problems).toMatchObject([{ id, status: 'failure', setting: 'REDIS_URL' }])
  })

  test('the doctor tells you to start Redis, and not the sandbox', async () => {
    const [problem] = problemsOf(await findings([`redis://127.0.0.1:${await freePort()}`]))
    expect(problem?.text).toContain('Start the server')
    expect(problem?.text).not.toMatch(/sandbox|proxy/)
  })

  test('it is too old, and repeats the password in its error, which nobody sees', async () => {
    const error =
      "-ERR unknown command 'HELLO', with args beginning with: '3', 'AUTH', 'default', 'S3cretPw'\r\n"
    const host = await listening(createServer((socket) => socket.on('data', () => socket.write(error))))
    const problems = problemsOf(await findings([`redis://default:S3cretPw@${host}`]))
    expect(problems).toMatchObject([{ id: 'store.unavailable', setting: 'REDIS_URL' }])
    expect(problems[0]?.text).toContain('version 6')
    expect(JSON.stringify(problems)).not.toContain('S3cretPw')
    const reasons: (string | undefined)[] = []
    const store = await openRedis({
      urls: [`redis://default:S3cretPw@${host}`],
      onState: (_state, reason) => reasons.push(reason),
    })
    await vi.waitFor(() => expect(reasons).not.toEqual([]))
    await store.close()
    expect(JSON.stringify(reasons)).not.toContain('S3cretPw')
  })
})

describe.skipIf(!REDIS)(`a real Redis${withRedis}`, () => {
  let redis: RedisServer
  let admin: ReturnType<typeof createClient>
  beforeAll(async () => {
    redis = await startRedis()
    admin = createClient({ url: redis.url })
    await admin.connect()
  })
  afterAll(async () => {
    admin.destroy()
    await redis.close()
  })
  /** Runs a command, and undoes it with another command after the test. */
  async function until(change: string[], undo: string[]): Promise<void> {
    await admin.sendCommand(change)
    onTestFinished(async () => void (await admin.sendCommand(undo)))
  }
  const set = (name: string, value: string, usual: string) =>
    until(['CONFIG', 'SET', name, value], ['CONFIG', 'SET', name, usual])

  const expectFailure = async (url: string, id: string, options: Options = {}) => {
    const problems = problemsOf(await findings([url], options))
    expect(problems).toMatchObject([{ id, setting: 'REDIS_URL' }])
    expect(problems[0]?.text).toContain('REDIS_URL')
    expect(JSON.stringify(problems)).not.toContain('wrong-one')
  }

  test('that works has no problem', async () => {
    expect(problemsOf(await findings([redis.url]))).toEqual([])
  })

  test('asks for a password', async () => {
    await set('requirepass', 'right', '')
    await expectFailure(redis.url, 'store.password')
    await expectFailure(redis.url.replace('//', '//:wrong-one@'), 'store.password')
    const [missing] = problemsOf(await findings([redis.url.replace('//', '//lost:wrong-one@')]))
    expect(missing?.text).toContain('create the user in Redis again')
    expect(problemsOf(await findings([redis.url.replace('//', '//:right@')]))).toEqual([])
  })

  test('has no TLS', async () => {
    await expectFailure(redis.url.replace('redis:', 'rediss:'), 'address.timeout', { timeoutMs: 300 })
  })

  test('requires TLS', async () => {
    const { key, cert } = CERTIFICATES.valid
    const tls = createTlsServer({ key, cert }, (socket) => {
      const upstream = connect(redis.port, '127.0.0.1')
      socket.pipe(upstream).pipe(socket)
      for (const end of [socket, upstream]) end.on('error', () => {})
    })
    const port = await freePort()
    await new Promise<void>((resolve) => tls.listen(port, '127.0.0.1', resolve))
    await expectFailure(`redis://127.0.0.1:${port}`, 'store.unavailable')
    await expectFailure(`rediss://127.0.0.1:${port}`, 'tls.unknown-issuer')
    const known = getCACertificates('default')
    setDefaultCACertificates([...known, TEST_CA])
    expect(problemsOf(await findings([`rediss://127.0.0.1:${port}`]))).toEqual([])
    setDefaultCACertificates(known)
    tls.close()
  })

  test('may evict connections, or forgets them at a restart', async () => {
    await set('maxmemory-policy', 'allkeys-lru', 'noeviction')
    await set('appendonly', 'no', 'yes')
    await set('save', '', '3600 1')
    const problems = problemsOf(await findings([redis.url]))
    expect(problems.map(({ id, status }) => [id, status])).toEqual([
      ['store.eviction', 'warning'],
      ['store.persistence', 'warning'],
    ])
    expect(problems.every(({ text }) => text.startsWith('REDIS_URL: '))).toBe(true)
  })

  test.each([
    ['is a replica', () => until(['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE'])],
    ['has no memory left', () => set('maxmemory', '1', '0')],
  ])('%s', async (_what, change) => {
    await change()
    await expectFailure(redis.url, 'store.not-writable')
  })

  test('that hides its settings, as a hosted one does, is fine even for --strict, and the doctor says what to check', async () => {
    await admin.sendCommand(['ACL', 'SETUSER', 'hosted', 'on', '>right', '~*', '&*', '+@all', '-config'])
    const found = await findings([redis.url.replace('//', '//hosted:right@')])
    expect(problemsOf(found)).toEqual([])
    expect(found.find(({ id }) => id === 'store.settings')?.text).toContain('maxmemory-policy')
  })

  test.each<[string, (url: string) => string[], said: (url: string) => string]>([
    [
      'given twice is no cluster',
      (url) => [url, url.replace('127.0.0.1', 'localhost')],
      () => 'write one address',
    ],
    [
      'that is no Sentinel',
      (url) => [`${url.replace('redis:', 'redis+sentinel:')}/mymaster`],
      (url) => `write ${url} in REDIS_URL`,
    ],
  ])('%s, and the doctor says what to write', async (_what, urls, said) => {
    const problems = problemsOf(await findings(urls(redis.url)))
    expect(problems).toMatchObject([{ id: 'store.mode', setting: 'REDIS_URL' }])
    expect(problems[0]?.text).toContain(said(redis.url))
  })
})
