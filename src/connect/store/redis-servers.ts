/** How the addresses of `REDIS_URL` become connections: to a single server, a Redis Cluster, or the master of Sentinels. */

import { withTimeout } from '../timeouts.ts'
import { type Client, connected, createSingleClient, OPEN_TIMEOUT_MS, type Servers } from './node-redis.ts'
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
