import { randomBytes } from 'node:crypto'
import { StoreUnavailableError } from '../../src/connect/errors.ts'
import {
  createHttp,
  createOAuth,
  type EncryptionKey,
  platform,
  type Tokens,
  Vault,
  type VaultOptions,
} from '../../src/connect/index.ts'
import { type KeyValueStore, openSqlite } from '../../src/connect/stores.ts'
import { createLog } from '../../src/runtime/log.ts'
import { startTokenEndpoint } from './token-endpoint.ts'

export const newKey = (id = 'k1'): EncryptionKey => ({ id, secret: randomBytes(32) })
/** The connection that most tests use. */
export const REF = { userId: 'ann', bxcontext: 'ctx' }
/** Tokens of a code exchange; the access token expires after five minutes. */
export const GRANTED: Tokens = {
  accessToken: 'access-0',
  refreshToken: 'refresh-0',
  expiresIn: 300,
  scopes: Object.values(platform.scopes),
}
export const CLIENT = { clientId: 'client', clientSecret: 'client secret' }
/** Connects an account with these tokens, as after a code exchange. */
export const consent = (vault: Vault, granted: Partial<Tokens> = {}, ref = REF) =>
  vault.connect(ref, async () => ({ ...GRANTED, ...granted }))

/** An OAuth client with the same timeouts as in production. */
export function oauthFor(authUrl: string, { revocationUrl }: { revocationUrl?: string | undefined } = {}) {
  return createOAuth({
    platform,
    appUrl: authUrl,
    authUrl,
    ...CLIENT,
    scopes: Object.values(platform.scopes),
    authorizePath: '/authorize',
    authorizeParams: {},
    pkce: true,
    revocationUrl,
    http: createHttp({ stepTimeoutMs: 32_000, deadlineMs: 40_000 }),
  })
}

type SetupOptions = Partial<VaultOptions> & { canRevoke?: boolean }

/**
 * A vault with a store, a scripted token endpoint and a clock that only `later` moves. `canRevoke`: the endpoint is one for
 * revocations as well.
 */
export async function vaultSetup(options: SetupOptions = {}) {
  const endpoint = await startTokenEndpoint()
  const revocationUrl = options.canRevoke ? `${endpoint.authUrl}/oauth/revoke` : undefined
  let time = Date.now()
  const now = () => time
  const store = options.store ?? openSqlite({ file: ':memory:', now })
  const logLines: string[] = []
  const oauth = options.oauth ?? oauthFor(endpoint.authUrl, { revocationUrl })
  const settings: VaultOptions = {
    platform,
    store,
    keys: [newKey()],
    oauth,
    client: CLIENT,
    now,
    log: createLog('info', { write: (line) => void logLines.push(line) }),
    ...options,
  }
  const vault = new Vault(settings)
  return {
    endpoint,
    store,
    logLines,
    oauth,
    vault,
    now,
    /** The access token of `REF`. */
    token: () => vault.accessToken(REF),
    /** The refresh tokens that the endpoint has received so far. */
    sent: () => endpoint.requests.map(({ refresh_token }) => refresh_token),
    /** Another process's vault on the same store. */
    anotherVault: (other: Partial<VaultOptions> = {}) => new Vault({ ...settings, ...other }),
    /** Moves the clock forward. */
    later: (seconds: number) => {
      time += seconds * 1000
    },
    close: async () => {
      await endpoint.close()
      await store.close()
    },
  }
}
export type VaultSetup = Awaited<ReturnType<typeof vaultSetup>>

/** A vault with a connection `REF`. */
export async function connectedSetup(options: SetupOptions = {}, granted: Partial<Tokens> = {}) {
  const setup = await vaultSetup(options)
  await consent(setup.vault, granted)
  return setup
}

/** A vault with a connection `REF` whose access token expired a second ago. */
export async function expiredSetup(options: SetupOptions = {}) {
  const setup = await connectedSetup(options)
  setup.later(301)
  return setup
}

/** A store in memory. While `refuses.writes` is true, it refuses writes, but still deletes. */
export function refusingStore(now: () => number = Date.now) {
  const inner = openSqlite({ file: ':memory:', now })
  const refuses = { writes: false, deletes: false }
  const unless = <A extends unknown[], T>(what: keyof typeof refuses, write: (...args: A) => Promise<T>) =>
    async function refusable(...args: A): Promise<T> {
      if (refuses[what]) throw new StoreUnavailableError('full')
      return write(...args)
    }
  const [write, remove] = [unless('writes', inner.compareAndSet), unless('deletes', inner.compareAndSet)]
  const store: KeyValueStore = {
    ...inner,
    set: unless('writes', inner.set),
    compareAndSet: (...args) => (args[2] === null ? remove : write)(...args),
    delete: unless('deletes', inner.delete),
  }
  return { store, refuses }
}

/** The types of these vaults' connection events while `work` runs, in order. */
export async function eventsDuring(vault: Vault, work: () => Promise<unknown>): Promise<string[]> {
  const types: string[] = []
  const stop = vault.onChange((_ref, events) => void types.push(...events.map(({ type }) => type)))
  try {
    await work()
  } finally {
    stop()
  }
  return types
}
