import { setTimeout as pause } from 'node:timers/promises'
import { ClientClosedError, DisconnectsClientError } from 'redis'
import { withTimeout } from '../timeouts.ts'
import { cachedValue, openServers, type Server, type Servers, SILENCE_MS } from './redis-servers.ts'
import { StoreUnavailableError } from './store.ts'

/** How often each server is asked whether it answers, in ms. */
const WATCH_MS = 250
/** How long a command may take, in ms: longer than it takes to find out that its server is silent. */
const COMMAND_MS = 1_600
/** The pause before another attempt to connect, in ms: it doubles, up to the longest one. */
const PAUSE_MS = 100
const LONGEST_PAUSE_MS = 500

/** Called when the connection is lost, with the reason, and when it is restored. The reason contains no secrets. */
export type OnState = (state: 'lost' | 'connected', reason?: string) => void

/**
 * A connection that recovers by itself, in all modes of Redis in the same way. It is opened in the background, its servers are
 * watched, and if one of them fails, falls silent, or turns out to be a demoted replica, another connection takes its place. That
 * finds the new master: by the Sentinels, by the other nodes of the cluster, or by the name of the server.
 */
export class RedisConnection {
  readonly #urls: readonly string[]
  readonly #onState: OnState
  #state: 'starting' | 'lost' | 'connected' = 'starting'
  #reason = 'Redis is not connected yet'
  #isClosed = false
  #servers: Servers | undefined
  /** The error of a server that answers, but is no longer a master. */
  #demotion: unknown

  constructor(urls: readonly string[], onState: OnState) {
    this.#urls = urls
    this.#onState = onState
    setImmediate(() => void this.#keepOpen())
  }

  /**
   * Resolves to the answer to a command. Throws `StoreUnavailableError` if Redis fails or does not answer in time; the
   * command may still be executed later.
   */
  async run<T>(command: (servers: Servers) => Promise<T>): Promise<T> {
    if (!this.#servers) throw new StoreUnavailableError(this.#reason)
    try {
      return await withTimeout(command(this.#servers), COMMAND_MS, () => new Error('Redis did not answer'))
    } catch (error) {
      if (error instanceof TypeError) throw error
      const reason = reasonOf(error)
      if (reason.startsWith('READONLY')) this.#demotion = error
      throw new StoreUnavailableError(isDisconnection(error) ? this.#reason : reason)
    }
  }

  /** A value in memory; undefined if it must be read. */
  cached(name: string): string | undefined {
    return this.#servers && cachedValue(this.#servers, name)
  }

  close(): void {
    this.#isClosed = true
    this.#servers?.close()
  }

  async #keepOpen(): Promise<void> {
    for (let pauseMs = PAUSE_MS; !this.#isClosed; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        const servers = await this.#replaceServers()
        pauseMs = PAUSE_MS
        await this.#watch(servers)
      } catch (error) {
        this.#setState('lost', reasonOf(error))
      }
      // Random, so that processes do not reconnect at the same time.
      await pause(pauseMs * (0.5 + Math.random() / 2), undefined, { ref: false })
    }
  }

  /** Opens another connection, and uses it unless it is no better: the other masters of a cluster go on as they are. */
  async #replaceServers(): Promise<Servers> {
    const former = this.#servers
    const before = await check(former)
    const next = await openServers(this.#urls, former?.mode === 'cluster' ? before.answering : undefined)
    const { failures } = await check(next)
    const isWorse = former && failures.length > 0 && failures.length >= before.failures.length
    if (this.#isClosed || isWorse) {
      next.close()
      throw failures[0] ?? new Error('the connection was closed')
    }
    this.#servers = next
    this.#demotion = undefined
    // Its last commands have ended by then.
    if (former) setTimeout(() => former.close(), COMMAND_MS).unref()
    this.#setState('connected')
    return next
  }

  /** Rejects when one of the servers fails or is no longer a master. */
  async #watch(servers: Servers): Promise<void> {
    while (!this.#isClosed) {
      await Promise.all(servers.list().map(answer))
      if (this.#demotion) throw this.#demotion
      await pause(WATCH_MS, undefined, { ref: false })
    }
  }

  #setState(next: 'lost' | 'connected', reason?: string): void {
    if (reason !== undefined) this.#reason = reason
    if (this.#state !== next && !this.#isClosed) this.#onState(next, reason)
    this.#state = next
  }
}

/** Those that answer, and the errors of the others. */
async function check(servers: Servers | undefined) {
  const list = servers?.list() ?? []
  const results = await Promise.allSettled(list.map(answer))
  return {
    answering: list.filter((_server, index) => results[index]?.status === 'fulfilled'),
    failures: results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])),
  }
}

/** Rejects if the server does not answer. Then its commands end: those of a silent one would wait for ever. */
async function answer({ host, port, commands, end }: Server): Promise<void> {
  const ping = async () => (await commands()).ping()
  try {
    await withTimeout(ping(), SILENCE_MS, () => new Error(`${host}:${port} did not answer`))
  } catch (error) {
    end()
    throw isDisconnection(error) ? new Error(`${host}:${port} is not connected`) : error
  }
}

const isDisconnection = (error: unknown): boolean =>
  error instanceof ClientClosedError || error instanceof DisconnectsClientError

/** What Redis says, without the arguments of the command that it repeats: they may be a password or a record. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0])
  const message =
    error instanceof Error ? error.message.replace(/,? with args beginning with[\s\S]*/, '') : ''
  return message || 'Redis is not reachable'
}
