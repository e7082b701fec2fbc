import { withTimeout } from '../timeouts.ts'
import { type Connection, type OnState, openConnection } from './redis-connection.ts'
import type { Commands, Server, ServerCommands } from './redis-servers.ts'
import {
  type Entry,
  groupName,
  type Key,
  type KeyValueStore,
  keyName,
  type OwnersPage,
  ownerPattern,
  parseGroupName,
  parseKeyName,
  StoreUnavailableError,
} from './store.ts'

export interface RedisOptions {
  /**
   * One `redis://` or `rediss://` address, of a server or of a cluster; several nodes of a cluster; or Sentinels, as
   * `redis+sentinel://` or `rediss+sentinel://` addresses with the name of the master as their path.
   */
  urls: readonly string[]
  /** Called when the connection is lost, with the reason, and when it is restored. */
  onState?: OnState
}

export interface RedisStore extends KeyValueStore {
  /** Problems with the settings of Redis, each as one sentence for the operator. Throws `StoreUnavailableError`. */
  warnings(): Promise<string[]>
}

/**
 * Opens the store on Redis, a single server, a cluster, or behind Sentinels. It connects in the background and reconnects by
 * itself; while Redis is unavailable, every operation throws `StoreUnavailableError` within two seconds.
 */
export function openRedis({ urls, onState = () => {} }: RedisOptions): RedisStore {
  const connection = openConnection(urls, onState)
  const { run, close } = connection
  const ttl = (ttlMs: number | undefined) =>
    ttlMs === undefined ? '' : String(Math.max(1, Math.ceil(ttlMs)))

  return {
    shared: true,
    description: `Redis at ${urls.map((url) => new URL(url).host || 'localhost:6379').join(', ')}`,

    get: (key) => run(({ commands }) => commands.get(keyName(key))),
    async getCached(key) {
      const name = keyName(key)
      return connection.cached(name) ?? run(({ cached }) => cached.get(name))
    },

    set: async (key, value, ttlMs) => {
      await write(connection, key, (commands, names) => commands.write(...names, value, ttl(ttlMs)))
    },

    compareAndSet: (key, expected, next, ttlMs) =>
      write(connection, key, (commands, names) =>
        commands.swap(...names, next ?? '', ttl(ttlMs), expected ?? ''),
      ),

    delete: (key) => write(connection, key, (commands, names) => commands.remove(...names)),

    list: (kind, owner) => run(({ commands }) => entriesOf(commands, groupName(kind, owner))),
    owners: (kind, cursor) => run((servers) => ownersPage(servers.list(), kind, cursor)),
    ofOwner: (owner) => valuesOf(connection, owner),

    ping: () => run((servers) => mostServeKeys(servers.list())),

    warnings: () =>
      run(async (servers) => {
        const warnings = servers.list().map(async (server) => warningsOf(await server.commands()))
        return (await Promise.all(warnings)).flat()
      }),

    close: async () => close(),
  }
}

/** Runs a command that writes a key. */
const write = <T>(
  { run }: Connection,
  key: Key,
  command: (commands: Commands, names: [string, string]) => Promise<T>,
): Promise<T> =>
  run(async ({ commands, cache }) => {
    const names: [string, string] = [keyName(key), groupName(key.kind, key.owner)]
    // The report of the server comes after its answer, or not at all.
    return command(commands, names).finally(() => cache.forget(names[0]))
  })

/**
 * See `KeyValueStore.owners`. A cursor is the one of a master, the position of that master among all of them, its run, and their
 * names. Once there are other masters, the walk starts over, since owners may have moved; once that master has been restarted, its
 * part does, since its cursors would skip some.
 */
async function ownersPage(servers: Server[], kind: string, cursor: string | null): Promise<OwnersPage> {
  const masters = servers.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const names = masters.map(({ name }) => name).join()
  const [scanned = '0', position, run, all] = cursor?.split(' ') ?? []
  const at = all === names ? Number(position) : 0
  const master = masters[at]
  if (!master) throw new StoreUnavailableError('no master of the Redis Cluster is known')
  const commands = await master.commands()
  const currentRun = await runIdOf(commands)
  const found = await commands.scan(all === names && run === currentRun ? scanned : '0', {
    MATCH: `connect:${kind}:{*}`,
    COUNT: 500,
  })
  const next = (scan: string, index: number) => `${scan} ${index} ${currentRun} ${names}`
  const following = at + 1 < masters.length ? next('0', at + 1) : null
  return {
    owners: found.keys.flatMap((name) => parseGroupName(kind, name) ?? []),
    cursor: found.cursor === '0' ? following : next(found.cursor, at),
  }
}

/** Identifies a run of the server; empty if the user may not ask. */
async function runIdOf(commands: ServerCommands): Promise<string> {
  const info = await commands.info('server').catch((error: Error) => {
    if (!error.message.startsWith('NOPERM')) throw error
    return ''
  })
  return /run_id:(\w+)/.exec(info)?.[1] ?? ''
}

/** See `KeyValueStore.ofOwner`. */
async function valuesOf({ run }: Connection, owner: string): Promise<Entry[]> {
  const found: Entry[] = []
  const options = { MATCH: ownerPattern(owner), COUNT: 1000 }
  const masters = await run(async (servers) => servers.list())
  for (const master of masters) {
    let cursor = '0'
    do {
      const page = await run(async () => (await master.commands()).scan(cursor, options))
      for (const name of page.keys) {
        const key = parseKeyName(name)
        const value = key?.owner === owner ? await run(({ commands }) => commands.get(name)) : null
        if (key && value) found.push({ key, value })
      }
      cursor = page.cursor
    } while (cursor !== '0')
  }
  return found
}

/** How long a server may take to say that it serves keys, in ms. */
const SERVES_MS = 1_000

/** Rejects unless more than half of the servers serve keys: one of a cluster may be missing while another one takes over. */
async function mostServeKeys(servers: Server[]): Promise<void> {
  const results = await Promise.allSettled(
    servers.map((server) => withTimeout(servesKeys(server), SERVES_MS)),
  )
  const failures = results.filter((result) => result.status === 'rejected')
  if (2 * failures.length >= results.length) throw failures[0]?.reason
}

/** A node of a cluster with unserved slots answers pings, but no commands on keys. */
async function servesKeys(server: Server): Promise<void> {
  await (await server.commands()).get('connect:ping').catch((error: Error) => {
    // The key is on another node.
    if (!error.message.startsWith('MOVED')) throw error
  })
}

/** The entries of one kind and owner. */
async function entriesOf(commands: Commands, group: string): Promise<Entry[]> {
  const members = await commands.sMembers(group)
  const values = members.length > 0 ? await commands.mGet(members) : []
  return members.flatMap((name, index) => {
    const key = parseKeyName(name)
    const value = values[index]
    return key && value ? [{ key, value }] : []
  })
}

/** Settings under which Redis may lose values. Managed services may not allow reading them. */
async function warningsOf(commands: ServerCommands): Promise<string[]> {
  const setting = async (name: string) => {
    const [value] = Object.values(await commands.configGet(name))
    if (value === undefined) throw new Error(`${name} is not reported`)
    return value
  }
  try {
    const [policy, save, append] = await Promise.all([
      setting('maxmemory-policy'),
      setting('save'),
      setting('appendonly'),
    ])
    const warnings = []
    if (policy !== 'noeviction') {
      warnings.push(
        `Redis may evict connections when its memory is full: maxmemory-policy is ${policy}; set it to noeviction.`,
      )
    }
    if (save === '' && append !== 'yes') {
      warnings.push('Redis does not persist data: a restart loses every connection; set appendonly yes.')
    }
    return warnings
  } catch {
    return [
      'Redis does not allow reading its settings; check that maxmemory-policy is noeviction and that it persists data.',
    ]
  }
}
