import { setTimeout as pause } from 'node:timers/promises'
import type { Client, ServerNode, Servers } from './node-redis.ts'
import { openServers } from './redis-servers.ts'
import { StoreUnavailableError } from './store.ts'

/** How often command timeouts are checked, in ms. */
const TICK_MS = 100
/** A command that is not answered within this time fails, in ms: callers see an outage within 2 s. */
const COMMAND_TIMEOUT_MS = 1500
/** When replaced connections are closed, in ms: their last commands are answered by then, or have timed out. */
const CLOSE_AFTER_MS = 1700
/** Open new connections if the servers send nothing for this long, in ms. */
const SILENCE_MS = 4000
/** How long commands fail without being sent after one was not answered, in ms: a request needs several of them. */
const FAIL_FAST_MS = 500
/** The shortest pause between two attempts to connect, in ms: frequent enough to recover within 2 s of Redis. */
const RECONNECT_MS = 250

export interface Connection {
  /**
   * Resolves to the answer to a command. Throws `StoreUnavailableError` if Redis fails or does not answer in time; the
   * command may still be executed later.
   */
  run<T>(command: (client: Client) => Promise<T>): Promise<T>
  /**
   * Reads a key, from memory if the server reports changes: what another process writes is seen within milliseconds, and
   * within a second if the connection is silent.
   */
  getCached(name: string): Promise<string | null>
  /** `run` for a command that writes a key. */
  write<T>(name: string, command: (client: Client) => Promise<T>): Promise<T>
  /** Runs a command on the single server, or on each master of a cluster. */
  runOnEach<T>(command: (node: Client) => Promise<T>): Promise<T[]>
  /** Resolves if the command succeeds on the single server, or on most masters of a cluster. */
  runOnMost(command: (node: Client) => Promise<unknown>): Promise<void>
  /** The names of the single server, or of each master of a cluster. */
  nodeNames(): string[]
  /** Runs a command on one of them. Throws `StoreUnavailableError` also if it is no longer a master. */
  runOn<T>(name: string, command: (node: Client) => Promise<T>): Promise<T>
  close(): void
}

/** Called when the connection is lost, with the reason, and when it is restored. The reason contains no secrets. */
export type OnState = (state: 'lost' | 'connected', reason?: string) => void

/**
 * Opens a connection that recovers automatically: it connects in the background and keeps trying, and it connects again if
 * Redis closes it, stops answering without closing (a failed machine, a cut network), or turns out to be a demoted replica.
 */
export function openConnection(urls: readonly string[], onState: OnState): Connection {
  const timeouts = createTimeouts((silence) => link.reopen(new Error(silence)))
  const link = openLink(urls, onState, timeouts.reset)

  async function timed<T>(command: () => Promise<T>): Promise<T> {
    timeouts.failFast()
    try {
      return await timeouts.limit(command())
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error
      const message = reasonOf(error)
      if (message.startsWith('READONLY') && link.openForMs() > 1000) link.reopen(error)
      throw new StoreUnavailableError(message)
    }
  }

  function nodes(): ServerNode[] {
    const found = link.servers().nodes()
    if (found.length === 0) throw new StoreUnavailableError('no node of the Redis Cluster is reachable')
    return found
  }
  const onNode = <T>(node: ServerNode, command: (client: Client) => Promise<T>) =>
    timed(async () => command(await node.client()))

  return {
    run: (command) => timed(() => command(link.servers().client)),
    async getCached(name) {
      const { cache, client } = link.servers()
      if (!cache) return timed(() => client.get(name))
      return cache.get(name) ?? timed(() => cache.load(name, () => client.get(name)))
    },
    async write(name, command) {
      try {
        return await timed(() => command(link.servers().client))
      } finally {
        link.forget(name)
      }
    },
    runOnEach: async (command) => Promise.all(nodes().map((node) => onNode(node, command))),
    runOnMost: async (command) => majorityOf(nodes().map((node) => onNode(node, command))),
    nodeNames: () => nodes().map(({ name }) => name),
    async runOn(name, command) {
      const node = nodes().find((node) => node.name === name)
      if (!node) throw new StoreUnavailableError(`${name} is no longer a master of the Redis Cluster`)
      return onNode(node, command)
    },
    close() {
      timeouts.stop()
      link.close()
    },
  }
}

/** Connections to the servers, and what has become of them. */
interface Link {
  readonly urls: readonly string[]
  readonly onState: OnState
  /** Called when new connections are used. */
  readonly onOpen: () => void
  state: 'starting' | 'lost' | 'connected'
  reason: string
  closed: boolean
  opening: boolean
  openedAt: number
  servers: Servers | undefined
  /** Replaced, but with commands on their way, which a demoted replica still answers. */
  readonly replaced: Set<Servers>
}

/** Keeps connections to the servers open. `onOpen`: called when new ones are used. */
function openLink(urls: readonly string[], onState: OnState, onOpen: () => void) {
  const link: Link = {
    urls,
    onState,
    onOpen,
    state: 'starting',
    reason: 'Redis is not connected yet',
    closed: false,
    opening: false,
    openedAt: performance.now(),
    servers: undefined,
    replaced: new Set(),
  }
  setImmediate(() => void reopen(link))
  return {
    servers(): Servers {
      if (!link.servers) throw new StoreUnavailableError(link.reason)
      return link.servers
    },
    /** After this process has written a key: the report of the server comes later than its answer. */
    forget: (name: string) => link.servers?.cache?.forget(name),
    reopen: (cause: unknown) => void reopen(link, cause),
    openForMs: () => performance.now() - link.openedAt,
    close() {
      link.closed = true
      link.servers?.close()
      for (const old of link.replaced) old.close()
    },
  }
}

/** Opens new connections. Those that are there are used until then: a demoted replica still answers reads. */
async function reopen(link: Link, cause?: unknown): Promise<void> {
  if (link.opening || link.closed) return
  link.opening = true
  if (cause !== undefined) setState(link, 'lost', cause)
  while (link.opening && !link.closed) {
    try {
      useServers(link, await openServers(link.urls))
      link.opening = false
    } catch (error) {
      if (link.closed) return
      setState(link, 'lost', error)
      // Random, so that processes do not reconnect at the same time.
      await pause(RECONNECT_MS * (1 + Math.random()), undefined, { ref: false })
    }
  }
}

function useServers(link: Link, next: Servers): void {
  if (link.closed) {
    next.close()
    return
  }
  if (link.servers) closeLater(link, link.servers)
  link.servers = next
  link.openedAt = performance.now()
  link.onOpen()
  setState(link, 'connected')
  void next.ended.then((error) => {
    if (next === link.servers) void reopen(link, error)
  })
}

function closeLater({ replaced }: Link, old: Servers): void {
  replaced.add(old)
  setTimeout(() => replaced.delete(old) && old.close(), CLOSE_AFTER_MS).unref()
}

function setState(link: Link, next: 'lost' | 'connected', error?: unknown): void {
  if (error !== undefined) link.reason = reasonOf(error)
  if (link.state !== next) link.onState(next, error === undefined ? undefined : link.reason)
  link.state = next
}

/** What Redis says, without the arguments of the command that it repeats: they may be a password or a record. */
const reasonOf = (error: unknown): string =>
  (error instanceof Error && error.message.replace(/,? with args beginning with[\s\S]*/, '')) ||
  'Redis is not reachable'

const noAnswer = () => new StoreUnavailableError(`Redis did not answer within ${COMMAND_TIMEOUT_MS} ms`)

/** Command timeouts on a single timer: a timer for each command would cost as much as the command itself. */
function createTimeouts(onSilence: (reason: string) => void) {
  const pending = new Set<{ since: number; fail: (error: StoreUnavailableError) => void }>()
  // Counted in ticks, because reading a finer clock for each command costs more.
  let now = 0
  let lastAnswerAt = 0
  let failUntil = 0
  const timer = setInterval(() => {
    now++
    let timedOut = false
    // The oldest command comes first.
    for (const command of pending) {
      if ((now - command.since) * TICK_MS <= COMMAND_TIMEOUT_MS) break
      pending.delete(command)
      command.fail(noAnswer())
      timedOut = true
      // If others are answered, only this one was slow.
      if (lastAnswerAt <= command.since) failUntil = now + FAIL_FAST_MS / TICK_MS
    }
    if (timedOut && (now - lastAnswerAt) * TICK_MS > SILENCE_MS)
      onSilence(`nothing was answered for ${SILENCE_MS} ms`)
  }, TICK_MS)
  timer.unref()
  return {
    limit<T>(answer: Promise<T>): Promise<T> {
      return new Promise((resolve, reject) => {
        const command = { since: now, fail: reject }
        pending.add(command)
        answer.then(
          (value) => {
            pending.delete(command)
            lastAnswerAt = now
            failUntil = 0
            resolve(value)
          },
          (error: unknown) => {
            pending.delete(command)
            reject(error)
          },
        )
      })
    },
    /** Restarts the measurement of silence. */
    reset() {
      lastAnswerAt = now
      failUntil = 0
    },
    /** Throws `StoreUnavailableError` if Redis has just not answered. */
    failFast() {
      if (now < failUntil) throw noAnswer()
    },
    stop: () => clearInterval(timer),
  }
}

/** Resolves when more than half of the promises have resolved, and rejects with an error as soon as they cannot. */
function majorityOf(promises: readonly Promise<unknown>[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const needed = Math.floor(promises.length / 2) + 1
    let resolved = 0
    let rejected = 0
    const onResolved = () => {
      if (++resolved >= needed) resolve()
    }
    const onRejected = (error: unknown) => {
      if (promises.length - ++rejected < needed) reject(error)
    }
    for (const promise of promises) promise.then(onResolved, onRejected)
  })
}
