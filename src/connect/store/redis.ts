import type { Client } from './node-redis.ts'
import { type Connection, type OnState, openConnection } from './redis-client.ts'
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

/** The commands that connect-redis needs for sessions, with the same timeout as the store's own. */
export interface SessionCommands {
  get(key: string): Promise<string | null>
  set(key: string, value: string, options: object): Promise<unknown>
  expire(key: string, seconds: number): Promise<unknown>
  del(keys: string[]): Promise<unknown>
}

export interface RedisOptions {
  /**
   * One `redis://` or `rediss://` address, of a server or of a cluster; several nodes of a cluster; or Sentinels, as
   * `redis+sentinel://` or `rediss+sentinel://` addresses with the name of the master as their path.
   */
  urls: readonly string[]
  /** Called when the connection is lost, with the reason, and when it is restored. */
  onState?: OnState
}

/**
 * Opens the store on Redis, a single server, a cluster, or behind Sentinels. It connects in the background and reconnects automatically;
 * while Redis is unavailable, every operation throws `StoreUnavailableError` within two seconds.
 */
export function openRedis({
  urls,
  onState = () => {},
}: RedisOptions): KeyValueStore & { sessions: SessionCommands } {
  const connection = openConnection(urls, onState)
  const { run, write, getCached, runOnEach, runOnMost, nodeNames, close } = connection
  const names = (key: Key) => [keyName(key), groupName(key.kind, key.owner)] as const
  const ttl = (ttlMs: number | undefined) =>
    ttlMs === undefined ? '' : String(Math.max(1, Math.ceil(ttlMs)))

  return {
    shared: true,
    description: `Redis at ${urls.map((url) => new URL(url).host || 'localhost:6379').join(', ')}`,

    get: (key) => run((client) => client.get(keyName(key))),
    getCached: (key) => getCached(keyName(key)),

    set: async (key, value, ttlMs) => {
      await write(keyName(key), (client) => client.write(...names(key), value, ttl(ttlMs)))
    },

    compareAndSet: (key, expected, next, ttlMs) =>
      write(keyName(key), (client) => client.swap(...names(key), next ?? '', ttl(ttlMs), expected ?? '')),

    delete: (key) => write(keyName(key), (client) => client.remove(...names(key))),

    list: (kind, owner) => run((client) => entriesOf(client, groupName(kind, owner))),

    partitions: async () =>
      Promise.all(nodeNames().map(async (name) => `${name} ${await runIdOf(connection, name)}`)),

    owners: (kind, partition, cursor) => ownersOf(connection, kind, partition, cursor),
    ofOwner: (owner) => valuesOf(connection, owner),

    // One master of a cluster may be missing while another one takes over.
    ping: () => runOnMost(servesKeys),

    warnings: async () => (await runOnEach(warningsOf)).flat(),

    close: async () => close(),

    sessions: {
      get: getCached,
      set: (key, value, options) => write(key, (client) => client.set(key, value, options)),
      expire: (key, seconds) => write(key, (client) => client.expire(key, seconds)),
      del: async (keys) => Promise.all(keys.map((key) => write(key, (client) => client.del(key)))),
    },
  }
}

/** Identifies a run of the server: the cursors of an earlier one skip keys. Empty if INFO is not allowed. */
async function runIdOf({ runOn }: Connection, name: string): Promise<string> {
  const info = await runOn(name, (node) => node.info('server')).catch(() => '')
  return /run_id:(\w+)/.exec(info)?.[1] ?? ''
}

/** See `KeyValueStore.owners`. */
async function ownersOf(
  connection: Connection,
  kind: string,
  partition: string,
  cursor: string | null,
): Promise<OwnersPage> {
  const [name = '', runId] = partition.split(' ')
  const options = { MATCH: `connect:${kind}:{*}`, COUNT: 500 }
  const [found, currentRunId] = await Promise.all([
    connection.runOn(name, (node) => node.scan(cursor ?? '0', options)),
    runIdOf(connection, name),
  ])
  if (currentRunId !== runId) throw new StoreUnavailableError(`${name} was restarted; search it again`)
  const owners = found.keys.flatMap((name) => parseGroupName(kind, name) ?? [])
  return { owners, cursor: found.cursor === '0' ? null : found.cursor }
}

/** See `KeyValueStore.ofOwner`. */
async function valuesOf({ run, runOn, nodeNames }: Connection, owner: string): Promise<Entry[]> {
  const found: Entry[] = []
  const options = { MATCH: ownerPattern(owner), COUNT: 1000 }
  for (const name of nodeNames()) {
    let cursor = '0'
    do {
      const page = await runOn(name, (node) => node.scan(cursor, options))
      for (const keyOfOwner of page.keys) {
        const key = parseKeyName(keyOfOwner)
        const value = key?.owner === owner ? await run((client) => client.get(keyOfOwner)) : null
        if (key && value) found.push({ key, value })
      }
      cursor = page.cursor
    } while (cursor !== '0')
  }
  return found
}

/** A node of a cluster with unserved slots answers pings, but no commands on keys. */
async function servesKeys(node: Client): Promise<void> {
  await node.get('connect:ping').catch((error: Error) => {
    // The key is on another node.
    if (!error.message.startsWith('MOVED')) throw error
  })
}

/** The entries of one kind and owner. */
async function entriesOf(client: Client, group: string): Promise<Entry[]> {
  const members = await client.sMembers(group)
  const values = members.length > 0 ? await client.mGet(members) : []
  return members.flatMap((name, index) => {
    const key = parseKeyName(name)
    const value = values[index]
    return key && value ? [{ key, value }] : []
  })
}

/** Settings under which Redis may lose values. Managed services may not allow reading them. */
async function warningsOf(node: Client): Promise<string[]> {
  const setting = async (name: string) => {
    const [value] = Object.values(await node.configGet(name))
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
