/** How the addresses of `REDIS_URL` become connections: to a single server, a Redis Cluster, or the master of Sentinels. */

import { randomUUID } from 'node:crypto'
import { withTimeout } from '../timeouts.ts'
import { type Client, connected, createSingleClient, OPEN_TIMEOUT_MS, type Servers } from './node-redis.ts'
import { createReadCache, type ReadCache } from './read-cache.ts'
import { openCluster } from './redis-cluster.ts'
import { findMaster } from './redis-sentinel.ts'
import { isSentinelUrl } from './redis-url.ts'

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
  const { client, ended, isTracked } = await connect(url)
  const nodes = () => [{ name: 'server', client: async () => client }]
  const servers = {
    client,
    cache: undefined as ReadCache | undefined,
    nodes,
    ended,
    close: () => client.destroy(),
  }
  if (isTracked)
    void trackChanges(client).then((cache) => {
      servers.cache = cache
    })
  return servers
}

/** Connects, and has the server report the changes of keys if it allows that. */
async function connect(url: string, isTracked = true) {
  const client = createSingleClient(url, { emitInvalidate: isTracked })
  const ended = new Promise<unknown>((resolve) => {
    client.on('error', (error: unknown) => {
      if (!client.isOpen) resolve(error)
    })
  })
  try {
    await connected(client)
    return { client, ended, isTracked }
  } catch (error) {
    if (isTracked && /tracking/i.test(String(error))) return connect(url, false)
    throw error
  }
}

/**
 * Caches what the server reports changes of; resolves to undefined if it does not report them. One change is tried, because
 * a proxy may accept the command and pass nothing on.
 */
async function trackChanges(client: Client): Promise<ReadCache | undefined> {
  const cache = createReadCache(() => client.ping())
  const tried = `connect:tracking:{${randomUUID()}}`
  const reported = new Promise<void>((resolve) => {
    client.on('invalidate', (key: Buffer | string | null) => {
      const name = key === null ? null : String(key)
      if (name === tried) resolve()
      else cache.forget(name)
    })
  })
  try {
    await Promise.all([client.set(tried, '1', { PX: OPEN_TIMEOUT_MS }), client.get(tried), client.del(tried)])
    await withTimeout(reported, OPEN_TIMEOUT_MS)
    return cache
  } catch {
    return undefined
  }
}
