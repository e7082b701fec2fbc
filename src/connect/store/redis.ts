import { ErrorReply, type SetOptions } from 'redis'
import { type OnState, RedisConnection, reasonOf } from './redis-connection.ts'
import { groupName, keyName, ownerPattern, parseName } from './redis-keys.ts'
import type { Commands, Server } from './redis-servers.ts'
import {
  appOwner,
  type Entry,
  type GroupsPage,
  type Key,
  type KeyValueStore,
  newsOnly,
  type OnRefusal,
  PERMANENT,
} from './store.ts'

export interface RedisOptions {
  /**
   * One `redis://` or `rediss://` address of a server or a cluster, or several nodes of a cluster. For Sentinels, use
   * `redis+sentinel://` or `rediss+sentinel://` addresses, with the name of the master as the path.
   */
  urls: readonly string[]
  /** Called when the connection is lost, with the reason, and when it is restored. */
  onState?: OnState
  onRefusal?: OnRefusal
}

/** Commands of Redis, for packages that take a client of node-redis. Throws `StoreUnavailableError`, as the store does. */
export interface RedisCommands {
  /** May come from memory: see `KeyValueStore.getCached`. */
  get(name: string): Promise<string | null>
  set(name: string, value: string, options?: SetOptions): Promise<string | null>
  del(names: string[]): Promise<number>
}

export interface RedisStore extends KeyValueStore {
  readonly client: RedisCommands
  /** Problems with the settings of Redis, each as a text for the operator. Throws `StoreUnavailableError`. */
  warnings(): Promise<string[]>
}

/**
 * Opens the store on Redis: a single server, a cluster, or a master behind Sentinels. It connects in the background and reconnects
 * automatically. While Redis is unavailable, every operation throws `StoreUnavailableError` within two seconds.
 */
export function openRedis({ urls, onState = () => {}, onRefusal }: RedisOptions): RedisStore {
  const connection = new RedisConnection(urls, onState)
  const tellRefusal = newsOnly(onRefusal)
  const run: RedisConnection['run'] = (...args) => connection.run(...args)
  const change = <T>(name: string, command: (commands: Commands) => Promise<T>) =>
    // The server's report of the change may follow its answer, or fail to arrive, so drop the old value here.
    run(({ commands, cache }) => command(commands).finally(() => cache?.invalidate(name)), true)
  const write = async <T>(key: Key, command: (commands: Commands, names: [string, string]) => Promise<T>) => {
    const name = keyName(key)
    return change(name, (commands) => command(commands, [name, groupName(key.kind, key.owner)]))
  }
  const ttl = (ms: number) => String(Math.max(1, Math.ceil(ms)))

  return {
    description: `Redis at ${urls.map((url) => new URL(url).host || 'localhost:6379').join(', ')}`,

    get: (key) => run(({ commands }) => commands.get(keyName(key))),
    getCached: (key) => run(({ cached }) => cached.get(keyName(key))),
    async set(key, value, ttlMs) {
      const expiry = ttlMs === undefined ? '' : ttl(ttlMs)
      await write(key, (commands, names) => commands.write(...names, value, expiry, '0'))
    },
    compareAndSet(key, expected, next, life = PERMANENT) {
      const kept = expected === null ? '' : 'kept'
      const expiry = typeof life === 'number' ? ttl(life) : life === 'kept' ? kept : ''
      const place = typeof life === 'object' ? String(life.place) : '0'
      return write(key, (commands, names) =>
        commands.swap(...names, next ?? '', expiry, place, expected ?? ''),
      )
    },
    delete: (key) => write(key, (commands, names) => commands.remove(...names)),

    list: (kind, owner) => entriesOf(run, kind, owner, { skip: 0 }),
    async page(kind, owner, page) {
      const total = await run(({ commands }) => commands.zCard(groupName(kind, owner)))
      return { entries: page.top > 0 ? await entriesOf(run, kind, owner, page) : [], total }
    },
    groups: (kind, cursor) => run((servers) => groupsPage(servers.list(), kind, cursor)),
    ofOwner: (owner) => valuesOf(connection, owner),

    client: {
      get: (name) => run(({ cached }) => cached.get(name)),
      set: (name, value, options) => change(name, (commands) => commands.set(name, value, options)),
      del: async (names) => {
        const deleted = names.map((name) => change(name, (commands) => commands.del(name)))
        return (await Promise.all(deleted)).reduce((sum, one) => sum + one, 0)
      },
    },

    ping: () => run((servers) => writeToAny(servers.list(), tellRefusal), true),
    warnings: () => run(async (servers) => (await Promise.all(servers.list().map(warningsOf))).flat()),
    close: async () => connection.close(),
  }
}

/**
 * See `KeyValueStore.groups`. A cursor consists of the cursor of one master, the position of that master, and the run ids of all
 * masters. If a master has been restarted or replaced, the walk starts over, because old cursors would skip groups, and groups may
 * have moved.
 */
async function groupsPage(
  servers: Server[],
  kind: string | null,
  cursor: string | null,
): Promise<GroupsPage> {
  const unsorted = await Promise.all(
    servers.map(async (server) => {
      const commands = await server.commands()
      return { commands, run: /run_id:(\w+)/.exec(await commands.info('server'))?.[1] ?? '' }
    }),
  )
  const masters = unsorted.toSorted((a, b) => (a.run < b.run ? -1 : 1))
  const runs = masters.map(({ run }) => run).join()
  const [scanned, position, walked] = cursor?.split(' ') ?? []
  const [from = '0', at] = walked === runs ? [scanned, Number(position)] : ['0', 0]
  const master = masters[at]
  if (!master) throw new Error('no master of the Redis Cluster is known')
  const page = await master.commands.scan(from, { MATCH: `connect:${kind ?? '*'}:{*}`, COUNT: 500 })
  const groups = page.keys.flatMap((name) => parseName(name) ?? [])
  if (page.cursor !== '0') return { groups, cursor: `${page.cursor} ${at} ${runs}` }
  return { groups, cursor: at + 1 < masters.length ? `0 ${at + 1} ${runs}` : null }
}

/** See `KeyValueStore.ofOwner`. */
async function valuesOf(connection: RedisConnection, owner: string): Promise<Entry[]> {
  const found: Entry[] = []
  for (const master of await connection.run(async (servers) => servers.list())) {
    let cursor = '0'
    do {
      const options = { MATCH: ownerPattern(owner), COUNT: 1_000 }
      const page = await connection.run(async () => (await master.commands()).scan(cursor, options))
      for (const name of page.keys)
        found.push(...entryOf(name, await connection.run(({ commands }) => commands.get(name))))
      cursor = page.cursor
    } while (cursor !== '0')
  }
  return found.filter(({ key }) => key.owner === owner)
}

/** How long the value of a ping is kept, in ms. Readiness checks must not fill the store. */
const PING_TTL_MS = 1
/** How many keys a ping tries until it finds a key that this master of a cluster serves. */
const PING_KEYS = 1_000

/** The server answered, but refused the write. */
class RefusedWriteError extends Error {}

/**
 * Writes a small value to each server, and resolves if at least one accepts it. Other masters of a cluster may be missing while a
 * replica takes over. Calls `tell` with the refusals, or with null if all servers accept it.
 */
async function writeToAny(servers: Server[], tell: OnRefusal): Promise<void> {
  const writes = servers.map(writeTo)
  void Promise.allSettled(writes).then((results) => {
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    const refusals = errors.filter((error) => error instanceof RefusedWriteError)
    if (refusals.length > 0) tell(refusals.map(reasonOf).join('; '))
    else if (errors.length === 0) tell(null)
  })
  await Promise.any(writes)
}

/** Throws `RefusedWriteError`, or an error of the connection. */
async function writeTo({ host, port, commands }: Server): Promise<void> {
  const server = await commands()
  for (let number = 0; ; number++) {
    const name = keyName({ kind: 'ping', owner: appOwner(`ping ${number}`), id: '' })
    try {
      await server.set(name, 'x', { expiration: { type: 'PX', value: PING_TTL_MS } })
      return
    } catch (error) {
      if (!(error instanceof ErrorReply)) throw error
      if (error.message.startsWith('MOVED') && number < PING_KEYS) continue
      throw new RefusedWriteError(`${host}:${port} refuses writes: ${reasonOf(error)}`)
    }
  }
}

/** How many values one command reads, so that Redis and this process can handle other requests in between. */
const AT_ONCE = 250

/** The permanent values of one kind and owner, those with the highest place first. */
async function entriesOf(
  run: RedisConnection['run'],
  kind: string,
  owner: string,
  { skip, top = Number.MAX_SAFE_INTEGER }: { skip: number; top?: number },
): Promise<Entry[]> {
  const group = groupName(kind, owner)
  const ids = await run(({ commands }) => commands.zRange(group, skip, skip + top - 1, { REV: true }))
  const names = ids.map((id) => `${group}:${id}`)
  const entries: Entry[] = []
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE)
    const values = await run(({ commands }) => commands.mGet(some))
    entries.push(...some.flatMap((name, index) => entryOf(name, values[index])))
  }
  return entries
}

function entryOf(name: string, value: string | null | undefined): Entry[] {
  const key = parseName(name)
  return key && value ? [{ key, value }] : []
}

/** Warns of settings with which Redis may lose values. Managed services may not allow reading the settings. */
async function warningsOf(server: Server): Promise<string[]> {
  const commands = await server.commands()
  const setting = (name: string) => commands.configGet(name).catch((): Record<string, string> => ({}))
  const found = await Promise.all(['maxmemory-policy', 'save', 'appendonly'].map(setting))
  const [policy, save, append] = found.map((values) => Object.values(values)[0])
  if (policy === undefined || save === undefined || append === undefined)
    return [
      'Redis does not allow reading its settings; check that maxmemory-policy is noeviction and that it persists data.',
    ]
  const warnings = []
  if (policy !== 'noeviction')
    warnings.push(
      `Redis may evict connections when its memory is full: maxmemory-policy is ${policy}; set it to noeviction.`,
    )
  if (save === '' && append !== 'yes')
    warnings.push('Redis does not persist data: a restart loses every connection; set appendonly yes.')
  return warnings
}
