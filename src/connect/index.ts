import { type Logger, pino } from 'pino'
import {
  type AuthorizationRequests,
  createAuthorizationRequests,
} from './authorization/authorization-requests.ts'
import { type Api, createApi } from './platform/api.ts'
import { createHttpPools, type HttpPools } from './platform/http.ts'
import { createOAuth, type OAuth, type OAuthOptions } from './platform/oauth.ts'
import { type RateLimit, rateLimited } from './platform/rate-limiter.ts'
import type { TokenSource } from './platform/token-source.ts'
import type { Store } from './store/store.ts'
import type { EncryptionKey } from './vault/encryption.ts'
import { createVault, type Vault } from './vault/vault.ts'

export type { Api, Call, Page, PageOf } from './platform/api.ts'
export type { OAuth, Tokens } from './platform/oauth.ts'
export type { TokenSource } from './platform/token-source.ts'
export type { Store } from './store/store.ts'
export type { EncryptionKey } from './vault/encryption.ts'
export type { Vault } from './vault/vault.ts'

export interface CreateConnectOptions {
  /** Where connections are kept: `openRedis` of `store/redis.ts` or `openSqlite` of `store/sqlite.ts`. Closed by `close`. */
  store: Store
  /** Encrypt connections: the first encrypts, all of them decrypt. */
  keys: readonly EncryptionKey[]
  platform: Omit<OAuthOptions, 'http'> & {
    /** `{base_url}`, may carry a path. */
    apiUrl: string
    /** What the platform takes from one credential; null: no limit. */
    rateLimit: RateLimit | null
  }
  /** Absent: nothing is logged. */
  log?: Logger
  http?: HttpPools
}

export interface Connect {
  /** Keeps connections and hands out valid access tokens. */
  readonly vault: Vault
  /** Calls the platform's API with a token source of the vault. */
  readonly api: Api
  /** The requests of the delegated flow (specification 5.3). */
  readonly oauth: OAuth
  /** Authorization requests that have started and not finished. */
  readonly authorizationRequests: AuthorizationRequests
  /** The token source of a connection whose calls wait for the platform's rate limit, among all processes. */
  pacedSource(userId: string, bxcontext: string): TokenSource
  /** Stores tokens that were received, waiting at most `graceMs` for it, then closes connections and the store. */
  close(graceMs?: number): Promise<void>
}

/**
 * The core: connections in a store, kept valid, and calls to the platform's API. An app, a worker or a script needs
 * nothing else; `authorization/routes.ts` adds the connect flow to an Express app.
 *
 * @example
 * const connect = createConnect({ store: openRedis({ urls: [REDIS_URL] }), keys, platform })
 * const source = connect.vault.tokenSource(userId, bxcontext)
 * const leads = await connect.api.list(source, { path: '/leads', scope: 'leads', schema }, { top: 25 })
 * await connect.close()
 */
export function createConnect(options: CreateConnectOptions): Connect {
  const { store, keys, platform, log = pino({ level: 'silent' }), http = createHttpPools() } = options
  const oauth = createOAuth({ ...platform, http: http.tokens })
  const vault = createVault({ store, keys, oauth, log })
  const paced = rateLimited(store, platform.rateLimit)
  return {
    vault,
    oauth,
    api: createApi({ baseUrl: platform.apiUrl, http: http.api, uploads: http.uploads }),
    authorizationRequests: createAuthorizationRequests(store),
    // One name for one grant: its parts cannot run into each other.
    pacedSource: (userId, bxcontext) =>
      paced(vault.tokenSource(userId, bxcontext), JSON.stringify([userId, bxcontext])),
    async close(graceMs = 10_000) {
      await vault.close(graceMs)
      await http.close()
      await store.close()
    },
  }
}
