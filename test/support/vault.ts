import { randomBytes } from 'node:crypto'
import { StoreUnavailableError } from '../../src/connect/errors.ts'
import {
  connectionChannel,
  createHttp,
  createOAuth,
  createVault,
  type EncryptionKey,
  platform,
  type VaultOptions,
} from '../../src/connect/index.ts'
import { type Key, type KeyValueStore, openSqlite } from '../../src/connect/stores.ts'
import { createLog } from '../../src/runtime/log.ts'
import { startTokenEndpoint, type TokenEndpoint } from './token-endpoint.ts'

export const newKey = (id = 'k1'): EncryptionKey => ({ id, secret: randomBytes(32) })
/** The connection that most tests use. */
export const REF = { userId: 'ann', bxcontext: 'ctx' }
/** Tokens of a code exchange; the access token expires after five minutes. */
export const GRANTED = {
  accessToken: 'access-0',
  refreshToken: 'refresh-0',
  expiresIn: 300,
  scopes: ['catalogues', 'leads'],
}

/** An OAuth client with the same timeouts as in production, unless `stepTimeoutMs` says otherwise. */
export function oauthFor(
  authUrl: string,
  { stepTimeoutMs = 32_000, revocationUrl }: { stepTimeoutMs?: number; revocationUrl?: string } = {},
) {
  return createOAuth({
    platform,
    appUrl: authUrl,
    authUrl,
    clientId: 'client',
    clientSecret: 'client secret',
    scopes: ['catalogues', 'leads'],
    authorizePath: '/authorize',
    authorizeParams: {},
    pkce: true,
    revocationUrl,
    http: createHttp({ stepTimeoutMs, deadlineMs: stepTimeoutMs + 8_000 }),
  })
}

type SetupOptions = Partial<VaultOptions> & { stepTimeoutMs?: number }

/** A vault with a store, a scripted token endpoint and a clock that only `later` moves. */
export async function vaultSetup(options: SetupOptions = {}) {
  const endpoint = await startTokenEndpoint()
  let time = Date.now()
  const now = () => time
  const store = options.store ?? openSqlite({ file: ':memory:', now })
  const logLines: string[] = []
  const oauth = options.oauth ?? oauthFor(endpoint.authUrl, options)
  const settings: VaultOptions = {
    platform,
    store,
    keys: [newKey()],
    oauth,
    now,
    log: createLog('info', { write: (line) => void logLines.push(line) }),
    ...options,
  }
  const vault = createVault(settings)
  return {
    endpoint,
    store,
    logLines,
    oauth,
    vault,
    /** The access token of `REF`. */
    token: () => vault.accessToken(REF),
    /** The refresh tokens that the endpoint has received so far. */
    sent: () => endpoint.requests.map(({ refresh_token }) => refresh_token),
    /** Another process's vault on the same store. */
    anotherVault: (other: Partial<VaultOptions> = {}) => createVault({ ...settings, ...other }),
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
export async function connectedSetup(options: SetupOptions = {}, granted: Partial<typeof GRANTED> = {}) {
  const setup = await vaultSetup(options)
  await setup.vault.connect(REF, { ...GRANTED, ...granted })
  return setup
}

/** A vault with a connection `REF` whose access token expired a second ago. */
export async function expiredSetup(options: SetupOptions = {}) {
  const setup = await connectedSetup(options)
  setup.later(301)
  return setup
}

/** A store in memory that refuses to write connections, or anything, while `refuses` says so. */
export function refusingStore() {
  const inner = openSqlite({ file: ':memory:' })
  const refuses = { connections: false, index: false, all: false }
  const guarded =
    <A extends unknown[], T>(write: (key: Key, ...rest: A) => Promise<T>) =>
    async (key: Key, ...rest: A): Promise<T> => {
      const isRefused =
        (refuses.connections && key.kind === 'platform-connection') ||
        (refuses.index && key.kind === 'platform-users')
      if (refuses.all || isRefused) throw new StoreUnavailableError('full')
      return write(key, ...rest)
    }
  const store: KeyValueStore = {
    ...inner,
    set: guarded(inner.set),
    compareAndSet: guarded(inner.compareAndSet),
    delete: guarded(inner.delete),
  }
  return { store, refuses }
}

/** The types of the connection events that are published while `work` runs, in their order. */
export async function eventsDuring(work: () => Promise<unknown>): Promise<string[]> {
  const types: string[] = []
  const listener = (event: unknown) => void types.push((event as { type: string }).type)
  connectionChannel.subscribe(listener)
  try {
    await work()
  } finally {
    connectionChannel.unsubscribe(listener)
  }
  return types
}

/** A vault with a connection, whose platform has a revocation endpoint. */
export async function vaultWithRevocation({ authUrl }: TokenEndpoint) {
  const setup = await vaultSetup({ oauth: oauthFor(authUrl, { revocationUrl: `${authUrl}/oauth/revoke` }) })
  await setup.vault.connect(REF, GRANTED)
  return setup
}
