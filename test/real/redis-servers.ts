/** A Redis Cluster, a master with Sentinels, and a Redis that speaks TLS. */
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { CERTIFICATES, TEST_CA } from '../support/certificates.ts'
import { freePort } from '../support/ports.ts'
import { killed, type RedisServer, spawnServer, startRedis } from '../support/redis.ts'
import { REDIS_SENTINEL } from './programs.ts'

/** What a server answers to a command of redis-cli; null if it does not answer within a second, or fails. */
async function ask({ port }: { port: number }, ...command: string[]): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('redis-cli', ['-p', String(port), ...command], {
      timeout: 1000,
      killSignal: 'SIGKILL',
    })
    return stdout.trim()
  } catch {
    return null
  }
}

/** Resolves when the condition holds. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await holds()); await pause(50))
    if (Date.now() > deadline) throw new Error(`${what} did not happen within a minute`)
}

const isMaster = async (node: RedisServer) => (await ask(node, 'role'))?.startsWith('master') === true

/** Whether it is a replica that has everything its master has. */
export const isLinked = async (node: RedisServer) =>
  (await ask(node, 'info', 'replication'))?.includes('master_link_status:up') === true

/** The password of the user `app`. */
export const APP_PASSWORD = 'app-secret'

/** A user `app` with no more rights than the app needs, as settings of a server. */
export const APP_USER =
  `--user app on >${APP_PASSWORD} resetchannels ~connect:* +get +set +del +mget +sadd +srem +smembers +scan +eval +evalsha +ping +info|server +client|tracking +config|get`.split(
    ' ',
  )
/** The same, on a node of a Redis Cluster. */
export const CLUSTER_APP_USER = [...APP_USER, '+cluster|slots']

export interface ClusterOptions {
  /** Whether each master has a replica. */
  replicas?: boolean
  /** Settings of each node, such as a user. */
  settings?: string[]
  /** The address at which the nodes reach each other, and clients reach them. */
  host?: string
}

export interface RedisCluster {
  urls: string[]
  nodes: RedisServer[]
  /** The node that serves a key now. It asks all that answer: a frozen master does not. */
  masterOf(key: string): Promise<RedisServer>
  close(): Promise<void>
}

/** Three masters of a Redis Cluster, each with a replica if you like. A replica takes over after 3 to 7 seconds. */
export async function startCluster({
  replicas = false,
  settings = [],
  host = '127.0.0.1',
}: ClusterOptions = {}): Promise<RedisCluster> {
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
    async masterOf(key) {
      // The others answer MOVED, also a replica of the right one; and a master without its majority CLUSTERDOWN.
      const answers = await Promise.all(nodes.map((node) => ask(node, 'exists', key)))
      const master = nodes.find((_node, index) => /^\d+$/.test(answers[index] ?? ''))
      if (!master) throw new Error(`no node serves ${key}`)
      return master
    },
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()))
    },
  }
}

export interface RedisSentinels {
  /** `127.0.0.1:PORT` of each sentinel. */
  addresses: string[]
  /** The name under which they know the master. */
  masterName: string
  sentinels: SentinelServer[]
  /** The master and its replica; which is which changes. */
  nodes: RedisServer[]
  /** The node that two of the sentinels call the master. */
  master(): Promise<RedisServer>
  close(): Promise<void>
}

export interface SentinelServer {
  port: number
  /** SIGSTOP or SIGCONT. */
  signal(signal: NodeJS.Signals): void
  close(): Promise<void>
}

const MASTER_NAME = 'mymaster'

/** A master, its replica, and three sentinels of which two decide. The replica takes over after 3 to 6 seconds. */
export async function startSentinel(...settings: string[]): Promise<RedisSentinels> {
  const master = await startRedis(...settings)
  const replica = await startRedis('--replicaof', '127.0.0.1', String(master.port), ...settings)
  const nodes = [master, replica]
  await until('the first replication', () => isLinked(replica))
  const sentinels = await Promise.all(Array.from({ length: 3 }, () => startOneSentinel(master.port)))
  const masterPort = async (sentinel: SentinelServer) => {
    const address = await ask(sentinel, 'sentinel', 'get-master-addr-by-name', MASTER_NAME)
    return Number(address?.split('\n')[1])
  }
  await until('the acquaintance of the sentinels', async () => {
    const known = await Promise.all(sentinels.map((sentinel) => ask(sentinel, 'info', 'sentinel')))
    return known.every((info) => /status=ok,.*slaves=1,sentinels=3/.test(info ?? ''))
  })

  return {
    addresses: sentinels.map(({ port }) => `127.0.0.1:${port}`),
    masterName: MASTER_NAME,
    sentinels,
    nodes,
    async master() {
      const ports = await Promise.all(sentinels.map(masterPort))
      const found = nodes.find(({ port }) => ports.filter((each) => each === port).length >= 2)
      if (!found) throw new Error('the sentinels do not agree on a master')
      return found
    },
    close: async () => {
      await Promise.all([...sentinels, ...nodes].map((server) => server.close()))
    },
  }
}

async function startOneSentinel(masterPort: number): Promise<SentinelServer> {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'connect-sentinel-'))
  const file = join(dir, 'sentinel.conf')
  // A sentinel writes what it learns into its file.
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${dir}`,
    `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds ${MASTER_NAME} 2000`,
    `sentinel failover-timeout ${MASTER_NAME} 5000`,
  ]
  writeFileSync(file, lines.join('\n'))
  const child = spawnServer(REDIS_SENTINEL ?? 'redis-sentinel', [file])
  await until('the start of a sentinel', async () => (await ask({ port }, 'ping')) === 'PONG')
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
