import { networkInterfaces } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Key, type KeyValueStore, keyName, openRedis } from '../../src/connect/stores.ts'
import { TEST_CA } from '../support/certificates.ts'
import { REDIS, withRedis } from '../support/programs.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { describeStoreContract, type Subject } from '../support/store-contract.ts'
import { REDIS_SENTINEL, withSentinel } from './programs.ts'
import {
  APP_PASSWORD,
  APP_USER,
  CLUSTER_APP_USER,
  isLinked,
  type RedisCluster,
  type RedisSentinels,
  startCluster,
  startSentinel,
  startTlsRedis,
} from './redis-servers.ts'

/** What a busy machine may add to the time of an answer, in ms. */
const BUSY_MS = 3000
/** After this time the nodes of the cluster call a silent one failed, in ms. */
const CLUSTER_TIMEOUT_MS = 2000
/** Within this time after a failover, all works again, in ms. */
const RECOVERY_MS = 2000
/** A failover that takes longer has not happened, in ms. */
const GIVE_UP_MS = 25_000

/** Whether this machine has IPv6. */
const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((each) => each?.address === '::1')
const skipRedis = !REDIS
const skipSentinel = !REDIS || !REDIS_SENTINEL

const keyOf = (owner: string): Key => ({ kind: 'thing', owner, id: 'id' })

const answers = (store: KeyValueStore) => vi.waitFor(() => store.ping(), { timeout: 10_000, interval: 100 })

interface Closeable {
  close(): Promise<void>
}

/** The store on these servers, once it answers. */
async function opened(urls: string[], servers: Closeable): Promise<Subject> {
  let store: KeyValueStore | undefined
  const close = async () => {
    await store?.close()
    await servers.close()
  }
  try {
    store = await openRedis({ urls })
    await answers(store)
    return { store, close }
  } catch (error) {
    await close()
    throw error
  }
}

const asApp = (url: string) => url.replace('//', `//app:${APP_PASSWORD}@`)

const sentinelUrls = ({ addresses, masterName }: RedisSentinels) =>
  addresses.map((address) => `redis+sentinel://${address}/${masterName}`)

describeStoreContract(
  `a Redis with TLS, for a user with no more rights than the app needs${withRedis}`,
  async () => {
    setDefaultCACertificates([...getCACertificates(), TEST_CA])
    const server = await startTlsRedis(...APP_USER)
    return opened([asApp(server.tlsUrl)], server)
  },
  { skip: skipRedis },
)

describeStoreContract(
  `a Redis Cluster of which one address is given, for a user with no more rights than the app needs${withRedis}`,
  async () => {
    const cluster = await startCluster({ settings: CLUSTER_APP_USER })
    return opened(cluster.urls.slice(0, 1).map(asApp), cluster)
  },
  { skip: skipRedis },
)

describeStoreContract(
  `Redis Sentinel, for a user with no more rights than the app needs${withSentinel}`,
  async () => {
    const servers = await startSentinel(...APP_USER)
    return opened(sentinelUrls(servers).map(asApp), servers)
  },
  { skip: skipSentinel },
)

test.skipIf(skipRedis || !hasIpv6)(`a Redis at an IPv6 address is used${withRedis}`, async () => {
  const server = await startRedis()
  const { store, close } = await opened([`redis://[::1]:${server.port}/1`], server)
  try {
    await store.set(keyOf('user'), 'value')
    expect(await store.get(keyOf('user'))).toBe('value')
  } finally {
    await close()
  }
})

describe.skipIf(skipSentinel)(`REDIS_URL in a mode that the servers are not in${withSentinel}`, () => {
  let sentinels: RedisSentinels
  let plain: RedisServer
  beforeAll(async () => {
    ;[sentinels, plain] = await Promise.all([startSentinel(), startRedis()])
  })
  afterAll(() => Promise.all([sentinels?.close(), plain?.close()]))

  test.each([
    ['the address of a sentinel as that of a server', () => [`redis://${sentinels.addresses[0]}`]],
    ['the addresses of servers that are no cluster', () => sentinels.nodes.map(({ url }) => url)],
    [
      'the address of a server as that of a sentinel',
      () => [`redis+sentinel://127.0.0.1:${plain.port}/mymaster`],
    ],
    [
      'a master that no sentinel knows',
      () => sentinels.addresses.map((each) => `redis+sentinel://${each}/unknown`),
    ],
  ])('is reported with its cure: %s', async (_what, urls) => {
    const reasons: (string | undefined)[] = []
    const store = await openRedis({
      urls: urls(),
      onState: (state, reason) => void (state === 'lost' && reasons.push(reason)),
    })
    try {
      await expect.poll(() => reasons[0], { timeout: 10_000 }).toMatch(/REDIS_URL|redis\+sentinel:\/\//)
    } finally {
      await store.close()
    }
  })
})

/** What callers saw from the failure of a master until all worked again. Times are in ms after the failure. */
interface Outage {
  failoverAt: number
  /** When a write and a read of the user whose values the master had succeeded again; infinite if they did not. */
  worksAt: number
  others: { slowest: number; failures: string[] }
  /** When the last ping that failed was sent. */
  lastFailedPingAt: number
}

interface Failing {
  store: KeyValueStore
  /** Of the user whose values the master has. */
  key: Key
  /** Of users whose values other masters have. */
  otherKeys: Key[]
  fail(): unknown
  hasFailedOver(): Promise<boolean>
}

async function observe({ store, key, otherKeys, fail, hasFailedOver }: Failing): Promise<Outage> {
  const outage: Outage = {
    failoverAt: Number.POSITIVE_INFINITY,
    worksAt: Number.POSITIVE_INFINITY,
    others: { slowest: 0, failures: [] },
    lastFailedPingAt: 0,
  }
  const startedAt = performance.now()
  const now = () => performance.now() - startedAt
  const isOver = () =>
    now() > Math.min(outage.failoverAt + RECOVERY_MS + BUSY_MS, GIVE_UP_MS) ||
    (Number.isFinite(outage.failoverAt) && Number.isFinite(outage.worksAt))
  const repeat = async (attempt: () => Promise<unknown>) => {
    for (; !isOver(); await pause(50)) await attempt()
  }
  await fail()
  await Promise.all([
    repeat(async () => {
      if (!Number.isFinite(outage.failoverAt) && (await hasFailedOver().catch(() => false)))
        outage.failoverAt = now()
    }),
    repeat(async () => {
      if (Number.isFinite(outage.worksAt)) return
      const rewritten = async () => {
        await store.set(key, 'after')
        return (await store.get(key)) === 'after'
      }
      if (await rewritten().catch(() => false)) outage.worksAt = now()
    }),
    repeat(async () => {
      const at = now()
      await store.ping().catch(() => {
        outage.lastFailedPingAt = at
      })
    }),
    ...otherKeys.map((other) =>
      repeat(async () => {
        const at = now()
        await store.get(other).catch((error) => outage.others.failures.push(error.reason))
        outage.others.slowest = Math.max(outage.others.slowest, now() - at)
      }),
    ),
  ])
  return outage
}

/** Everything can be read and written, 20 times in a row. */
async function worksSteadily(store: KeyValueStore, keys: Key[]): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    for (const key of keys) {
      await store.set(key, `turn ${turn}`)
      expect(await store.get(key)).toBe(`turn ${turn}`)
    }
    await store.ping()
    await pause(50)
  }
}

const rejoins = (node: RedisServer) => vi.waitFor(async () => expect(await isLinked(node)).toBe(true), 60_000)

describe.skipIf(skipRedis).each<{
  what: string
  host: string
  fail(node: RedisServer): unknown
  recover(node: RedisServer): unknown
  isOnlyAddress: boolean
}>([
  {
    what: `${hasIpv6 ? 'at IPv6 addresses ' : ''}is frozen`,
    host: hasIpv6 ? '::1' : '127.0.0.1',
    fail: (node: RedisServer) => node.signal('SIGSTOP'),
    recover: (node: RedisServer) => node.signal('SIGCONT'),
    isOnlyAddress: false,
  },
  {
    what: 'is killed',
    host: '127.0.0.1',
    fail: (node: RedisServer) => node.kill(),
    recover: (node: RedisServer) => node.start(),
    isOnlyAddress: false,
  },
  {
    what: 'whose address is the only one that was given is frozen',
    host: '127.0.0.1',
    fail: (node: RedisServer) => node.signal('SIGSTOP'),
    recover: (node: RedisServer) => node.signal('SIGCONT'),
    isOnlyAddress: true,
  },
])(`if a master of a Redis Cluster $what${withRedis}`, ({ host, fail, recover, isOnlyAddress }) => {
  let cluster: RedisCluster
  let store: KeyValueStore
  let outage: Outage
  let failed: RedisServer
  const key = keyOf('user')
  const otherKeys: Key[] = []

  beforeAll(async () => {
    // By Redis's default, no node answers anything while one master is missing.
    const settings = ['--cluster-require-full-coverage', 'no']
    cluster = await startCluster({ replicas: true, settings, host })
    // On a busy machine, a master may just be failing over.
    failed = await vi.waitFor(() => cluster.masterOf(keyName(key)), { timeout: 20_000, interval: 100 })
    store = await openRedis({ urls: isOnlyAddress ? [failed.url] : cluster.urls })
    await answers(store)
    const masters = new Set([failed])
    for (let number = 0; masters.size < 3; number++) {
      const other = keyOf(`other-${number}`)
      const master = await cluster.masterOf(keyName(other))
      if (!masters.has(master)) otherKeys.push(other)
      masters.add(master)
    }
    for (const each of [key, ...otherKeys]) await store.set(each, 'before')
    const hasFailedOver = async () => (await cluster.masterOf(keyName(key))) !== failed
    outage = await observe({ store, key, otherKeys, fail: () => fail(failed), hasFailedOver })
  })
  afterAll(async () => {
    await store?.close()
    await cluster?.close()
  })

  test('its replica takes over', () => {
    expect(outage.failoverAt).toBeLessThan(GIVE_UP_MS)
  })

  test('the values that it had can be read and written soon after that', () => {
    expect(outage.worksAt).toBeLessThan(outage.failoverAt + RECOVERY_MS + BUSY_MS)
  })

  test('the values of the other masters are read all the time', () => {
    expect(outage.others.failures).toEqual([])
    expect(outage.others.slowest).toBeLessThan(2000 + BUSY_MS)
  })

  test('the store as a whole is available again when the cluster knows of it', () => {
    expect(outage.lastFailedPingAt).toBeLessThan(CLUSTER_TIMEOUT_MS + BUSY_MS)
  })

  test('nothing breaks when it is back', async () => {
    await recover(failed)
    await rejoins(failed)
    await worksSteadily(store, [key, ...otherKeys])
  })
})

test.skipIf(skipRedis).each<[string, (node: RedisServer) => unknown]>([
  ['frozen', (node) => node.signal('SIGSTOP')],
  ['killed', (node) => node.kill()],
])(
  `a process that starts while a master of a Redis Cluster is %s serves its users after the failover, and answers within two seconds before${withRedis}`,
  async (_what, fail) => {
    const cluster = await startCluster({
      replicas: true,
      settings: ['--cluster-require-full-coverage', 'no'],
    })
    const key = keyOf('user')
    const failed = await cluster.masterOf(keyName(key))
    const others = cluster.urls.filter((url) => url !== failed.url)
    await fail(failed)
    const { store, close } = await opened(others, cluster)
    const hasFailedOver = async () => (await cluster.masterOf(keyName(key))) !== failed
    let slowest = 0
    const write = async () => {
      const sentAt = performance.now()
      const result = await store.set(key, 'written').catch(({ status }) => status)
      slowest = Math.max(slowest, performance.now() - sentAt)
      return result
    }
    while (!(await hasFailedOver().catch(() => false))) await write()
    const failedOverAt = performance.now()
    while ((await write()) !== undefined) await pause(20)
    expect(performance.now() - failedOverAt).toBeLessThan(RECOVERY_MS + BUSY_MS)
    expect(slowest).toBeLessThan(2_000 + BUSY_MS)
    await close()
  },
)

describe.skipIf(skipSentinel).each([
  {
    what: 'the master is frozen',
    fail: (master: RedisServer) => master.signal('SIGSTOP'),
    recover: (master: RedisServer) => master.signal('SIGCONT'),
  },
  {
    what: 'the master is killed',
    fail: (master: RedisServer) => master.kill(),
    recover: (master: RedisServer) => master.start(),
  },
  {
    what: 'the master is frozen and a sentinel with it',
    fail: (master: RedisServer, { sentinels: [sentinel] }: RedisSentinels) => {
      sentinel?.signal('SIGSTOP')
      master.signal('SIGSTOP')
    },
    recover: (master: RedisServer, { sentinels: [sentinel] }: RedisSentinels) => {
      sentinel?.signal('SIGCONT')
      master.signal('SIGCONT')
    },
  },
])(`with Redis Sentinel, if $what${withSentinel}`, ({ fail, recover }) => {
  let servers: RedisSentinels
  let store: KeyValueStore
  let outage: Outage
  let failed: RedisServer
  const key = keyOf('user')

  beforeAll(async () => {
    servers = await startSentinel()
    store = await openRedis({ urls: sentinelUrls(servers) })
    await answers(store)
    failed = await servers.master()
    await store.set(key, 'before')
    const hasFailedOver = async () => (await servers.master()) !== failed
    outage = await observe({ store, key, otherKeys: [], fail: () => fail(failed, servers), hasFailedOver })
  })
  afterAll(async () => {
    await store?.close()
    await servers?.close()
  })

  test('the replica takes over', () => {
    expect(outage.failoverAt).toBeLessThan(GIVE_UP_MS)
  })

  test('values can be read and written soon after that', () => {
    expect(outage.worksAt).toBeLessThan(outage.failoverAt + RECOVERY_MS + BUSY_MS)
  })

  test('nothing breaks when the former master is back', async () => {
    await recover(failed, servers)
    await rejoins(failed)
    await worksSteadily(store, [key])
  })
})
