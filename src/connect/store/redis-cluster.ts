import {
  type Client,
  type ClusterClient,
  connected,
  createClusterClient,
  type Servers,
} from './node-redis.ts'
import { urlHost } from './redis-url.ts'

/** How often the masters of a cluster are asked whether they answer, in ms. */
const WATCH_MS = 500
/** A master that does not answer for so long is replaced as soon as the cluster has another one, in ms. */
const SILENCE_MS = 2000
/** How long commands on replaced connections may take to finish, in ms. */
const CLOSE_AFTER_MS = 2000

interface Watched {
  urls: readonly string[]
  cluster: ClusterClient
  closed: boolean
  replacing: boolean
  lastTickAt: number
  /** When each master last answered, by its address. */
  answeredAt: Map<string, number>
  asked: Set<string>
}

/**
 * Opens a cluster, and watches its masters: the cluster client learns of a failover from a master that closes its
 * connections, but not from one that is silent. Then a second client asks the other nodes, and takes over once the
 * cluster has replaced the silent master.
 */
export async function openCluster(urls: readonly string[]): Promise<Servers> {
  const watched: Watched = {
    urls,
    cluster: await connectCluster(urls),
    closed: false,
    replacing: false,
    lastTickAt: performance.now(),
    answeredAt: new Map(),
    asked: new Set(),
  }
  const watching = setInterval(() => watch(watched), WATCH_MS)
  watching.unref()
  return {
    get client() {
      return watched.cluster as unknown as Client
    },
    // Its client opens connections to the nodes by itself, which would have to be told to report changes.
    cache: undefined,
    nodes: () => nodesOf(watched),
    // The client of the cluster reconnects to each node by itself.
    ended: new Promise(() => {}),
    close() {
      watched.closed = true
      clearInterval(watching)
      watched.cluster.destroy()
    },
  }
}

const nodesOf = ({ cluster }: Watched) =>
  cluster.masters.map((node) => ({ name: node.address, client: () => cluster.nodeClient(node) }))

/** Asks each master whether it answers, and replaces those that have been silent for too long. */
function watch(watched: Watched): void {
  const { answeredAt, asked } = watched
  const now = performance.now()
  // The process was stopped: that says nothing about the masters.
  if (now - watched.lastTickAt > SILENCE_MS) answeredAt.clear()
  watched.lastTickAt = now
  for (const { name, client } of nodesOf(watched)) {
    if (!answeredAt.has(name)) answeredAt.set(name, now)
    if (asked.has(name)) continue
    asked.add(name)
    client()
      .then((node) => node.ping())
      .then(() => answeredAt.set(name, performance.now()))
      .catch(() => {})
      .finally(() => asked.delete(name))
  }
  const silent = nodesOf(watched).flatMap(({ name }) =>
    now - (answeredAt.get(name) ?? now) > SILENCE_MS ? [name] : [],
  )
  if (silent.length > 0) void replaceMasters(watched, silent)
}

async function replaceMasters(watched: Watched, silent: string[]): Promise<void> {
  if (watched.replacing) return
  watched.replacing = true
  const { urls, answeredAt, asked } = watched
  try {
    const others = nodesOf(watched).filter(({ name }) => !silent.includes(name))
    const roots = others.map(({ name }) => urlOf(urls, name))
    const next = await connectCluster(roots, urls)
    if (watched.closed || next.masters.some(({ address }) => silent.includes(address))) {
      next.destroy()
      return
    }
    const former = watched.cluster
    watched.cluster = next
    for (const name of silent) answeredAt.delete(name)
    asked.clear()
    setTimeout(() => former.destroy(), CLOSE_AFTER_MS).unref()
  } catch {
    // The next tick tries again.
  } finally {
    watched.replacing = false
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
