import { setTimeout as pause } from 'node:timers/promises'
import { StoreUnavailableError } from '../../connect/errors.ts'
import { type ClientCredentials, connectionKind, platform, Vault } from '../../connect/index.ts'
import { allOwners, type KeyValueStore, type RedisStore } from '../../connect/stores.ts'
import type { Config, Finding } from '../../web/feature-api.ts'
import { failure, noAnswer, ok, warning } from './findings.ts'

type StoreConfig = Pick<Config, 'redisUrls' | 'tokenEncryptionKeys' | 'dataDir'> & {
  platform: ClientCredentials
}

/**
 * Checks that the store is reachable and writable, that it keeps its data, and that the keys for its records are set. `timeoutMs`:
 * how long the check waits for the store.
 */
export async function* checkStore(
  store: KeyValueStore,
  config: StoreConfig,
  timeoutMs = TIMEOUT_MS,
): AsyncGenerator<Finding> {
  const reason = await storeProblem(store, timeoutMs)
  if (reason !== undefined) {
    yield outageFinding(store, reason, config)
    return
  }
  try {
    yield ok('store', `store: ${store.description}: readable and writable`)
    yield* await settingsOf(store)
    yield* checkConnections(store, config)
  } catch (error) {
    yield notWritable(store.description, reasonOf(error), config)
  }
}

/** The finding if the store cannot be opened, such as a file of another user or a full disk. The error names `DATA_DIR`. */
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
    // Hosted Redis services often hide their settings, so the operator can't change them.
    return ok('store.settings', `REDIS_URL: ${text}`)
  })
}

const CREDENTIALS = 'PLATFORM_CLIENT_ID, PLATFORM_CLIENT_SECRET'
const REFUSED =
  'the platform answered invalid_client to the latest request for tokens, so all connections say “We’re fixing this”. Once both settings are correct, press “Test this connection” on one of them'

/** Finds connections whose key is missing, and whether the platform refuses this app. */
async function* checkConnections(
  store: KeyValueStore,
  { tokenEncryptionKeys, platform: client }: StoreConfig,
): AsyncGenerator<Finding> {
  const missing = new Map<string, number>()
  let connections = 0
  const oauth = { scopes: [], refresh: () => Promise.reject(new Error('the doctor refreshes nothing')) }
  const vault = new Vault({ platform, store, keys: tokenEncryptionKeys, oauth, client })
  for await (const userId of allOwners(store, connectionKind(platform.name)))
    for (const connection of await vault.list(userId)) {
      connections++
      const id = 'missingKeyId' in connection ? connection.missingKeyId : null
      if (id !== null) missing.set(id, (missing.get(id) ?? 0) + 1)
    }
  for (const [id, count] of missing) {
    const text = `${count} of ${connections} connections need the key "${id}", which is missing. Add it after the others; without it, these users must connect again`
    yield failure('store.missing-key', 'TOKEN_ENCRYPTION_KEYS', text)
  }
  const counted = connections === 1 ? '1 connection' : `${connections} connections`
  if (missing.size === 0) yield ok('keys', `store: ${counted}, and no key is missing`)
  if (await vault.credentials.areRefused()) yield warning('token.refused', CREDENTIALS, REFUSED)
}

const PAUSE_MS = 100
const TIMEOUT_MS = 5_000

/**
 * Resolves to the reason why the store takes no writes, or undefined if it takes them. Waits while the store is
 * still connecting in the background.
 */
async function storeProblem(store: KeyValueStore, timeoutMs: number): Promise<string | undefined> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const reason = await store.ping().then(() => undefined, reasonOf)
    if (reason === undefined || performance.now() > deadline) return reason
    if (noAnswer('', '', reason).id !== 'address.timeout') return reason
    await pause(PAUSE_MS)
  }
}

const AUTHENTICATION = /NOAUTH|WRONGPASS|invalid (username|password)|AUTH /i

function outageFinding({ description }: KeyValueStore, reason: string, config: StoreConfig): Finding {
  const [url] = config.redisUrls
  if (/refuses writes|is full|readonly/.test(reason)) return notWritable(description, reason, config)
  if (url === undefined) return notOpened(new Error(reason))
  const { host } = new URL(url)
  const problem = (id: string, what: string) => failure(id, 'REDIS_URL', `${host}: ${what}`)
  // This message comes from the store, and explains what to write in REDIS_URL.
  if (reason.includes('REDIS_URL')) return problem('store.mode', reason)
  if (AUTHENTICATION.test(reason)) {
    const cure =
      'Correct them in REDIS_URL (redis://user:password@host:port), or create the user in Redis again'
    return problem('store.password', `Redis refuses the user or the password. ${cure}`)
  }
  if (/unknown command .?HELLO/i.test(reason))
    return problem('store.unavailable', 'this Redis is too old. Use version 6 or newer')
  const finding = noAnswer('REDIS_URL', host, reason)
  if (!['address.timeout', 'address.no-answer'].includes(finding.id)) return finding
  const id = finding.id === 'address.timeout' ? finding.id : 'store.unavailable'
  return problem(id, `${reason}. Check REDIS_URL, also whether it must be redis:// or rediss://`)
}

function notWritable(description: string, reason: string, { redisUrls }: StoreConfig): Finding {
  const setting = redisUrls.length > 0 ? 'REDIS_URL' : 'DATA_DIR'
  const cure =
    'Check whether it is the primary, whether its memory or its disk is full, and what its user may do'
  return failure('store.not-writable', setting, `${description} cannot be written (${reason}). ${cure}`)
}
