/** Creates the clients of a server or of a Redis Cluster from their addresses. */
import { BasicPooledClientSideCache, createCluster, RedisClient } from 'redis'
import { withTimeout } from '../timeouts.ts'
import { createClient, scripts } from './redis-scripts.ts'
import { clientOptions, SILENCE_MS, socketOptions } from './redis-url.ts'

type Client = ReturnType<typeof createServerClient>
/** The commands of the store. Clients of a single server and of a cluster both provide them. */
export type Commands = Pick<
  Client,
  'get' | 'set' | 'del' | 'mGet' | 'zRange' | 'zCard' | 'write' | 'remove' | 'swap'
>
/** The commands that each server answers for itself. */
type ServerCommands = Pick<Client, 'set' | 'scan' | 'info' | 'configGet'>

/** The single server, the master behind Sentinels, or a master of a cluster. */
export interface Server {
  readonly host: string
  readonly port: number
  /** Resolves once it is connected. */
  commands(): Promise<ServerCommands>
  /** Resolves to the role of the server when each connection to it has answered. */
  hello(): Promise<{ role: string }>
  /** Ends the connection to the server. Its commands fail, both those in flight and later ones. */
  end(): void
}

export interface Servers {
  /** `standalone`, `cluster`, or `sentinel`. */
  readonly mode: string
  /** Runs each command on the server that stores its key. */
  readonly commands: Commands
  /** The same, but reads may come from memory. */
  readonly cached: Commands
  /** The cache of `cached`; undefined if the server does not report changes. */
  readonly cache: BasicPooledClientSideCache | undefined
  list(): Server[]
  close(): void
}

/** This option limits only the time until a command is sent. `RedisConnection` limits the time of the whole command. */
const commandOptions = { timeout: 0 }

/**
 * Opens connections to one server, or to a cluster if there are several addresses or the server belongs to one. `masters`: the
 * masters of the cluster that answer, to use instead of the addresses. If the servers are of another kind, throws an error with the
 * correct form of `REDIS_URL`.
 */
export function openServers(urls: readonly string[], masters?: readonly Server[]): Promise<Servers> {
  return openInMode(urls, masters, true).catch((error) => {
    // The user may lack permission for reports of changes, or the server may not support them.
    if (/tracking/i.test(String(error))) return openInMode(urls, masters, false)
    throw error
  })
}

async function openInMode(
  urls: readonly string[],
  masters: readonly Server[] | undefined,
  isCached: boolean,
): Promise<Servers> {
  const [url = ''] = urls
  if (urls.length > 1 || masters) return openCluster(urls, masters, isCached)
  const server = await openServer(url, isCached)
  if (server.mode === 'standalone') return server
  server.close()
  if (server.mode === 'cluster') return openCluster(urls, masters, isCached)
  const { protocol, host } = new URL(url)
  const sentinelUrl = `${protocol.replace(':', '')}+sentinel://${host}/NAME`
  throw new Error(`${host} is a Sentinel: write ${sentinelUrl} in REDIS_URL`)
}

/**
 * Creates a cache for reads (https://redis.io/docs/latest/develop/clients/client-side-caching). A value is used for at most a
 * second. The server reports an expiry only when it deletes the value, and its reports no longer arrive if the connection is
 * silently lost.
 */
const createCache = () =>
  new BasicPooledClientSideCache({ ttl: 1_000, maxEntries: 10_000, recordStats: false })

const createServerClient = (url: string, cache: BasicPooledClientSideCache | undefined) =>
  createClient({
    ...clientOptions(url),
    commandOptions,
    ...(cache && { clientSideCache: cache }),
  })

async function openServer(url: string, isCached: boolean): Promise<Servers> {
  const cache = isCached ? createCache() : undefined
  const client = createServerClient(url, undefined)
  // Redis remembers each key that this connection reads, up to a limit, to report changes. So it is only for cached reads.
  const caching = createServerClient(url, cache)
  const clients = [client, caching]
  // Ignore the error here, because it also rejects the commands.
  for (const each of clients) each.on('error', () => {})
  const close = () => {
    for (const each of clients) each.destroy()
  }
  const hello = async () => {
    const answers = await Promise.all([client.hello(), caching.hello()])
    // During a failover, an address may lead to two servers.
    return answers.find(({ role }) => role !== 'master') ?? answers[0]
  }
  try {
    await withTimeout(Promise.all(clients.map((each) => each.connect())), SILENCE_MS)
    const { mode } = await withTimeout(hello(), SILENCE_MS)
    const { hostname: host, port } = new URL(url)
    const server = { host, port: Number(port || 6379), commands: async () => client, hello, end: close }
    return { mode, commands: client, cached: caching, cache, list: () => [server], close }
  } catch (error) {
    close()
    throw error
  }
}

async function openCluster(
  urls: readonly string[],
  masters: readonly Server[] = [],
  isCached: boolean,
): Promise<Servers> {
  const { socket, ...login } = RedisClient.parseURL(urls[0] ?? '')
  const cache = isCached ? createCache() : undefined
  let problem: unknown
  const cluster = createCluster({
    rootNodes:
      masters.length > 0
        ? masters.map(({ host, port }) => ({ socket: { host, port } }))
        : urls.map((url) => ({ url })),
    // Otherwise, a master that does not answer would prevent the client from starting.
    minimizeConnections: true,
    defaults: { ...login, socket: { ...socketOptions, ...(socket.tls && { tls: true as const }) } },
    ...(cache && { clientSideCache: cache }),
    scripts,
    commandOptions,
  }).on('error', (error: unknown) => {
    problem = error
  })
  try {
    await withTimeout(cluster.connect(), 2 * SILENCE_MS)
    // At least one master has to answer.
    await Promise.any(cluster.masters.map((node) => cluster.nodeClient(node)))
  } catch (error) {
    cluster.destroy()
    const cause = error instanceof AggregateError ? error.errors[0] : (problem ?? error)
    if (!/cluster support disabled/i.test(String(cause))) throw cause
    throw new Error(
      'several addresses in REDIS_URL mean a Redis Cluster, but these servers are not a cluster: write one address, or redis+sentinel:// addresses',
    )
  }
  return {
    mode: 'cluster',
    // With a type mapping other than the client's, reads bypass the cache.
    commands: cluster.withTypeMapping({}),
    cached: cluster,
    cache,
    list: () =>
      cluster.masters.map((node) => ({
        host: node.host,
        port: node.port,
        commands: async () => (await cluster.nodeClient(node)).withTypeMapping({}),
        hello: async () => (await cluster.nodeClient(node)).hello(),
        end: () => node.client?.destroy(),
      })),
    close: () => cluster.destroy(),
  }
}
