import { createClient, createCluster, defineScript } from 'redis'
import { StoreUnavailableError } from './store.ts'

/** The clock of waiting commands ticks so often, in ms; reading a finer one for each would cost more. */
const TICK_MS = 100
/** A command that has no answer by then fails; callers promise an answer within 2 s of a Redis outage. */
const COMMAND_MS = 1500
const CONNECT_MS = 1500
/** Reconnect if the server sends nothing for this long, in ms. */
const SILENCE_MS = 4000

/** Writes a lasting value and lists it in its group, or an expiring one and unlists it. */
const WRITE = `
  if ARGV[2] == '' then redis.call('SET', KEYS[1], ARGV[1]); redis.call('SADD', KEYS[2], KEYS[1])
  else redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]); redis.call('SREM', KEYS[2], KEYS[1]) end`
const REMOVE = `redis.call('SREM', KEYS[2], KEYS[1]); return redis.call('DEL', KEYS[1])`

const scripts = {
  write: script(`${WRITE} return 1`),
  remove: script(REMOVE),
  // ARGV: next, ttl or '', expected. '' stands for absent: no value of ours is empty.
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

export type Client = ReturnType<typeof createSingle>

export interface Connection {
  /**
   * The answer to a command, or `StoreUnavailableError` when Redis fails or does not answer in time. A command that
   * was sent may still be carried out later.
   */
  run<T>(command: (client: Client) => Promise<T>): Promise<T>
  /** Runs a command on the one server, or on each master of a cluster. */
  runOnEach<T>(command: (node: Client) => Promise<T>): Promise<T[]>
  /** The one server, or each master of a cluster. */
  nodes(): Promise<Client[]>
  close(): void
}

/** Told when the connection is lost, with the reason, and when it is back; nothing in it is secret. */
export type OnState = (state: 'lost' | 'connected', reason?: string) => void

/**
 * A connection that mends itself: it connects in the background and keeps trying, and starts anew when Redis
 * falls silent without closing (a failed machine, a cut network) or turns out to be a demoted replica.
 */
export function openConnection(urls: string[], onState: OnState): Connection {
  const waiting = new Set<{ since: number; fail: (error: StoreUnavailableError) => void }>()
  let state: 'starting' | 'lost' | 'connected' = 'starting'
  let closed = false
  // In ticks of the watch below.
  let time = 0
  let answered = 0
  let begun = 0
  let client = start()
  // One timer for all commands, the oldest first: a timer each costs as much as the command.
  const watch = setInterval(failLate, TICK_MS)
  watch.unref()

  function becomes(next: 'lost' | 'connected', error?: unknown): void {
    if (state !== next) onState(next, error instanceof Error ? error.message : undefined)
    state = next
  }

  function start(): Client {
    const started = urls.length === 1 ? createSingle(urls[0] as string) : createMany(urls)
    const current = () => !closed && client === started
    started.on('error', (error: unknown) => current() && becomes('lost', error))
    started.on('ready', () => current() && becomes('connected'))
    // A single client retries for ever by itself; a cluster gives up when no node answers, so ask again.
    const connect = async (): Promise<void> => {
      if (!current()) return
      try {
        await started.connect()
        if (current()) becomes('connected')
      } catch (error) {
        if (!current()) return
        becomes('lost', error)
        setTimeout(connect, 500).unref()
      }
    }
    setImmediate(connect)
    return started
  }

  function startAnew(why: string): void {
    becomes('lost', new Error(why))
    begun = answered = time
    client.destroy()
    client = start()
  }

  function failLate(): void {
    time++
    let late = false
    for (const command of waiting) {
      if ((time - command.since) * TICK_MS <= COMMAND_MS) break
      waiting.delete(command)
      command.fail(new StoreUnavailableError(`Redis did not answer within ${COMMAND_MS} ms`))
      late = true
    }
    if (late && (time - answered) * TICK_MS > SILENCE_MS)
      startAnew(`nothing was answered for ${SILENCE_MS} ms`)
  }

  function timed<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const entry = { since: time, fail: reject }
      waiting.add(entry)
      answer.then(
        (value) => {
          waiting.delete(entry)
          answered = time
          resolve(value)
        },
        (error: unknown) => {
          waiting.delete(entry)
          const message = error instanceof Error && error.message ? error.message : 'Redis is not reachable'
          if (message.startsWith('READONLY') && (time - begun) * TICK_MS > 1000) startAnew(message)
          reject(new StoreUnavailableError(message))
        },
      )
    })
  }

  async function nodes(): Promise<Client[]> {
    if (!('masters' in client)) return [client]
    const cluster = client as unknown as { masters: object[]; nodeClient(node: object): Promise<Client> }
    if (cluster.masters.length === 0)
      throw new StoreUnavailableError('no node of the Redis Cluster is reachable')
    return timed(Promise.all(cluster.masters.map((node) => cluster.nodeClient(node))))
  }

  return {
    run: (command) => timed(command(client)),
    runOnEach: async (command) => timed(Promise.all((await nodes()).map(command))),
    nodes,
    close() {
      closed = true
      clearInterval(watch)
      client.destroy()
    },
  }
}

/** Our own deadline stands in for the client's, which makes an AbortSignal for every command. */
const commandOptions = { timeout: 0 }

const socket = {
  connectTimeout: CONNECT_MS,
  // Often enough that the app is back within 2 s of Redis, spread so that processes do not march in step.
  reconnectStrategy: () => 250 + Math.floor(Math.random() * 250),
}

function createSingle(url: string) {
  return createClient({ url, socket, scripts, disableOfflineQueue: true, commandOptions })
}

/** A cluster has the verbs of a single client that we use; its type says so less plainly. */
function createMany(urls: string[]): Client {
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
