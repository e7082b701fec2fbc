/** How the addresses of `REDIS_URL` become connections: to a single server, a Redis Cluster, or the master of Sentinels. */
import { createClient, createCluster, defineScript } from 'redis'
import { isSentinelUrl } from './redis-url.ts'
import { withTimeout } from './timeouts.ts'

/** Connections to the servers of one store. */
export interface Servers {
  /** Runs each command on the server that has its key. */
  readonly client: Client
  /** The single server, or each master of a cluster. */
  nodes(): ServerNode[]
  /** Resolves with the error after which they have to be opened again. */
  readonly ended: Promise<unknown>
  close(): void
}

export interface ServerNode {
  name: string
  client(): Promise<Client>
}

export type Client = ReturnType<typeof createSingleClient>

const CONNECT_TIMEOUT_MS = 1500
/** How long connecting may take with TLS, authentication and a first question to the server, in ms. */
const OPEN_TIMEOUT_MS = 3000
/** How often the masters of a cluster are asked whether they answer, in ms. */
const WATCH_MS = 500
/** A master that does not answer for so long is replaced as soon as the cluster has another one, in ms. */
const SILENCE_MS = 2000
/** How long commands on replaced connections may take to finish, in ms. */
const CLOSE_AFTER_MS = 2000

/**
 * Opens connections to one server, to a cluster (several addresses, or one address of a cluster), or to the master that
 * Sentinels name (`redis+sentinel://HOST:PORT/NAME`). Throws an error that says what to write if the servers are of another kind.
 */
export async function openServers(urls: readonly string[]): Promise<Servers> {
  const [url = ''] = urls
  if (isSentinelUrl(url)) return openServer(await findMaster(urls))
  if (urls.length > 1) return openCluster(urls)
  const server = await openServer(url)
  const mode = await modeOf(server.client)
  if (mode !== 'cluster' && mode !== 'sentinel') return server
  server.close()
  if (mode === 'cluster') return openCluster(urls)
  const { protocol, host } = new URL(url)
  throw new Error(
    `${host} is a Sentinel: write ${protocol.replace(':', '')}+sentinel://${host}/NAME in REDIS_URL`,
  )
}

/** `standalone`, `cluster` or `sentinel` (https://redis.io/docs/latest/commands/hello); empty if the server does not say. */
async function modeOf(client: Client): Promise<string> {
  const answer = await withTimeout(client.hello(), OPEN_TIMEOUT_MS).catch(() => null)
  return String(answer?.mode ?? '')
}

async function openServer(url: string): Promise<Servers> {
  const client = createSingleClient(url)
  const ended = new Promise<unknown>((resolve) => {
    client.on('error', (error: unknown) => {
      if (!client.isOpen) resolve(error)
    })
  })
  await connected(client)
  const nodes = () => [{ name: 'server', client: async () => client }]
  return { client, nodes, ended, close: () => client.destroy() }
}

/** Connects within the time limit: a server that accepts the connection may never answer. */
async function connected<C extends { connect(): Promise<unknown>; destroy(): void }>(client: C): Promise<C> {
  try {
    await withTimeout(client.connect(), OPEN_TIMEOUT_MS)
    return client
  } catch (error) {
    client.destroy()
    throw error
  }
}

/**
 * Asks all Sentinels at once, and resolves to the address of the master that most of them name: one that is frozen or was cut
 * off names an old one (https://redis.io/docs/latest/develop/reference/sentinel-clients).
 *
 * node-redis has a client for Sentinels. It sends a command again that the old master did not answer, although it may have
 * been carried out, which breaks compare-and-set; and it never recovers if its Sentinel is frozen together with the master.
 */
async function findMaster(urls: readonly string[]): Promise<string> {
  const results = await Promise.allSettled(urls.map(askSentinel))
  const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const votes = Map.groupBy(addresses, (address) => address)
  const [most] = [...votes.values()].sort((a, b) => b.length - a.length)
  if (!most?.[0]) throw results.find((result) => result.status === 'rejected')?.reason
  return most[0]
}

/** The address of the master that this Sentinel names, with the scheme, the user and the password of the url. */
async function askSentinel(text: string): Promise<string> {
  const url = new URL(text)
  const { host, username, password, pathname } = url
  const scheme = url.protocol.replace('+sentinel', '')
  const name = pathname.slice(1)
  const credentials = username || password ? `${username}:${password}@` : ''
  // A Sentinel without users of its own refuses the user of the data servers.
  const answer = await masterFrom(`${scheme}//${host}`, name).catch((error: Error) => {
    if (!/NOAUTH|NOPERM/.test(error.message)) throw error
    return masterFrom(`${scheme}//${credentials}${host}`, name)
  })
  if (!answer)
    throw new Error(
      `the Sentinel ${host} knows no master with the name ${name}: write ${url.protocol}//HOST:PORT/NAME in REDIS_URL`,
    )
  const [masterHost = '', port] = answer
  return `${scheme}//${credentials}${masterHost.includes(':') ? `[${masterHost}]` : masterHost}:${port}`
}

async function masterFrom(url: string, name: string): Promise<string[] | null> {
  const sentinel = createSingleClient(url)
  sentinel.on('error', () => {})
  await connected(sentinel)
  try {
    const asked = sentinel.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name])
    return (await withTimeout<unknown>(asked, OPEN_TIMEOUT_MS)) as string[] | null
  } catch (error) {
    if (!/unknown command/i.test((error as Error).message)) throw error
    const { protocol, host } = new URL(url)
    throw new Error(`${host} is no Sentinel: write ${protocol}//${host} in REDIS_URL`)
  } finally {
    sentinel.destroy()
  }
}

/**
 * Opens a cluster, and watches its masters: the cluster client learns of a failover from a master that closes its
 * connections, but not from one that is silent. Then a second client asks the other nodes, and takes over once the
 * cluster has replaced the silent master.
 */
async function openCluster(urls: readonly string[]): Promise<Servers> {
  let cluster = await connectCluster(urls)
  let replacing = false
  let lastTickAt = performance.now()
  /** When each master last answered, by its address. */
  const answeredAt = new Map<string, number>()
  const asked = new Set<string>()

  function watch(): void {
    const now = performance.now()
    // The process was stopped: that says nothing about the masters.
    if (now - lastTickAt > SILENCE_MS) answeredAt.clear()
    lastTickAt = now
    for (const { name, client } of nodes()) {
      if (!answeredAt.has(name)) answeredAt.set(name, now)
      if (asked.has(name)) continue
      asked.add(name)
      client()
        .then((node) => node.ping())
        .then(() => answeredAt.set(name, performance.now()))
        .catch(() => {})
        .finally(() => asked.delete(name))
    }
    const silent = nodes().flatMap(({ name }) =>
      now - (answeredAt.get(name) ?? now) > SILENCE_MS ? [name] : [],
    )
    if (silent.length > 0) void replaceMasters(silent)
  }

  async function replaceMasters(silent: string[]): Promise<void> {
    if (replacing) return
    replacing = true
    try {
      const others = nodes().filter(({ name }) => !silent.includes(name))
      const next = await connectCluster(
        others.map(({ name }) => addressOf(urls, name)),
        urls,
      )
      if (next.masters.some(({ address }) => silent.includes(address))) return next.destroy()
      const former = cluster
      cluster = next
      for (const name of silent) answeredAt.delete(name)
      asked.clear()
      setTimeout(() => former.destroy(), CLOSE_AFTER_MS).unref()
    } catch {
      // The next tick tries again.
    } finally {
      replacing = false
    }
  }

  const nodes = () =>
    cluster.masters.map((node) => ({ name: node.address, client: () => cluster.nodeClient(node) }))
  const watching = setInterval(watch, WATCH_MS)
  watching.unref()
  return {
    get client() {
      return cluster as unknown as Client
    },
    nodes,
    // The client of the cluster reconnects to each node by itself.
    ended: new Promise(() => {}),
    close() {
      clearInterval(watching)
      cluster.destroy()
    },
  }
}

async function connectCluster(roots: readonly string[], urls = roots) {
  const cluster = createClusterClient(roots, urls)
  let problem: unknown
  cluster.on('error', (error: unknown) => {
    problem = error
  })
  try {
    return await connected(cluster)
  } catch (error) {
    const reason = problem instanceof Error ? problem.message : ''
    if (/cluster support disabled/i.test(reason))
      throw new Error(
        'several addresses in REDIS_URL mean a Redis Cluster, but these servers are none: write one address, or redis+sentinel:// addresses',
      )
    throw problem ?? error
  }
}

/** The url of another node of the same cluster. */
function addressOf([url = '']: readonly string[], address: string): string {
  return `${new URL(url).protocol}//${address}`
}

/** Our own timeout replaces the client's, which creates an AbortSignal for every command. */
const commandOptions = { timeout: 0 }

function createSingleClient(url: string) {
  return createClient({
    url,
    // A connection that is lost is opened again by its owner: another server may be the master by then.
    socket: { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: false },
    scripts,
    disableOfflineQueue: true,
    commandOptions,
  })
}

interface ClusterClient {
  masters: { address: string }[]
  nodeClient(node: object): Promise<Client>
  connect(): Promise<unknown>
  destroy(): void
  on(event: 'error', listener: (error: unknown) => void): unknown
}

/** A cluster client has all the commands of a single one that we use, but its type differs. */
function createClusterClient(roots: readonly string[], [url = '']: readonly string[]): ClusterClient {
  const { username, password, protocol } = new URL(url)
  return createCluster({
    rootNodes: roots.map((root) => ({ url: root })),
    // Otherwise a master that does not answer would keep the client from starting.
    minimizeConnections: true,
    defaults: {
      socket: {
        connectTimeout: CONNECT_TIMEOUT_MS,
        // Random, so that processes do not reconnect at the same time.
        reconnectStrategy: () => 250 + Math.floor(Math.random() * 250),
        ...(protocol === 'rediss:' && { tls: true as const }),
      },
      disableOfflineQueue: true,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
    },
    commandOptions,
    scripts,
  }) as unknown as ClusterClient
}

/** Writes a permanent value and adds it to its group, or an expiring one and removes it from the group. */
const WRITE = `
  if ARGV[2] == '' then redis.call('SET', KEYS[1], ARGV[1]); redis.call('SADD', KEYS[2], KEYS[1])
  else redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]); redis.call('SREM', KEYS[2], KEYS[1]) end`
const REMOVE = `redis.call('SREM', KEYS[2], KEYS[1]); return redis.call('DEL', KEYS[1])`

const scripts = {
  write: script(`${WRITE} return 1`),
  remove: script(REMOVE),
  // ARGV: next, ttl or '', expected. '' means absent: a value is never empty.
  swap: script(`
    if (redis.call('GET', KEYS[1]) or '') ~= ARGV[3] then return 0 end
    if ARGV[1] == '' then ${REMOVE.replace('return ', '')} else ${WRITE} end
    return 1`),
}

function script(SCRIPT: string) {
  return defineScript({
    SCRIPT,
    NUMBER_OF_KEYS: 2,
    parseCommand(parser, name: string, group: string, ...args: string[]) {
      parser.pushKey(name)
      parser.pushKey(group)
      parser.push(...args)
    },
    transformReply: (reply: number) => reply === 1,
  })
}
