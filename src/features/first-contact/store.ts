import { lookup } from 'node:dns/promises'
import { createClient } from 'redis'
import type { StoreConfig } from '../../config.ts'
import { StoreUnavailableError } from '../../connect/errors.ts'
import { connectionKind, platform, Vault } from '../../connect/index.ts'
import {
  allOwners,
  appOwner,
  isSentinelUrl,
  type KeyValueStore,
  type RedisStore,
  ready,
  urlOptions,
} from '../../connect/stores.ts'
import type { Finding } from '../tools.ts'
import { failure, ok, warning } from './findings.ts'

/** Checks that the store is reachable and writable, that it keeps its data, and that we have the keys of its records. */
export async function* checkStore(store: KeyValueStore, config: StoreConfig): AsyncGenerator<Finding> {
  const problem = await connectionFinding(store, config.redisUrls)
  if (problem) {
    yield problem
    return
  }
  const key = { kind: 'doctor', owner: appOwner('doctor'), id: 'doctor' }
  try {
    await store.set(key, 'doctor', 10_000)
    await store.delete(key)
    yield ok('store', `store: ${store.description}: readable and writable`)
    yield* await settingsOf(store)
    yield* checkKeys(store, config)
  } catch (error) {
    yield notWritable(store.description, reasonOf(error), config)
  }
}

/** A file of another user, a folder that is a file, a full disk … The error names `DATA_DIR`. */
export const notOpened = (error: unknown): Finding => ({
  id: 'store.not-opened',
  status: 'failure',
  text: reasonOf(error),
  setting: 'DATA_DIR',
})

function reasonOf(error: unknown): string {
  if (error instanceof StoreUnavailableError && error.reason) return error.reason
  return error instanceof Error ? error.message : String(error)
}

const hasWarnings = (store: KeyValueStore): store is RedisStore => 'warnings' in store

async function settingsOf(store: KeyValueStore): Promise<Finding[]> {
  const warnings = hasWarnings(store) ? await store.warnings() : []
  return warnings.map((text) => {
    if (/may evict/.test(text)) return warning('store.eviction', 'REDIS_URL', text)
    if (/does not persist/.test(text)) return warning('store.persistence', 'REDIS_URL', text)
    // Usual for a hosted Redis: nothing that the operator could mend here.
    return ok('store.settings', `REDIS_URL: ${text}`)
  })
}

async function* checkKeys(
  store: KeyValueStore,
  { tokenEncryptionKeys }: StoreConfig,
): AsyncGenerator<Finding> {
  const missing = new Map<string, number>()
  let connections = 0
  const oauth = { scopes: [], refresh: () => Promise.reject(new Error('the doctor refreshes nothing')) }
  const vault = new Vault({ platform, store, keys: tokenEncryptionKeys, oauth })
  for await (const userId of allOwners(store, connectionKind(platform.name)))
    for (const connection of await vault.list(userId)) {
      connections++
      const id = 'missingKeyId' in connection ? connection.missingKeyId : null
      if (id !== null) missing.set(id, (missing.get(id) ?? 0) + 1)
    }
  for (const [id, count] of missing) {
    const text = `${count} of ${connections} connections need the key "${id}", which is missing. Add it behind the others; without it, their users must connect again`
    yield failure('store.missing-key', 'TOKEN_ENCRYPTION_KEYS', text)
  }
  const counted = connections === 1 ? '1 connection' : `${connections} connections`
  if (missing.size === 0) yield ok('keys', `store: ${counted}, and no key is missing`)
}

/** Why the store is not available; undefined if it is. */
async function connectionFinding(
  store: KeyValueStore,
  urls: readonly string[],
): Promise<Finding | undefined> {
  const [url, ...others] = urls
  // One node of a cluster, or a Sentinel, may be down: the store's own client decides.
  const isOneServer = url !== undefined && others.length === 0 && !isSentinelUrl(url)
  const message = isOneServer ? await connectionError(url) : ''
  const reason = message || (await ready(store).then(() => '', reasonOf))
  if (reason === '') return undefined
  if (!url) return failure('store.not-opened', 'DATA_DIR', reason)
  const { id, what } = await redisProblem(url, reason)
  return failure(id, 'REDIS_URL', `${new URL(url).host}: ${what}`)
}

const AUTHENTICATION = /NOAUTH|WRONGPASS|invalid (username|password)|AUTH /i
const CERTIFICATE = /certificate|self[- ]signed|issuer|altname/i

const PROBLEMS: { message: RegExp; id: string; what: string }[] = [
  {
    message: AUTHENTICATION,
    id: 'store.password',
    what: 'Redis refuses the user or the password. Correct them in REDIS_URL (redis://user:password@host:port)',
  },
  {
    message: /unknown command .?HELLO/i,
    id: 'store.unavailable',
    what: 'this Redis is too old. Use version 6 or newer',
  },
  {
    message: /ECONNREFUSED/,
    id: 'store.refused',
    what: 'the connection was refused. Start Redis, check the host and the port in REDIS_URL, or remove it to use the embedded SQLite',
  },
  {
    message: /ENOTFOUND|EAI_AGAIN/,
    id: 'store.unknown-host',
    what: 'the host name is unknown. Check its spelling in REDIS_URL',
  },
  {
    message: CERTIFICATE,
    id: 'store.tls',
    what: "the certificate of Redis is not valid for this machine. Set NODE_EXTRA_CA_CERTS to the file with its issuer's certificate, in the environment and not in .env",
  },
  {
    message: /timeout|timed out|did not answer|EHOSTUNREACH|ENETUNREACH|closed/i,
    id: 'store.timeout',
    what: 'Redis did not answer in time. Check the address and the firewall',
  },
]

async function redisProblem(url: string, reason: string): Promise<{ id: string; what: string }> {
  // The store's own client says what to write instead.
  if (reason.includes('REDIS_URL')) return { id: 'store.mode', what: reason }
  const server = url.replace('+sentinel', '')
  const other = server.startsWith('rediss:')
    ? server.replace('rediss:', 'redis:')
    : server.replace('redis:', 'rediss:')
  const problem = PROBLEMS.find((known) => known.message.test(reason))
  const isUndecided = problem === undefined || problem.id === 'store.timeout'
  if (isUndecided && (await isRedis(other))) {
    const [scheme] = other.split(':')
    return { id: 'store.tls', what: `Redis answers ${scheme}:// only. Use ${scheme}:// in REDIS_URL` }
  }
  return problem ?? { id: 'store.unavailable', what: `${reason}. Check REDIS_URL` }
}

/** Whether Redis answers at this address, even if it refuses us. */
async function isRedis(url: string): Promise<boolean> {
  const message = await connectionError(url)
  return message === '' || AUTHENTICATION.test(message) || CERTIFICATE.test(message)
}

const TIMEOUT_MS = 2_000

/** The error of one connection, as a client of our own gets it at once; empty if it succeeds. */
async function connectionError(url: string): Promise<string> {
  // Apart from the connection: a name service may be slow.
  const unknown = await lookup(new URL(url).hostname.replace(/[[\]]/g, '')).then(
    () => undefined,
    ({ code }: NodeJS.ErrnoException) => code,
  )
  if (unknown) return unknown
  const client = createClient({
    ...urlOptions(url),
    socket: { connectTimeout: TIMEOUT_MS, reconnectStrategy: false },
  })
  client.on('error', () => {})
  const timeout = new Promise<string>((resolve) => setTimeout(resolve, TIMEOUT_MS, 'timed out').unref())
  const attempt = async () => {
    try {
      await client.connect()
      await client.ping()
      return ''
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : ''
      return `${code} ${reasonOf(error).replace(/,? with args beginning with[\s\S]*/, '')}`
    }
  }
  const message = await Promise.race([attempt(), timeout])
  client.destroy()
  return message
}

/** What to do about an error of a write. */
const WRITE_CURES: [message: RegExp, cure: string][] = [
  [/READONLY/, 'this is a replica: enter the address of the primary'],
  [/OOM/, 'its memory is full: raise maxmemory'],
  [/MISCONF/, 'it cannot write to its disk: see its log'],
  [
    /MOVED|CLUSTER|CROSSSLOT/,
    'the Redis Cluster does not serve all slots, or its nodes cannot be reached at the addresses that it names',
  ],
  [/NOPERM/, 'its user may not run this command: allow it (ACL)'],
]

function notWritable(description: string, reason: string, { redisUrls }: StoreConfig): Finding {
  const setting = redisUrls.length > 0 ? 'REDIS_URL' : 'DATA_DIR'
  const [, cure = 'check its disk and its permissions'] =
    WRITE_CURES.find(([message]) => message.test(reason)) ?? []
  return failure('store.not-writable', setting, `${description} cannot be written (${reason}); ${cure}`)
}
