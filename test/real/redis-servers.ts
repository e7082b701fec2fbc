/** A Redis Cluster, a master with Sentinels, and a Redis that speaks TLS. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { CERTIFICATES, TEST_CA } from '../support/certificates.ts'
import { freePort } from '../support/ports.ts'
import { killed, type RedisServer, spawnServer, startRedis } from '../support/redis.ts'
import { REDIS_SENTINEL } from './programs.ts'

/**
 * What a server answers to a command, in the protocol of Redis; null if it does not answer within a second. A program such as
 * redis-cli for each question would keep the machine busy.
 */
function ask({ port }: { port: number }, ...command: string[]): Promise<string | null> {
  return new Promise((resolve) => {
    let answer = ''
    const isWhole = () => answer.endsWith('+PONG\r\n')
    // The answer to the ping ends the one before.
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command.join(' ')}\r\nping\r\n`))
    socket.setTimeout(1000, () => socket.destroy())
    socket.on('data', (chunk) => {
      answer += chunk
      if (isWhole()) socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(isWhole() ? answer : null))
  })
}

/** Resolves when the condition holds. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await holds()); await pause(50))
    if (Date.now() > deadline) throw new Error(`${what} did not happen within a minute`)
}

const isMaster = async (node: RedisServer) => (await ask(node, 'role'))?.includes('\nmaster') === true

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

export interface RedisServers {
  /** Their addresses, as `REDIS_URL` has them. */
  urls: string[]
  nodes: RedisServer[]
  /** The node that serves a key now, as most of those that answer say. Throws if there is none. */
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
      // The others answer MOVED, also a replica of the right one; and a master without its majority CLUSTERDOWN.
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
}

type Sentinel = Pick<RedisServer, 'port' | 'signal' | 'close'>

const MASTER_NAME = 'mymaster'

/** A master, its replica, and three sentinels of which two decide. The replica takes over after 3 to 6 seconds. */
export async function startSentinel(...settings: string[]): Promise<SentinelServers> {
  const master = await startRedis(...settings)
  const replica = await startRedis('--replicaof', '127.0.0.1', String(master.port), ...settings)
  const nodes = [master, replica]
  await until('the first replication', () => isLinked(replica))
  const sentinels = await Promise.all(Array.from({ length: 3 }, () => startOneSentinel(master.port)))
  const masterPort = async (sentinel: Sentinel) => {
    const address = await ask(sentinel, 'sentinel', 'get-master-addr-by-name', MASTER_NAME)
    return Number(/\r\n(\d+)\r\n/.exec(address ?? '')?.[1])
  }
  await until('the acquaintance of the sentinels', async () => {
    const known = await Promise.all(sentinels.map((sentinel) => ask(sentinel, 'info', 'sentinel')))
    return known.every((info) => /status=ok,.*slaves=1,sentinels=3/.test(info ?? ''))
  })
  return {
    urls: sentinels.map(({ port }) => `redis+sentinel://127.0.0.1:${port}/${MASTER_NAME}`),
    sentinels,
    nodes,
    async masterOf() {
      const ports = await Promise.all(sentinels.map(masterPort))
      const found = nodes.find(({ port }) => ports.filter((each) => each === port).length >= 2)
      if (!found) throw new Error('the sentinels do not agree on a master')
      return found
    },
    close: async () => void (await Promise.all([...sentinels, ...nodes].map((server) => server.close()))),
  }
}

async function startOneSentinel(masterPort: number): Promise<Sentinel> {
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
