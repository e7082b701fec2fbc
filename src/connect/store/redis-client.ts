import { createClient, createCluster, defineScript } from 'redis'
import { StoreUnavailableError } from './store.ts'

/** How often command timeouts are checked, in ms. */
const TICK_MS = 100
/** A command that is not answered within this time fails, in ms: callers see an outage within 2 s. */
const COMMAND_TIMEOUT_MS = 1500
const CONNECT_TIMEOUT_MS = 1500
/** Reconnect if the server sends nothing for this long, in ms. */
const SILENCE_MS = 4000

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

export type Client = ReturnType<typeof createSingleClient>

export interface Connection {
  /**
   * Resolves to the answer to a command. Throws `StoreUnavailableError` if Redis fails or does not answer in time; the
   * command may still be executed later.
   */
  run<T>(command: (client: Client) => Promise<T>): Promise<T>
  /** Runs a command on the single server, or on each master of a cluster. */
  runOnEach<T>(command: (node: Client) => Promise<T>): Promise<T[]>
  /** The names of the single server, or of each master of a cluster. */
  nodeNames(): Promise<string[]>
  /** Runs a command on one of them. Throws `StoreUnavailableError` also if it is no longer a master. */
  runOn<T>(name: string, command: (node: Client) => Promise<T>): Promise<T>
  close(): void
}

/** Called when the connection is lost, with the reason, and when it is restored. The reason contains no secrets. */
export type OnState = (state: 'lost' | 'connected', reason?: string) => void

/**
 * Opens a connection that recovers automatically: it connects in the background and keeps trying, and it reconnects if
 * Redis stops answering without closing (a failed machine, a cut network) or turns out to be a demoted replica.
 */
export function openConnection(urls: string[], onState: OnState): Connection {
  let state: 'starting' | 'lost' | 'connected' = 'starting'
  let closed = false
  let startedAt = performance.now()
  let client = start()
  const timeouts = createTimeouts(reconnect)

  function setState(next: 'lost' | 'connected', error?: unknown): void {
    if (state !== next) onState(next, error === undefined ? undefined : reasonOf(error))
    state = next
  }

  function start(): Client {
    const started = urls.length === 1 ? createSingleClient(urls[0] as string) : createClusterClient(urls)
    const isCurrent = () => !closed && client === started
    started.on('error', (error: unknown) => isCurrent() && setState('lost', error))
    started.on('ready', () => isCurrent() && setState('connected'))
    // A single client retries for ever; a cluster client stops when no node answers, so connect again.
    const connect = async (): Promise<void> => {
      if (!isCurrent()) return
      try {
        await started.connect()
        if (isCurrent()) setState('connected')
      } catch (error) {
        if (!isCurrent()) return
        setState('lost', error)
        setTimeout(connect, 500).unref()
      }
    }
    setImmediate(connect)
    return started
  }

  function reconnect(reason: string): void {
    setState('lost', new Error(reason))
    startedAt = performance.now()
    timeouts.reset()
    client.destroy()
    client = start()
  }

  async function timed<T>(answer: Promise<T>): Promise<T> {
    try {
      return await timeouts.limit(answer)
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error
      const message = reasonOf(error)
      if (message.startsWith('READONLY') && performance.now() - startedAt > 1000) reconnect(message)
      throw new StoreUnavailableError(message)
    }
  }

  async function nodes(): Promise<Map<string, Client>> {
    if (!('masters' in client)) return new Map([['server', client]])
    const cluster = client as unknown as ClusterNodes
    if (cluster.masters.length === 0)
      throw new StoreUnavailableError('no node of the Redis Cluster is reachable')
    return new Map(
      await timed(
        Promise.all(
          cluster.masters.map(async (node) => [node.address, await cluster.nodeClient(node)] as const),
        ),
      ),
    )
  }

  return {
    run: (command) => timed(command(client)),
    runOnEach: async (command) => timed(Promise.all([...(await nodes()).values()].map(command))),
    nodeNames: async () => [...(await nodes()).keys()],
    async runOn(name, command) {
      const node = (await nodes()).get(name)
      if (!node) throw new StoreUnavailableError(`${name} is no longer a master of the Redis Cluster`)
      return timed(command(node))
    },
    close() {
      closed = true
      timeouts.stop()
      client.destroy()
    },
  }
}

/** What Redis says, without the arguments of the command that it repeats: they may be a password or a record. */
const reasonOf = (error: unknown): string =>
  (error instanceof Error && error.message.replace(/,? with args beginning with[\s\S]*/, '')) ||
  'Redis is not reachable'

/** Command timeouts on a single timer: a timer for each command would cost as much as the command itself. */
function createTimeouts(onSilence: (reason: string) => void) {
  const pending = new Set<{ since: number; fail: (error: StoreUnavailableError) => void }>()
  // Counted in ticks, because reading a finer clock for each command costs more.
  let now = 0
  let lastAnswerAt = 0
  const timer = setInterval(() => {
    now++
    let timedOut = false
    // The oldest command comes first.
    for (const command of pending) {
      if ((now - command.since) * TICK_MS <= COMMAND_TIMEOUT_MS) break
      pending.delete(command)
      command.fail(new StoreUnavailableError(`Redis did not answer within ${COMMAND_TIMEOUT_MS} ms`))
      timedOut = true
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
    },
    stop: () => clearInterval(timer),
  }
}

/** Our own timeout replaces the client's, which creates an AbortSignal for every command. */
const commandOptions = { timeout: 0 }

const socket = {
  connectTimeout: CONNECT_TIMEOUT_MS,
  // Frequent enough to recover within 2 s of Redis; random so that processes do not reconnect at the same time.
  reconnectStrategy: () => 250 + Math.floor(Math.random() * 250),
}

function createSingleClient(url: string) {
  // A copy: the client adds `tls` to it, as the url says.
  return createClient({ url, socket: { ...socket }, scripts, disableOfflineQueue: true, commandOptions })
}

interface ClusterNodes {
  masters: { address: string }[]
  nodeClient(node: object): Promise<Client>
}

/** A cluster client has all the commands of a single one that we use, but its type differs. */
function createClusterClient(urls: string[]): Client {
  const { username, password, protocol } = new URL(urls[0] as string)
  const tls = protocol === 'rediss:' ? { tls: true as const } : {}
  const credentials = {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  }
  return createCluster({
    rootNodes: urls.map((url) => ({ url })),
    defaults: { socket: { ...socket, ...tls }, disableOfflineQueue: true, ...credentials },
    commandOptions,
    scripts,
  }) as unknown as Client
}
