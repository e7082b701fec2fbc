import { createClient, createCluster, defineScript } from 'redis'
import { type Entry, groupName, keyName, parseKeyName, type Store, StoreUnavailable } from './store.ts'

/** A command that has no answer by then fails; callers promise an answer within 2 s of a Redis outage. */
const COMMAND_MS = 1500
const CONNECT_MS = 1500

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

/** The four commands that connect-redis needs for sessions, with the same deadline as the store's own. */
export interface SessionCommands {
  get(key: string): Promise<string | null>
  set(key: string, value: string, options: object): Promise<unknown>
  expire(key: string, seconds: number): Promise<unknown>
  del(keys: string[]): Promise<unknown>
}

export interface RedisOptions {
  /** One `redis://` or `rediss://` address, or several nodes of a cluster. */
  urls: string[]
  /** Told when the connection is lost, with the reason, and when it is back; nothing in it is secret. */
  onState?: (state: 'lost' | 'connected', description: string, reason?: string) => void
}

/**
 * The store on Redis, a single server or a cluster. Connects in the background and keeps trying, so that
 * the app starts without Redis and recovers by itself; until then every verb throws `StoreUnavailable`.
 */
export function openRedis({ urls, onState = () => {} }: RedisOptions): Store & { sessions: SessionCommands } {
  const description = `Redis at ${urls.map((url) => new URL(url).host || 'localhost:6379').join(', ')}`
  const client = connect(urls)
  let state: 'starting' | 'lost' | 'connected' = 'starting'
  const becomes = (next: 'lost' | 'connected', error?: unknown) => {
    if (state !== next) onState(next, description, error instanceof Error ? error.message : undefined)
    state = next
  }
  client.on('error', (error: unknown) => becomes('lost', error))
  client.on('ready', () => becomes('connected'))
  // A single client retries for ever by itself; a cluster gives up when no node answers, so ask again.
  let closed = false
  const start = (): Promise<unknown> =>
    client.connect().catch(async (error: unknown) => {
      becomes('lost', error)
      await new Promise((resolve) => setTimeout(resolve, 500).unref())
      return closed ? undefined : start()
    })
  void start().then(() => closed || becomes('connected'))

  const names = (key: Entry['key']) => [keyName(key), groupName(key.kind, key.owner)] as const
  const ttl = (ttlMs: number | undefined) =>
    ttlMs === undefined ? '' : String(Math.max(1, Math.ceil(ttlMs)))

  return {
    description,

    get: (key) => timed(client.get(keyName(key))),

    set: async (key, value, ttlMs) => {
      await timed(client.write(...names(key), value, ttl(ttlMs)))
    },

    compareAndSet: (key, expected, next, ttlMs) =>
      timed(client.swap(...names(key), next ?? '', ttl(ttlMs), expected ?? '')),

    delete: (key) => timed(client.remove(...names(key))),

    async list(kind, owner) {
      const members = await timed(client.sMembers(groupName(kind, owner)))
      const values = members.length > 0 ? await timed(client.mGet(members)) : []
      return entries(members, values)
    },

    async *scan(kind) {
      for (const node of await nodes(client)) {
        for await (const groups of node.scanIterator({ MATCH: `connect:${kind}:{*}`, COUNT: 500 })) {
          for (const group of groups) {
            const members = await timed(client.sMembers(group))
            if (members.length > 0) yield* entries(members, await timed(client.mGet(members)))
          }
        }
      }
    },

    ping: async () => {
      await timed(Promise.all((await nodes(client)).map((node) => node.ping())))
      // A cluster whose slots are not all served answers pings, but no command for a key.
      await timed(client.get('connect:ping'))
    },

    warnings: async () => (await Promise.all((await nodes(client)).map(warningsOf))).flat(),

    close: async () => {
      closed = true
      client.destroy()
    },

    sessions: {
      get: (key) => timed(client.get(key)),
      set: (key, value, options) => timed(client.set(key, value, options)),
      expire: (key, seconds) => timed(client.expire(key, seconds)),
      del: (keys) => timed(client.del(keys)),
    },
  }
}

function connect(urls: string[]) {
  const [url = ''] = urls
  const socket = {
    connectTimeout: CONNECT_MS,
    // Often enough that the app is back within 2 s of Redis, spread so that processes do not march in step.
    reconnectStrategy: () => 250 + Math.floor(Math.random() * 250),
  }
  if (urls.length === 1) return createClient({ url, socket, scripts, disableOfflineQueue: true })
  const { username, password, protocol } = new URL(url)
  const tls = protocol === 'rediss:' ? { tls: true as const } : {}
  const credentials = {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  }
  return createCluster({
    rootNodes: urls.map((nodeUrl) => ({ url: nodeUrl })),
    defaults: { socket: { ...socket, ...tls }, disableOfflineQueue: true, ...credentials },
    scripts,
  }) as unknown as ReturnType<typeof createClient<Record<never, never>, Record<never, never>, typeof scripts>>
}

type Client = ReturnType<typeof connect>

/** The servers that hold data: the one, or each master of a cluster. */
async function nodes(client: Client): Promise<Client[]> {
  if (!('masters' in client)) return [client]
  const cluster = client as unknown as { masters: object[]; nodeClient(node: object): Promise<Client> }
  if (cluster.masters.length === 0) throw new StoreUnavailable('no node of the Redis Cluster is reachable')
  return timed(Promise.all(cluster.masters.map((node) => cluster.nodeClient(node))))
}

/** Settings under which Redis may drop what it was given. Managed services may forbid asking: then we say so. */
async function warningsOf(node: Client): Promise<string[]> {
  const ask = async (name: string) => Object.values(await timed(node.configGet(name)))[0] ?? ''
  try {
    const [policy, save, append] = await Promise.all([
      ask('maxmemory-policy'),
      ask('save'),
      ask('appendonly'),
    ])
    const warnings = []
    if (policy !== 'noeviction') {
      warnings.push(
        `Redis may evict connections when its memory is full: maxmemory-policy is ${policy}; set it to noeviction.`,
      )
    }
    if (save === '' && append !== 'yes') {
      warnings.push('Redis keeps nothing on disk: a restart loses every connection; set appendonly yes.')
    }
    return warnings
  } catch {
    return [
      'Redis does not tell its settings; check that maxmemory-policy is noeviction and that it persists.',
    ]
  }
}

function entries(names: string[], values: (string | null)[]): Entry[] {
  return names.flatMap((name, index) => {
    const key = parseKeyName(name)
    const value = values[index]
    return key && value ? [{ key, value }] : []
  })
}

/** Commands that wait for an answer, the oldest first: one timer for all, as a timer each costs as much as a command. */
const waiting = new Set<{ since: number; fail: (error: StoreUnavailable) => void }>()
let watch: NodeJS.Timeout | undefined

function failLate(): void {
  const now = performance.now()
  for (const command of waiting) {
    if (now - command.since < COMMAND_MS) break
    waiting.delete(command)
    command.fail(new StoreUnavailable(`Redis did not answer within ${COMMAND_MS} ms`))
  }
  if (waiting.size === 0) {
    clearInterval(watch)
    watch = undefined
  }
}

/** The command's answer, or `StoreUnavailable` when Redis fails or does not answer in time. */
function timed<T>(command: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const entry = { since: performance.now(), fail: reject }
    waiting.add(entry)
    watch ??= setInterval(failLate, 100).unref()
    command.then(
      (value) => {
        waiting.delete(entry)
        resolve(value)
      },
      (error: unknown) => {
        waiting.delete(entry)
        reject(
          new StoreUnavailable(
            error instanceof Error && error.message ? error.message : 'Redis is not reachable',
          ),
        )
      },
    )
  })
}
