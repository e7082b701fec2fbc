/** A Redis Cluster, a master with Sentinels, and a Redis that speaks TLS. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { CERTIFICATES, TEST_CA } from '../support/certificates.ts'
import { freePort } from '../support/ports.ts'
import { ask, killed, type RedisServer, spawnServer, startRedis } from '../support/redis.ts'
import { REDIS_SENTINEL } from './programs.ts'

/** Resolves when the condition holds. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await holds()); await pause(50))
    if (Date.now() > deadline) throw new Error(`${what} did not happen within a minute`)
}

/** Undefined if it does not answer. */
export const isMaster = async (node: RedisServer) => (await ask(node, 'role'))?.includes('\nmaster')

/** Whether it is a replica that has everything its master has. */
export const isLinked = async (node: RedisServer) =>
  (await ask(node, 'info', 'replication'))?.includes('master_link_status:up') === true

/** The password of the user `app`. */
export const APP_PASSWORD = 'app-secret'

/** The settings of a server with a user `app` that has only the permissions that the app needs. */
export const APP_USER =
  `--user app on >${APP_PASSWORD} resetchannels ~connect:* +get +set +del +mget +zadd +zrem +zrange +zcard +scan +eval +evalsha +info|server +client|tracking +config|get`.split(
    ' ',
  )
/** The same settings for a node of a Redis Cluster. */
export const CLUSTER_APP_USER = [...APP_USER, '+cluster|slots']

/** A Sentinel that asks this user for a login, as lines of its file. */
export const SENTINEL_APP_USER = [
  'user default on nopass ~* &* +@all -sentinel|master',
  `user app on >${APP_PASSWORD} resetchannels &+switch-master &+try-failover +subscribe +sentinel|master +sentinel|get-master-addr-by-name`,
]

export interface RedisServers {
  /** Their addresses, as `REDIS_URL` has them. */
  urls: string[]
  nodes: RedisServer[]
  /** The node that serves a key now, according to most of the nodes that answer. Throws if there is none. */
  masterOf(key?: string): Promise<RedisServer>
  close(): Promise<void>
}

/**
 * Three masters of a Redis Cluster, each with a replica if you like, which takes over after 3 to 7 seconds. `host`: the
 * address at which the nodes reach each other, and clients reach them.
 */
export async function startCluster({
  replicas = false,
  settings = [] as string[],
  host = '127.0.0.1',
} = {}): Promise<RedisServers> {
  const count = replicas ? 6 : 3
  const nodeSettings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000', ...settings]
  const nodes = await Promise.all(Array.from({ length: count }, () => startRedis(...nodeSettings)))
  const addresses = nodes.map(({ port }) => `${host}:${port}`)
  const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', replicas ? '1' : '0']
  execFileSync('redis-cli', [...create, '--cluster-yes'], { stdio: 'ignore' })
  await until('a complete cluster', async () => {
    const infos = await Promise.all(nodes.map((node) => ask(node, 'cluster', 'info')))
    const areMasters = await Promise.all(nodes.map(isMaster))
    const isComplete = infos.every((info) => info?.includes('cluster_state:ok'))
    if (!isComplete || areMasters.filter(Boolean).length !== 3) return false
    const areLinked = await Promise.all(nodes.map(isLinked))
    return nodes.every((_node, index) => areMasters[index] || areLinked[index])
  })
  return {
    urls: nodes.map(({ url }) => (host === '::1' ? url.replace('127.0.0.1', '[::1]') : url)),
    nodes,
    async masterOf(key = '') {
      // Other nodes answer MOVED, even a replica of the right master. A master without a majority answers CLUSTERDOWN.
      const answers = await Promise.all(nodes.map((node) => ask(node, 'exists', key)))
      const master = nodes.find((_node, index) => answers[index]?.startsWith(':'))
      if (!master) throw new Error(`no node serves ${key}`)
      return master
    },
    close: async () => void (await Promise.all(nodes.map((node) => node.close()))),
  }
}

export interface SentinelServers extends RedisServers {
  sentinels: Sentinel[]
  /** A planned failover. The first master keeps running. Resolves when most sentinels name another one. */
  failOver(): Promise<void>
  /** Cuts the first master off from the replicas and the sentinels, but not from clients. */
  cutOff(): void
}

type Sentinel = Pick<RedisServer, 'port' | 'signal' | 'close'>

const MASTER_NAME = 'mymaster'

/**
 * The address from which the servers and sentinels connect, so that a test can cut a master off from them. Tests and the app
 * connect from another address.
 */
const INSIDE = '127.0.0.2'

/**
 * A master, its replicas, and three sentinels of which two decide. A replica takes over 3 to 6 seconds after a failure.
 * `cutOff` keeps the first master from all of them, but not from clients.
 */
export async function startSentinel({
  settings = [] as string[],
  replicas = 1,
  sentinelLines = [] as string[],
} = {}): Promise<SentinelServers> {
  const own = [
    ...settings,
    '--bind-source-addr',
    INSIDE,
    '--replica-announce-ip',
    '127.0.0.1',
    '--bind',
    '127.0.0.1',
    '--protected-mode',
    'no',
  ]
  const proxyPort = await freePort()
  const server = await startRedis(...own, '--replica-announce-port', String(proxyPort))
  const proxy = await cuttingProxy(proxyPort, server.port)
  const master = {
    ...server,
    port: proxyPort,
    url: server.url.replace(String(server.port), String(proxyPort)),
  }
  const startReplica = () => startRedis('--replicaof', '127.0.0.1', String(proxyPort), ...own)
  const others = await Promise.all(Array.from({ length: replicas }, startReplica))
  const nodes = [master, ...others]
  await until('the first replication', async () => (await Promise.all(others.map(isLinked))).every(Boolean))
  const sentinels = await Promise.all(
    Array.from({ length: 3 }, () => startOneSentinel(proxyPort, sentinelLines)),
  )
  const masterPort = async (sentinel: Sentinel) => {
    const address = await ask(sentinel, 'sentinel', 'get-master-addr-by-name', MASTER_NAME)
    return Number(/\r\n(\d+)\r\n/.exec(address ?? '')?.[1])
  }
  await until('the acquaintance of the sentinels', async () => {
    const known = await Promise.all(sentinels.map((sentinel) => ask(sentinel, 'info', 'sentinel')))
    return known.every((info) =>
      info?.includes(`status=ok,address=127.0.0.1:${proxyPort},slaves=${replicas},sentinels=3`),
    )
  })
  const masterOf = async () => {
    const ports = await Promise.all(sentinels.map(masterPort))
    const found = nodes.find(({ port }) => ports.filter((each) => each === port).length >= 2)
    if (!found) throw new Error('the sentinels do not agree on a master')
    return found
  }
  return {
    urls: sentinels.map(({ port }) => `redis+sentinel://127.0.0.1:${port}/${MASTER_NAME}`),
    sentinels,
    nodes,
    masterOf,
    cutOff: proxy.cutOff,
    async failOver() {
      const before = await masterOf()
      // A failover needs a replica that the sentinels know to be ready.
      await until('the failover', async () => {
        for (const each of sentinels)
          if ((await ask(each, 'sentinel', 'failover', MASTER_NAME))?.startsWith('+OK')) return true
        return false
      })
      await until('another master', async () => (await masterOf().catch(() => before)) !== before)
    },
    close: async () => {
      await Promise.all([...sentinels, ...nodes].map((each) => each.close()))
      proxy.close()
    },
  }
}

/** Passes connections on, until it cuts off those from `INSIDE`: they stay open and silent. */
async function cuttingProxy(port: number, target: number) {
  let isCut = false
  const inside = new Set<Socket>()
  const proxy = createServer((inbound) => {
    const isInside = inbound.remoteAddress === INSIDE
    if (isInside && isCut) return void inbound.on('error', () => {}).resume()
    const outbound = connect(target, '127.0.0.1')
    inbound.pipe(outbound).pipe(inbound)
    for (const [socket, other] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      socket.on('error', () => {}).on('close', () => other.destroy())
      if (isInside) inside.add(socket)
    }
  })
  await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve))
  return {
    cutOff(): void {
      isCut = true
      for (const socket of inside) socket.unpipe().pause()
    },
    close: () => void proxy.close(),
  }
}

async function startOneSentinel(masterPort: number, more: string[]): Promise<Sentinel> {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'connect-sentinel-'))
  const file = join(dir, 'sentinel.conf')
  // A sentinel writes what it learns into its file.
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `bind-source-addr ${INSIDE}`,
    'protected-mode no',
    'sentinel announce-ip 127.0.0.1',
    `dir ${dir}`,
    `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds ${MASTER_NAME} 2000`,
    `sentinel failover-timeout ${MASTER_NAME} 5000`,
    ...more,
  ]
  writeFileSync(file, lines.join('\n'))
  const child = spawnServer(REDIS_SENTINEL ?? 'redis-sentinel', [file])
  await until(
    'the start of a sentinel',
    async () => (await ask({ port }, 'ping'))?.startsWith('+PONG') === true,
  )
  return {
    port,
    signal: (signal) => void child.kill(signal),
    close: async () => {
      await killed(child)
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** A server with the certificate `valid`; its `url` is for a connection without TLS, `tlsUrl` for one with it. */
export async function startTlsRedis(...settings: string[]): Promise<RedisServer & { tlsUrl: string }> {
  const dir = mkdtempSync(join(tmpdir(), 'connect-redis-tls-'))
  const file = (name: string, text: string) => {
    writeFileSync(join(dir, name), text)
    return join(dir, name)
  }
  const tlsPort = await freePort()
  const server = await startRedis(
    ...['--tls-port', String(tlsPort), '--tls-auth-clients', 'no'],
    ...['--tls-cert-file', file('cert.pem', CERTIFICATES.valid.cert)],
    ...['--tls-key-file', file('key.pem', CERTIFICATES.valid.key)],
    ...['--tls-ca-cert-file', file('ca.pem', TEST_CA)],
    ...settings,
  )
  return {
    ...server,
    tlsUrl: `rediss://127.0.0.1:${tlsPort}`,
    close: async () => {
      await server.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
