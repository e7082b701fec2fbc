import { setTimeout as pause } from 'node:timers/promises'
import { ClientClosedError, DisconnectsClientError } from 'redis'
import { News, withTimeout } from '../timeouts.ts'
import { Sentinels } from './redis-sentinel.ts'
import { openServers, type Server, type Servers } from './redis-servers.ts'
import { isSentinelUrl, SILENCE_MS, WATCH_MS } from './redis-url.ts'
import { StoreUnavailableError } from './store.ts'

/** How long a command may take, in ms: longer than the app needs to notice a silent server. */
const COMMAND_MS = 1_800
/** The part of `COMMAND_MS` that remains for a write after it has waited for a failover. */
const LEFT_MS = 300
/** The pause before another attempt to connect, in ms. It doubles up to `LONGEST_PAUSE_MS`. */
const PAUSE_MS = 100
const LONGEST_PAUSE_MS = 500

/** Called when the connection opens again or for the first time, and when it is lost or fails, with a reason without secrets. */
export type OnState = (state: 'lost' | 'connected', reason?: string) => void

/**
 * A connection that recovers automatically, in the same way in all modes of Redis. It opens in the background and watches its
 * servers. It is replaced if a server fails, falls silent or is no longer a master, or if the Sentinels name another master. The
 * new connection finds the master through the Sentinels, the other nodes of the cluster, or the server's host name.
 */
export class RedisConnection {
  readonly #urls: readonly string[]
  readonly #onState: OnState
  readonly #news = new News()
  readonly #sentinels: Sentinels | undefined
  #state: 'starting' | 'lost' | 'connected' = 'starting'
  #reason = 'Redis is not connected yet'
  #servers: Servers | undefined
  #masterUrl: string | undefined

  constructor(urls: readonly string[], onState: OnState) {
    this.#urls = urls
    this.#onState = onState
    if (urls.some(isSentinelUrl)) this.#sentinels = new Sentinels(urls, this.#news)
    setImmediate(() => void this.#keepOpen())
  }

  /**
   * Resolves to the answer to a command. If another server becomes the master before it answers, repeats the command there.
   * During a failover, a write waits first. Throws `StoreUnavailableError` if Redis fails or does not answer in time; Redis may
   * still execute the command later.
   */
  async run<T>(command: (servers: Servers) => Promise<T>, isWrite = false): Promise<T> {
    const until = performance.now() + COMMAND_MS
    while (isWrite && this.#sentinels?.isReplacing(this.#masterUrl) && performance.now() < until - LEFT_MS)
      await pause(10)
    for (;;) {
      const servers = this.#servers
      if (!servers) throw new StoreUnavailableError(this.#reason)
      const leftMs = until - performance.now()
      try {
        return await withTimeout(command(servers), leftMs, () => new Error('Redis did not answer'))
      } catch (error) {
        if (error instanceof TypeError) throw error
        if (isDisconnection(error) && servers !== this.#servers) continue
        const reason = reasonOf(error)
        if (/\b(READONLY|NOREPLICAS)\b/.test(reason) && this.#state === 'connected') this.#news.tell()
        throw new StoreUnavailableError(isDisconnection(error) ? this.#reason : reason)
      }
    }
  }

  close(): void {
    this.#news.end()
    this.#servers?.close()
  }

  async #keepOpen(): Promise<void> {
    for (let pauseMs = PAUSE_MS; !this.#news.isOver; ) {
      const wait = this.#news.listen()
      try {
        const servers = await this.#replaceServers(await this.#sentinels?.find())
        pauseMs = PAUSE_MS
        await this.#watch(servers)
      } catch (error) {
        this.#setState('lost', reasonOf(error))
        // Random, so that processes do not reconnect at the same time.
        await wait(pauseMs * (0.5 + Math.random() / 2))
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
      }
    }
  }

  /**
   * Opens another connection. If some of its servers fail, uses it only if fewer servers fail than in the former connection, which
   * may still reach other masters of a cluster.
   */
  async #replaceServers(url?: string): Promise<Servers> {
    const former = this.#servers
    const cluster = former?.mode === 'cluster' ? former : undefined
    const before = await check(cluster)
    const next = await openServers(url === undefined ? this.#urls : [url], cluster && before.answering)
    const { answering, failures } = await check(next)
    const isBetter = cluster ? failures.length < before.failures.length : answering.length > 0
    if (this.#news.isOver || (failures.length > 0 && !isBetter)) {
      next.close()
      throw failures[0] ?? new Error('the connection was closed')
    }
    this.#servers = next
    this.#masterUrl = url
    // Running commands of a cluster get this time to finish. Commands to any other former master fail now, and `run` repeats them.
    setTimeout(() => former?.close(), cluster ? COMMAND_MS : 0).unref()
    this.#setState('connected')
    return next
  }

  /** Resolves when the Sentinels name another master. Rejects when one of the servers fails or is no longer a master. */
  async #watch(servers: Servers): Promise<void> {
    while (!this.#news.isOver && (this.#sentinels?.master ?? this.#masterUrl) === this.#masterUrl) {
      const wait = this.#news.listen()
      const round = Promise.all(servers.list().map(answer)).then(() => wait(WATCH_MS))
      // A server that does not answer must not delay the change to the new master.
      await Promise.race([round, wait(2 * SILENCE_MS)])
    }
  }

  #setState(next: 'lost' | 'connected', reason?: string): void {
    if (reason !== undefined) this.#reason = reason
    if (this.#state !== next && !this.#news.isOver) this.#onState(next, reason)
    this.#state = next
  }
}

/** Resolves to the servers that answer, and the errors of the other servers. */
async function check(servers: Servers | undefined) {
  const list = servers?.list() ?? []
  const results = await Promise.allSettled(list.map(answer))
  return {
    answering: list.filter((_server, index) => results[index]?.status === 'fulfilled'),
    failures: results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])),
  }
}

/**
 * Rejects if the server fails or is not a master. Also ends its connection if it fails, because commands to a silent server would
 * wait for ever. Uses HELLO, because every user may send it.
 */
async function answer({ host, port, hello, end }: Server): Promise<void> {
  const noAnswer = () => new Error(`${host}:${port} did not answer`)
  const { role } = await withTimeout(hello(), SILENCE_MS, noAnswer).catch((error) => {
    end()
    throw isDisconnection(error) ? new Error(`${host}:${port} is not connected`) : error
  })
  if (role !== 'master') throw new Error(`${host}:${port} refuses writes: it is a ${role}, not a master`)
}

const isDisconnection = (error: unknown): boolean =>
  error instanceof ClientClosedError || error instanceof DisconnectsClientError

/** The message of Redis, without the arguments of the command, which may contain a password or a record. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0])
  const message =
    error instanceof Error ? error.message.replace(/,? with args beginning with[\s\S]*/, '') : ''
  return message || 'Redis is not reachable'
}
