/** Clients of node-redis, as the store needs them. */
import { createClient, createCluster, defineScript } from 'redis'
import { withTimeout } from '../timeouts.ts'
import type { ReadCache } from './read-cache.ts'
import { parseRedisUrl } from './redis-url.ts'

export type Client = ReturnType<typeof createSingleClient>

/** Connections to the servers of one store. */
export interface Servers {
  /** Runs each command on the server that has its key. */
  readonly client: Client
  /** Values that the server reports when they change; undefined if it does not report them, or not yet. */
  readonly cache: ReadCache | undefined
  /** The single server, or each master of a cluster. */
  nodes(): ServerNode[]
  /** Resolves with the error that ended the connections; new ones must be opened. */
  readonly ended: Promise<unknown>
  close(): void
}

export interface ServerNode {
  name: string
  client(): Promise<Client>
}

const CONNECT_TIMEOUT_MS = 1500
/** How long connecting may take with TLS, authentication and a first question to the server, in ms. */
export const OPEN_TIMEOUT_MS = 3000

/** Connects within the time limit: a server that accepts the connection may never answer. */
export async function connected<C extends { connect(): Promise<unknown>; destroy(): void }>(
  client: C,
): Promise<C> {
  try {
    await withTimeout(client.connect(), OPEN_TIMEOUT_MS)
    return client
  } catch (error) {
    client.destroy()
    throw error
  }
}

/** Our own timeout replaces the client's, which creates an AbortSignal for every command. */
const commandOptions = { timeout: 0 }

/** `emitInvalidate`: the server reports changes of the keys that are read; connecting fails if it does not allow that. */
export function createSingleClient(url: string, { emitInvalidate = false } = {}) {
  const { socket, ...login } = parseRedisUrl(url)
  return createClient({
    ...login,
    // A connection that is lost is opened again by its owner: another server may be the master by then.
    socket: { ...socket, connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: false },
    scripts,
    emitInvalidate,
    commandOptions,
  })
}

export interface ClusterClient {
  masters: { address: string }[]
  nodeClient(node: object): Promise<Client>
  connect(): Promise<unknown>
  destroy(): void
  on(event: 'error', listener: (error: unknown) => void): unknown
}

/** A cluster client has all the commands of a single one that we use, but its type differs. */
export function createClusterClient(roots: readonly string[], [url = '']: readonly string[]): ClusterClient {
  const { socket, database: _, ...login } = parseRedisUrl(url)
  return createCluster({
    rootNodes: roots.map((root) => ({ socket: parseRedisUrl(root).socket })),
    // Otherwise a master that does not answer would keep the client from starting.
    minimizeConnections: true,
    defaults: {
      socket: {
        connectTimeout: CONNECT_TIMEOUT_MS,
        // Random, so that processes do not reconnect at the same time.
        reconnectStrategy: () => 250 + Math.floor(Math.random() * 250),
        ...(socket.tls && { tls: true as const }),
      },
      disableOfflineQueue: true,
      ...login,
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
