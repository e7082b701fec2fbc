import { connect, createServer, type Server } from 'node:net'
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { platform, Vault } from '../../../src/connect/index.ts'
import { type KeyValueStore, openRedis } from '../../../src/connect/stores.ts'
import { checkStore } from '../../../src/features/first-contact/store.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { createStore } from '../../../src/web/create-store.ts'
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

/** What the doctor finds in the store with these settings. */
async function findings(redisUrls: string[], dataDir = '.data', prepare?: (store: KeyValueStore) => unknown) {
  const { store } = await createStore({ redisUrls, dataDir }, log)
  try {
    await prepare?.(store)
    return await Array.fromAsync(checkStore(store, { redisUrls, dataDir, tokenEncryptionKeys: [key] }))
  } finally {
    await store.close()
  }
}

test('SQLite that works has no problem', async () => {
  const { dir, remove } = tempDir()
  const found = await findings([], dir)
  expect(found.map(({ id, status }) => [id, status])).toEqual([
    ['store', 'ok'],
    ['keys', 'ok'],
  ])
  remove()
})

test('a key that records need and that is missing is named, with the number of its connections', async () => {
  const { dir, remove } = tempDir()
  const problems = problemsOf(
    await findings([], dir, async (store) => {
      const encryptedWith = (id: string) => new Vault({ platform, store, keys: [newKey(id)], oauth })
      for (const [bxcontext, keyId] of Object.entries({ a: 'k1', b: 'lost', c: 'lost' }))
        await consent(encryptedWith(keyId), {}, { ...REF, bxcontext })
    }),
  )
  expect(problems).toMatchObject([{ id: 'store.missing-key', setting: 'TOKEN_ENCRYPTION_KEYS' }])
  expect(problems[0]?.text).toContain('2 of 3 connections need the key "lost"')
  remove()
})

describe('a Redis that is not reachable:', () => {
  let servers: Server[]
  beforeEach(() => {
    servers = []
  })
  afterEach(() => servers.map((server) => server.close()))

  async function listening(server: Server): Promise<string> {
    servers.push(server)
    const port = await freePort()
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    return `127.0.0.1:${port}`
  }

  test('nobody listens', async () => {
    const problems = problemsOf(await findings([`redis://127.0.0.1:${await freePort()}`]))
    expect(problems).toMatchObject([{ id: 'address.refused', status: 'failure', setting: 'REDIS_URL' }])
  })

  test('the host is unknown', async () => {
    expect(problemsOf(await findings(['redis://no-such-host.invalid:6379']))).toMatchObject([
      { id: 'address.unknown-host', setting: 'REDIS_URL' },
    ])
  })

  test('it accepts and does not answer', async () => {
    const host = await listening(createServer(() => {}))
    expect(problemsOf(await findings([`redis://${host}`]))).toMatchObject([
      { id: 'address.timeout', setting: 'REDIS_URL' },
    ])
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

  test('it closes the connection', async () => {
    const host = await listening(createServer((socket) => socket.destroy()))
    expect(problemsOf(await findings([`redis://${host}`]))).toMatchObject([
      { id: 'store.unavailable', setting: 'REDIS_URL' },
    ])
  })
})

describe.skipIf(!REDIS)(`a real Redis${withRedis}`, () => {
  let redis: RedisServer
  afterEach(() => redis.close())

  const hasFailed = async (id: string, url = redis.url) => {
    const problems = problemsOf(await findings([url]))
    expect(problems).toMatchObject([{ id, setting: 'REDIS_URL' }])
    expect(problems[0]?.text).toContain('REDIS_URL')
    expect(JSON.stringify(problems)).not.toContain('wrong-one')
  }

  test('that works has no problem', async () => {
    redis = await startRedis()
    expect(problemsOf(await findings([redis.url]))).toEqual([])
  })

  test('asks for a password', async () => {
    redis = await startRedis()
    const { createClient } = await import('redis')
    const client = createClient({ url: redis.url })
    await client.connect()
    await client.configSet('requirepass', 'right')
    client.destroy()
    await hasFailed('store.password')
    await hasFailed('store.password', redis.url.replace('//', '//:wrong-one@'))
    expect(problemsOf(await findings([redis.url.replace('//', '//:right@')]))).toEqual([])
  })

  test('has no TLS', async () => {
    redis = await startRedis()
    await hasFailed('address.timeout', redis.url.replace('redis:', 'rediss:'))
  })

  test('requires TLS', async () => {
    redis = await startRedis()
    const { key, cert } = CERTIFICATES.valid
    const tls = createTlsServer({ key, cert }, (socket) => {
      const upstream = connect(redis.port, '127.0.0.1')
      socket.pipe(upstream).pipe(socket)
      for (const end of [socket, upstream]) end.on('error', () => {})
    })
    const port = await freePort()
    await new Promise<void>((resolve) => tls.listen(port, '127.0.0.1', resolve))
    await hasFailed('store.unavailable', `redis://127.0.0.1:${port}`)
    await hasFailed('tls.unknown-issuer', `rediss://127.0.0.1:${port}`)
    const usual = getCACertificates('default')
    setDefaultCACertificates([...usual, TEST_CA])
    expect(problemsOf(await findings([`rediss://127.0.0.1:${port}`]))).toEqual([])
    setDefaultCACertificates(usual)
    tls.close()
  })

  test('may evict connections, or forgets them at a restart', async () => {
    redis = await startRedis('--maxmemory-policy', 'allkeys-lru', '--appendonly', 'no', '--save', '')
    const problems = problemsOf(await findings([redis.url]))
    expect(problems.map(({ id, status }) => [id, status])).toEqual([
      ['store.eviction', 'warning'],
      ['store.persistence', 'warning'],
    ])
    expect(problems.every(({ text }) => text.startsWith('REDIS_URL: '))).toBe(true)
  })

  test('is a replica', async () => {
    redis = await startRedis('--replicaof', '127.0.0.1', '1')
    await hasFailed('store.not-writable')
  })

  test('that hides its settings, as a hosted one does, is fine even for --strict, and the doctor says what to check', async () => {
    redis = await startRedis('--rename-command', 'CONFIG', '')
    const found = await findings([redis.url])
    expect(problemsOf(found)).toEqual([])
    expect(found.find(({ id }) => id === 'store.settings')?.text).toContain('maxmemory-policy')
  })

  test('given twice is no cluster, and the doctor says what to write', async () => {
    redis = await startRedis()
    const problems = problemsOf(await findings([redis.url, redis.url.replace('127.0.0.1', 'localhost')]))
    expect(problems).toMatchObject([{ id: 'store.mode', setting: 'REDIS_URL' }])
    expect(problems[0]?.text).toContain('write one address')
  })

  test('that is no Sentinel is named, with what to write', async () => {
    redis = await startRedis()
    const problems = problemsOf(await findings([`redis+sentinel://127.0.0.1:${redis.port}/mymaster`]))
    expect(problems).toMatchObject([{ id: 'store.mode', setting: 'REDIS_URL' }])
    expect(problems[0]?.text).toContain(`write redis://127.0.0.1:${redis.port} in REDIS_URL`)
  })

  test('has no memory left', async () => {
    redis = await startRedis('--maxmemory', '1')
    await hasFailed('store.not-writable')
  })
})
