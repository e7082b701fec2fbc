import { networkInterfaces } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { createClient } from 'redis'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { type Key, type KeyValueStore, keyName, openRedis } from '../../src/connect/stores.ts'
import { startAll } from '../support/app.ts'
import { TEST_CA } from '../support/certificates.ts'
import { connected } from '../support/flow.ts'
import { REDIS, withRedis } from '../support/programs.ts'
import { type RedisServer, ready } from '../support/redis.ts'
import { describeStoreContract } from '../support/store-contract.ts'
import { REDIS_SENTINEL, withSentinel } from './programs.ts'
import {
  APP_PASSWORD,
  APP_USER,
  CLUSTER_APP_USER,
  isLinked,
  type RedisServers,
  SENTINEL_APP_USER,
  type SentinelServers,
  startCluster,
  startSentinel,
  startTlsRedis,
} from './redis-servers.ts'

/** How much longer an answer may take on a busy machine, in ms. */
const BUSY_MS = 3000
/** The time after a failover within which everything must work again, in ms. */
const RECOVERY_MS = 2000
/** After this time, in ms, a cluster considers a silent node failed. */
const CLUSTER_TIMEOUT_MS = 2000

/** An IPv6 address, if this machine has them. */
const HOST = Object.values(networkInterfaces())
  .flat()
  .some((each) => each?.address === '::1')
  ? '::1'
  : '127.0.0.1'
const skipSentinel = !REDIS || !REDIS_SENTINEL

const keyOf = (owner: string): Key => ({ kind: 'thing', owner, id: 'id' })

const asApp = (url: string) => url.replace('//', `//app:${APP_PASSWORD}@`)

/** The servers of each mode. The tests share them, so each test repairs the servers that it broke. */
let cluster: RedisServers
let replicated: RedisServers
let sentinels: SentinelServers
beforeAll(async () => {
  if (!REDIS) return
  // By default, no node of a Redis Cluster answers while a master is missing.
  const partial = ['--cluster-require-full-coverage', 'no']
  ;[cluster, replicated] = await Promise.all([
    startCluster({ settings: CLUSTER_APP_USER }),
    startCluster({ replicas: true, settings: partial, host: HOST }),
  ])
  if (skipSentinel) return
  sentinels = await startSentinel({ settings: APP_USER, sentinelLines: SENTINEL_APP_USER })
})
afterAll(() => Promise.all([cluster, replicated, sentinels].map((servers) => servers?.close())))

/** The store at these addresses, once it answers. */
async function opened(urls: string[]) {
  const store = await openRedis({ urls })
  await vi.waitFor(() => store.ping(), { interval: 100 })
  return { store, close: () => store.close() }
}

describeStoreContract(
  `a Redis with TLS, for a user with no more rights than the app needs${withRedis}`,
  async () => {
    setDefaultCACertificates([...getCACertificates(), TEST_CA])
    const server = await startTlsRedis(...APP_USER)
    const { store, close } = await opened([asApp(server.tlsUrl)])
    return { store, close: () => close().then(server.close) }
  },
  { skip: !REDIS },
)

describeStoreContract(
  `a Redis Cluster of which one address is given, for a user with no more rights than the app needs${withRedis}`,
  () => opened(cluster.urls.slice(0, 1).map(asApp)),
  { skip: !REDIS },
)

describeStoreContract(
  `Redis Sentinel, for a user with no more rights than the app needs${withSentinel}`,
  () => opened(sentinels.urls.map(asApp)),
  { skip: skipSentinel },
)

const sentinelOf = ({ port }: { port: number }, name = 'mymaster') =>
  `redis+sentinel://app:${APP_PASSWORD}@127.0.0.1:${port}/${name}`

test.skipIf(skipSentinel).each([
  [
    'the address of a sentinel as that of a server',
    () => sentinels.sentinels.slice(0, 1).map(({ port }) => `redis://127.0.0.1:${port}`),
  ],
  ['the addresses of servers that are no cluster', () => sentinels.nodes.map(({ url }) => url)],
  [
    'the address of a server as that of a sentinel',
    () => sentinels.nodes.slice(1).map((node) => sentinelOf(node)),
  ],
  ['a master that no sentinel knows', () => sentinels.sentinels.map((each) => sentinelOf(each, 'unknown'))],
])(
  `a REDIS_URL in a mode that the servers are not in is reported with its cure: %s${withSentinel}`,
  async (_what, urls) => {
    const reason = async () => {
      const lost = Promise.withResolvers<string | undefined>()
      const onState = (state: string, why?: string) => void (state === 'lost' && lost.resolve(why))
      const store = await openRedis({ urls: urls(), onState })
      return lost.promise.finally(() => store.close())
    }
    // On a busy machine, the first reason may be that it does not answer in time.
    await expect.poll(reason).toMatch(/REDIS_URL|redis\+sentinel:\/\//)
  },
)

test.skipIf(!REDIS)(
  `the app on a Redis Cluster connects an account and calls the API, with its sessions there as well${withRedis}`,
  async () => {
    const app = await startAll({ REDIS_URL: cluster.urls.join(',') })
    onTestFinished(app.close)
    await ready(app.services.store)
    const visitor = await connected(app)
    expect((await visitor.get(`${app.url}/connections/harbour-homes/probe`)).status).toBe(200)
  },
)

/** Whether a value of this key can be written and read. */
const canRewrite = async (store: KeyValueStore, key: Key) => {
  await store.set(key, 'after')
  return (await store.get(key)) === 'after'
}

interface Failed {
  /** The master that has failed. */
  failed: RedisServer
  store: KeyValueStore
  /** A key whose value that master had. */
  key: Key
  /** Keys of other masters. */
  others: Key[]
}

/** Uses the store of a cluster until another master serves `key` and its values can be written again. Times are in ms after the start. */
async function observe({ failed, store, key, others }: Failed) {
  const startedAt = performance.now()
  const now = () => performance.now() - startedAt
  const seen = { failoverAt: 0, worksAt: 0, lastFailedPingAt: 0, slowestOther: 0, failures: [] as unknown[] }
  const repeat = async (attempt: () => Promise<unknown>) => {
    while (!seen.worksAt) await attempt().then(() => pause(50))
  }
  await Promise.all([
    repeat(async () => {
      const master = await replicated.masterOf(keyName(key)).catch(() => failed)
      if (master !== failed) seen.failoverAt ||= now()
    }),
    repeat(async () => {
      const works = await canRewrite(store, key).catch(() => false)
      if (works && seen.failoverAt) seen.worksAt = now()
    }),
    repeat(async () => {
      const at = now()
      await store.ping().catch(() => {
        seen.lastFailedPingAt = at
      })
    }),
    ...others.map((other) =>
      repeat(async () => {
        const at = now()
        await store.get(other).catch((error) => seen.failures.push(error.reason))
        seen.slowestOther = Math.max(seen.slowestOther, now() - at)
      }),
    ),
  ])
  expect(seen.worksAt - seen.failoverAt).toBeLessThan(RECOVERY_MS + BUSY_MS)
  return seen
}

/** Everything can be read and written, 20 times in a row. */
async function worksSteadily(store: KeyValueStore, keys: Key[]): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    for (const key of keys) expect(await canRewrite(store, key)).toBe(true)
    await store.ping()
    await pause(50)
  }
}

test.skipIf(!REDIS)(
  `a Redis Cluster is ready while one master takes writes, and those that refuse are named${withRedis}`,
  async () => {
    const told: (string | null)[] = []
    const store = await openRedis({ urls: cluster.urls, onRefusal: (reason) => void told.push(reason) })
    const clients = await Promise.all(cluster.urls.map((url) => createClient({ url }).connect()))
    onTestFinished(async () => {
      for (const client of clients) {
        await client.configSet('maxmemory', '0')
        client.destroy()
      }
      await store.close()
    })
    await vi.waitFor(() => store.ping(), { interval: 100 })
    const [first, ...others] = clients
    for (const client of others) await client.configSet({ maxmemory: '1', 'maxmemory-policy': 'noeviction' })
    await vi.waitFor(async () => {
      await store.ping()
      expect(told.at(-1)?.match(/refuses writes: OOM/g)).toHaveLength(others.length)
    })
    for (const url of cluster.urls.slice(1)) expect(told.at(-1)).toContain(`:${new URL(url).port} `)
    await first?.configSet({ maxmemory: '1', 'maxmemory-policy': 'noeviction' })
    await expect(store.ping()).rejects.toMatchObject({ reason: expect.stringContaining('refuses writes') })
  },
)

const frozen = {
  fail: (node: RedisServer) => node.signal('SIGSTOP'),
  recover: (node: RedisServer) => node.signal('SIGCONT'),
}
const killed = { fail: (node: RedisServer) => node.kill(), recover: (node: RedisServer) => node.start() }
/** The address of a node, as clients of the cluster have it. */
const urlOf = (node: RedisServer) => replicated.urls[replicated.nodes.indexOf(node)] ?? ''

test.skipIf(!REDIS).each([
  { what: 'whose address is the only one that was given is frozen', isOnlyAddress: true, ...frozen },
  { what: 'is killed', isOnlyAddress: false, ...killed },
])(
  `if a master of a Redis Cluster $what, its values are available within seconds after the failover, those of the others all the time, and nothing breaks when it is back${withRedis}`,
  async ({ isOnlyAddress, fail, recover }) => {
    const key = keyOf('user')
    // On a busy machine, an unrelated failover may still be under way.
    const failed = await vi.waitFor(() => replicated.masterOf(keyName(key)), { interval: 100 })
    const { store, close } = await opened(isOnlyAddress ? [urlOf(failed)] : replicated.urls)
    onTestFinished(close)
    const ofMaster = new Map([[failed, key]])
    for (let number = 0; ofMaster.size < 3; number++) {
      const other = keyOf(`other-${number}`)
      const master = await replicated.masterOf(keyName(other))
      if (!ofMaster.has(master)) ofMaster.set(master, other)
    }
    const keys = [...ofMaster.values()]
    for (const each of keys) await store.set(each, 'before')
    await fail(failed)
    const outage = await observe({ failed, store, key, others: keys.slice(1) })
    expect(outage.failures).toEqual([])
    expect(outage.slowestOther).toBeLessThan(2000 + BUSY_MS)
    expect(outage.lastFailedPingAt, 'the store as a whole').toBeLessThan(CLUSTER_TIMEOUT_MS + BUSY_MS)
    await recover(failed)
    await vi.waitFor(async () => expect(await isLinked(failed)).toBe(true))
    await worksSteadily(store, keys)
  },
)

test.skipIf(!REDIS)(
  `a process that starts while a master of a Redis Cluster is frozen serves its users after the failover, and answers within two seconds before${withRedis}`,
  async () => {
    const key = keyOf('user')
    const failed = await vi.waitFor(() => replicated.masterOf(keyName(key)), { interval: 100 })
    failed.signal('SIGSTOP')
    const { store, close } = await opened(replicated.urls.filter((url) => url !== urlOf(failed)))
    onTestFinished(close)
    let slowest = 0
    const write = async () => {
      const sentAt = performance.now()
      const result = await store.set(key, 'written').catch(({ status }) => status)
      slowest = Math.max(slowest, performance.now() - sentAt)
      return result
    }
    while ((await replicated.masterOf(keyName(key)).catch(() => failed)) === failed) await write()
    const failedOverAt = performance.now()
    while ((await write()) !== undefined) await pause(20)
    expect(performance.now() - failedOverAt).toBeLessThan(RECOVERY_MS + BUSY_MS)
    expect(slowest).toBeLessThan(2000 + BUSY_MS)
  },
)
