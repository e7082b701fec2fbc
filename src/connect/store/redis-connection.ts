import { setTimeout as pause } from 'node:timers/promises'
import { ClientClosedError, DisconnectsClientError } from 'redis'
import { withTimeout } from '../timeouts.ts'
import { openServers, type Server, type Servers, SILENCE_MS } from './redis-servers.ts'
import { StoreUnavailableError } from './store.ts'

/** How often each server is asked whether it answers, in ms. */
const WATCH_MS = 250
/** How long a command may take, in ms: longer than it takes to find out that its server is silent. */
const COMMAND_MS = 1_600
/** The pause before another attempt to connect, in ms: it doubles, up to the longest one. */
const PAUSE_MS = 100
const LONGEST_PAUSE_MS = 500
/** When replaced connections are closed, in ms: their last commands have ended by then. */
const CLOSE_AFTER_MS = 2_000

/** Called when the connection is lost, with the reason, and when it is restored. The reason contains no secrets. */
export type OnState = (state: 'lost' | 'connected', reason?: string) => void

export interface Connection {
  /**
   * Resolves to the answer to a command. Throws `StoreUnavailableError` if Redis fails or does not answer in time; the
   * command may still be executed later.
   */
  run<T>(command: (servers: Servers) => Promise<T>): Promise<T>
  /** A value in memory; undefined if it must be read. */
  cached(name: string): string | undefined
  close(): void
}

interface Link {
  readonly urls: readonly string[]
  readonly onState: OnState
  state: 'starting' | 'lost' | 'connected'
  reason: string
  closed: boolean
  servers: Servers | undefined
  /** Why the servers have to be replaced although they answer: one is no longer a master. */
  demoted: unknown
}

/**
 * Opens a connection that recovers by itself, in all modes of Redis in the same way: it is opened in the background, its servers
 * are watched, and if one of them fails, falls silent, or turns out to be a demoted replica, another connection is opened. That
 * finds the new master: by asking the Sentinels or the cluster again, or by the name of the server.
 */
export function openConnection(urls: readonly string[], onState: OnState): Connection {
  const link: Link = {
    urls,
    onState,
    state: 'starting',
    reason: 'Redis is not connected yet',
    closed: false,
    servers: undefined,
    demoted: undefined,
  }
  setImmediate(() => void keepOpen(link))
  return {
    run: (command) => run(link, command),
    cached: (name) => link.servers?.cache.get(name),
    close() {
      link.closed = true
      link.servers?.close()
    },
  }
}

async function keepOpen(link: Link): Promise<void> {
  let pauseMs = PAUSE_MS
  while (!link.closed) {
    try {
      const servers = await replaceServers(link)
      pauseMs = PAUSE_MS
      await watch(link, servers)
    } catch (error) {
      if (!link.closed) setState(link, 'lost', error)
    }
    // Random, so that processes do not reconnect at the same time.
    await pause(pauseMs * (0.5 + Math.random() / 2), undefined, { ref: false })
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
  }
}

/**
 * Opens other connections and uses them, unless they are no better: while the cluster has not replaced a master, the others go on
 * as they are.
 */
async function replaceServers(link: Link): Promise<Servers> {
  const former = link.servers
  const before = await check(former)
  const next = await openServers(link.urls, former?.isCluster ? before.answering : undefined)
  const { failures } = await check(next)
  if (link.closed || (former && failures.length > 0 && failures.length >= before.failures.length)) {
    next.close()
    throw failures[0]
  }
  link.servers = next
  link.demoted = undefined
  if (former) setTimeout(() => former.close(), CLOSE_AFTER_MS).unref()
  setState(link, 'connected')
  return next
}

/** The names of those that answer, and the errors of the others. */
async function check(servers: Servers | undefined): Promise<{ answering: string[]; failures: unknown[] }> {
  const answering: string[] = []
  const failures: unknown[] = []
  const ask = (server: Server) =>
    answer(server).then(
      () => void answering.push(server.name),
      (error: unknown) => void failures.push(error),
    )
  await Promise.all(servers?.list().map(ask) ?? [])
  return { answering, failures }
}

/** Rejects when one of the servers fails or is no longer a master. */
async function watch(link: Link, servers: Servers): Promise<void> {
  while (!link.closed) {
    await Promise.all(servers.list().map(answer))
    if (link.demoted) throw link.demoted
    await pause(WATCH_MS, undefined, { ref: false })
  }
}

/** Rejects if the server does not answer. Then its commands end: those of a silent one would wait for ever. */
async function answer(server: Server): Promise<void> {
  try {
    const ping = async () => (await server.commands()).ping()
    await withTimeout(ping(), SILENCE_MS, () => new Error(`${server.name} did not answer`))
  } catch (error) {
    server.end()
    throw isClosed(error) ? new Error(`${server.name} is not connected`) : error
  }
}

function setState(link: Link, next: 'lost' | 'connected', error?: unknown): void {
  if (error !== undefined) link.reason = reasonOf(error)
  if (link.state !== next) link.onState(next, error === undefined ? undefined : link.reason)
  link.state = next
}

async function run<T>(link: Link, command: (servers: Servers) => Promise<T>): Promise<T> {
  if (!link.servers) throw new StoreUnavailableError(link.reason)
  try {
    return await withTimeout(command(link.servers), COMMAND_MS, () => new Error('Redis did not answer'))
  } catch (error) {
    if (error instanceof TypeError || error instanceof StoreUnavailableError) throw error
    const reason = reasonOf(error)
    if (reason.startsWith('READONLY')) link.demoted = error
    throw new StoreUnavailableError(isClosed(error) ? link.reason : reason)
  }
}

const isClosed = (error: unknown): boolean =>
  error instanceof ClientClosedError || error instanceof DisconnectsClientError

/** What Redis says, without the arguments of the command that it repeats: they may be a password or a record. */
const reasonOf = (error: unknown): string =>
  (error instanceof Error && error.message.replace(/,? with args beginning with[\s\S]*/, '')) ||
  'Redis is not reachable'
