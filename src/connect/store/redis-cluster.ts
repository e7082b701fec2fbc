import { type Client, connected, createClusterClient, type Servers } from './node-redis.ts'
import { urlHost } from './redis-url.ts'

/** How often the masters of a cluster are asked whether they answer, in ms. */
const WATCH_MS = 500
/** A master that does not answer for so long is replaced as soon as the cluster has another one, in ms. */
const SILENCE_MS = 2000
/** How long commands on replaced connections may take to finish, in ms. */
const CLOSE_AFTER_MS = 2000

/**
 * Opens a cluster, and watches its masters: the cluster client learns of a failover from a master that closes its
 * connections, but not from one that is silent. Then a second client asks the other nodes, and takes over once the
 * cluster has replaced the silent master.
 */
export async function openCluster(urls: readonly string[]): Promise<Servers> {
  let cluster = await connectCluster(urls)
  let closed = false
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
        others.map(({ name }) => urlOf(urls, name)),
        urls,
      )
      if (closed || next.masters.some(({ address }) => silent.includes(address))) {
        next.destroy()
        return
      }
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
      closed = true
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

/** The url of another node of the same cluster. `address`: `HOST:PORT`, without brackets. */
function urlOf([url = '']: readonly string[], address: string): string {
  const colon = address.lastIndexOf(':')
  return `${new URL(url).protocol}//${urlHost(address.slice(0, colon))}${address.slice(colon)}`
}
