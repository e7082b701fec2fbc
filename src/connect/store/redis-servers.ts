/** How the addresses of `REDIS_URL` become clients: of a server, of a Redis Cluster, or of the master of Sentinels. */
import { BasicPooledClientSideCache, createClient, createCluster, defineScript } from 'redis'
import { withTimeout } from '../timeouts.ts'
import { findMaster } from './redis-sentinel.ts'
import { isSentinelUrl, parseRedisUrl, urlHost } from './redis-url.ts'

/** The commands of the store. A client of one server has them, and so has a client of a cluster. */
export interface Commands {
  get(key: string): Promise<string | null>
  mGet(keys: string[]): Promise<(string | null)[]>
  sMembers(key: string): Promise<string[]>
  write(name: string, group: string, value: string, ttl: string): Promise<boolean>
  remove(name: string, group: string): Promise<boolean>
  swap(name: string, group: string, next: string, ttl: string, expected: string): Promise<boolean>
}

/** The commands that one server answers for itself. */
export interface ServerCommands {
  ping(): Promise<unknown>
  get(key: string): Promise<string | null>
  scan(cursor: string, options: { MATCH: string; COUNT: number }): Promise<{ cursor: string; keys: string[] }>
  info(section: string): Promise<string>
  configGet(name: string): Promise<Record<string, string>>
}

/** The single server, the master behind Sentinels, or a master of a cluster. */
export interface Server {
  /** `HOST:PORT`, without brackets. */
  readonly name: string
  /** Its client, once it is connected. */
  commands(): Promise<ServerCommands>
  /** Ends the connection to it: its commands fail, those on their way and later ones. */
  end(): void
}

export interface Servers {
  readonly isCluster: boolean
  /** Runs each command on the server that has its key. */
  readonly commands: Commands
  /** The same, but reads may come from memory. */
  readonly cached: Commands
  /** What is in memory. */
  readonly cache: ReadCache
  list(): Server[]
  close(): void
}

/** Values that were read with `cached`. */
export interface ReadCache {
  /** Without the work of a command: that would cost as much as asking Redis. Undefined if the value must be read. */
  get(name: string): string | undefined
  forget(name: string): void
}

/** A server that is silent for so long is replaced: when it is asked, and when a connection is opened, in ms. */
export const SILENCE_MS = 1_200

/**
 * Opens connections to one server, to a cluster (several addresses, or one address of a cluster), or to the master that
 * Sentinels name. `masters`: if they are a cluster, those of its masters that answer, as `HOST:PORT`: they are asked instead of the
 * addresses. Throws an error that says what to write if the servers are of another kind.
 */
export async function openServers(
  urls: readonly string[],
  masters?: readonly string[],
  isCached = true,
): Promise<Servers> {
  try {
    const [url = ''] = urls
    if (isSentinelUrl(url)) return (await openServer(await findMaster(urls), isCached)).servers
    if (urls.length > 1 || masters) return await openCluster(urls, masters, isCached)
    const { servers, mode } = await openServer(url, isCached)
    if (mode === 'standalone') return servers
    servers.close()
    if (mode === 'cluster') return await openCluster(urls, masters, isCached)
    const { protocol, host } = new URL(url)
    throw new Error(
      `${host} is a Sentinel: write ${protocol.replace(':', '')}+sentinel://${host}/NAME in REDIS_URL`,
    )
  } catch (error) {
    // The user may not ask for reports of changes, or the server has none.
    if (isCached && /tracking/i.test(String(error))) return openServers(urls, masters, false)
    throw error
  }
}

/** Options of every client. A connection that is lost is replaced by its owner: another server may be the master then. */
const socketOptions = { connectTimeout: SILENCE_MS, socketTimeout: 5_000, reconnectStrategy: false as const }
/** The owner limits the time of commands: an option would create an AbortSignal for each, and end when it is written. */
const commandOptions = { timeout: 0 }

/**
 * The options for reads from memory (https://redis.io/docs/latest/develop/clients/client-side-caching), and what is there. The
 * server reports changes, but an expiry only when it deletes the value, and nothing once its connection has died in silence: so
 * values are used for a second.
 */
function createCache(isCached: boolean): {
  options: { clientSideCache?: BasicPooledClientSideCache }
  cache: ReadCache
} {
  if (!isCached) return { options: {}, cache: { get: () => undefined, forget() {} } }
  const values = new BasicPooledClientSideCache({ ttl: 1_000, maxEntries: 10_000, recordStats: false })
  const cache = {
    get(name: string) {
      // The key of a command is made of the lengths of its words and the words. If that changes, all reads are commands.
      const entry = values.get(`3_${name.length}_GET_${name}`)
      return entry && 'value' in entry && typeof entry.value === 'string' ? entry.value : undefined
    },
    forget: (name: string) => values.invalidate(name),
  }
  return { options: { clientSideCache: values }, cache }
}

/** Also resolves to the mode in which the server runs (https://redis.io/docs/latest/commands/hello). */
async function openServer(url: string, isCached: boolean): Promise<{ servers: Servers; mode: string }> {
  const { socket, ...login } = parseRedisUrl(url)
  const { options, cache } = createCache(isCached)
  const client = createClient({
    ...login,
    socket: { ...socket, ...socketOptions },
    scripts,
    commandOptions,
    ...options,
  })
  // What fails is told by the commands.
  client.on('error', () => {})
  try {
    await withTimeout(client.connect(), SILENCE_MS)
    const { mode } = await withTimeout(client.hello(), SILENCE_MS)
    // Another type mapping than that of the client keeps a read from being answered from memory.
    const commands = client.withTypeMapping({})
    const name = `${socket.host}:${socket.port}`
    const server = { name, commands: async () => commands, end: () => client.destroy() }
    const servers = {
      isCluster: false,
      commands,
      cached: client,
      cache,
      list: () => [server],
      close: () => client.destroy(),
    }
    return { servers, mode }
  } catch (error) {
    client.destroy()
    throw error
  }
}

async function openCluster(
  urls: readonly string[],
  masters: readonly string[] = [],
  isCached: boolean,
): Promise<Servers> {
  const [url = ''] = urls
  const { socket, database: _, ...login } = parseRedisUrl(url)
  const tls = socket.tls && { tls: true as const }
  const roots = masters.length > 0 ? masters.map((name) => `${new URL(url).protocol}//${hostOf(name)}`) : urls
  const { options, cache } = createCache(isCached)
  const cluster = createCluster({
    rootNodes: roots.map((root) => ({ socket: parseRedisUrl(root).socket })),
    // Otherwise a master that does not answer would keep the client from starting.
    minimizeConnections: true,
    defaults: { ...login, socket: { ...socketOptions, ...tls } },
    scripts,
    commandOptions,
    ...options,
  })
  let problem: unknown
  cluster.on('error', (error: unknown) => {
    problem = error
  })
  try {
    await withTimeout(cluster.connect(), 2 * SILENCE_MS)
    // At least one of its masters has to answer.
    await Promise.any(cluster.masters.map((node) => cluster.nodeClient(node))).catch(({ errors }) => {
      problem = errors[0]
      throw problem
    })
  } catch (error) {
    cluster.destroy()
    if (/cluster support disabled/i.test(String(problem)))
      throw new Error(
        'several addresses in REDIS_URL mean a Redis Cluster, but these servers are none: write one address, or redis+sentinel:// addresses',
      )
    throw problem ?? error
  }
  return {
    isCluster: true,
    commands: cluster.withTypeMapping({}),
    cached: cluster,
    cache,
    list: () =>
      cluster.masters.map((node) => ({
        name: node.address,
        commands: async () => (await cluster.nodeClient(node)).withTypeMapping({}),
        end: () => node.client?.destroy(),
      })),
    close: () => cluster.destroy(),
  }
}

/** `HOST:PORT` in a url. */
function hostOf(name: string): string {
  const colon = name.lastIndexOf(':')
  return `${urlHost(name.slice(0, colon))}${name.slice(colon)}`
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
