/**
 * The core: connects accounts on the platform, keeps their tokens valid, and calls its API. Import it from four files: this one,
 * `express.ts` (the routes of the connect flow), `stores.ts` (Redis and SQLite) and `errors.ts`.
 */
import { FlowRecords } from './authorization/flow-records.ts'
import { type Log, SILENT } from './log.ts'
import { type Api, createApi } from './platform/api.ts'
import type { Platform } from './platform/contract.ts'
import { type ExchangeListener, observed } from './platform/exchanges.ts'
import { createHttpPools, type HttpPools } from './platform/http.ts'
import { createOAuth, type OAuth, type OAuthOptions } from './platform/oauth.ts'
import type { KeyValueStore } from './store/store.ts'
import type { EncryptionKey } from './vault/encryption.ts'
import { Vault } from './vault/vault.ts'

// The connect flow. Its Express routes are in `express.ts`.
export { redirectUrls } from './authorization/redirect-urls.ts'
export { contextOf, noteFlow, requestContext, type WorkContext } from './context.ts'
export type { Log } from './log.ts'
export { messageIn } from './platform/answer-message.ts'
// The platform: its facts, its OAuth and its API.
export { type Api, type Call, createApi, type Page, type PageOf } from './platform/api.ts'
export { authenticateClient, type ClientCredentials } from './platform/client-authentication.ts'
export {
  ASSUMPTIONS,
  type Assumption,
  idSchema,
  type Platform,
  platform,
  tokenSchema,
} from './platform/contract.ts'
export type { Exchange, ExchangeListener } from './platform/exchanges.ts'
export {
  createHttp,
  createHttpPools,
  type Http,
  type HttpOptions,
  type HttpPools,
  type HttpRequest,
  type HttpResponse,
  type InternalUrls,
  outageOf,
  type Proxies,
  sentTo,
} from './platform/http.ts'
export { fieldOf, isTooDeep, parseJson } from './platform/json.ts'
export {
  createOAuth,
  flowParameterNames,
  type OAuth,
  randomCodeVerifier,
  randomState,
} from './platform/oauth.ts'
export { formsOf, type Tokens } from './platform/token-answer.ts'
export type { TokenSource } from './platform/token-source.ts'
export { type RetryOptions, retry, sleep } from './retry.ts'
// The vault.
export type { ConnectionEvent, ConnectionRecord, ConnectionRef, LastError } from './vault/connection.ts'
export {
  CONNECTION_STATES,
  type Connection,
  type ConnectionState,
  type UnreadableConnection,
} from './vault/description.ts'
export { createRecordCipher, type EncryptionKey, isEncrypted, type RecordCipher } from './vault/encryption.ts'
export { connectionKind } from './vault/records.ts'
export { type Reencryption, reencrypt } from './vault/reencrypt.ts'
export { type Revocation, Vault, type VaultOptions } from './vault/vault.ts'

export interface CreateConnectOptions {
  /** Where connections are stored: `openRedis` or `openSqlite` of `stores.ts`. */
  store: KeyValueStore
  /** The keys that encrypt connections: the first encrypts, all of them decrypt. */
  keys: readonly EncryptionKey[]
  /** The platform's paths, parameters and limits: `platform`, or a value of your own. */
  platform: Platform
  /** The platform's addresses, and this app's registration there. */
  client: Omit<OAuthOptions, 'platform' | 'http'> & {
    /** `{base_url}`, which may have a path. */
    apiUrl: string
  }
  /** Defaults to no logging. */
  log?: Log
  http?: HttpPools
}

export interface Connect {
  readonly platform: Platform
  /** Keeps connections and hands out valid access tokens. */
  readonly vault: Vault
  /** Calls the platform's API with a token source of the vault. */
  readonly api: Api
  /** The OAuth requests of the delegated flow (specification 5.3). */
  readonly oauth: OAuth
  /** The connect flows of browser sessions. */
  readonly flows: FlowRecords
  /**
   * Calls `listener` after each request to the token or revocation endpoint, and after each attempt of an API call. An exchange
   * contains secrets: mask them before you store, log or show it. A listener's errors have no effect. Returns a function that
   * unsubscribes.
   */
  onPlatformRequest(listener: ExchangeListener): () => void
  /**
   * Waits for pending token requests, and then at most `graceMs` until the received tokens are stored. Closes the HTTP pools unless
   * you passed them. Close the store yourself, because several platforms may share it.
   */
  close(graceMs?: number): Promise<void>
}

/**
 * Creates the core: stores connections, keeps their tokens valid, and calls the platform's API. An app, a worker or a script needs
 * only this; `connectRoutes` of `express.ts` adds the connect flow to an Express app.
 *
 * @example
 * const store = await openRedis({ urls: [REDIS_URL] })
 * const connect = createConnect({ store, keys, platform, client })
 * const source = connect.vault.tokenSource({ userId, bxcontext })
 * const leads = await connect.api.list(source, { path: '/leads', scope: 'leads', schema }, { top: 25 })
 * await connect.close()
 * await store.close()
 */
export function createConnect(options: CreateConnectOptions): Connect {
  const { store, keys, platform, client, log = SILENT } = options
  const { http = createHttpPools(platform) } = options
  const listeners = new Set<ExchangeListener>()
  const oauth = createOAuth({ ...client, platform, http: observed(http.tokens, 'token', listeners) })
  const vault = new Vault({ platform, store, keys, oauth, client, log })
  return {
    platform,
    vault,
    oauth,
    api: createApi({
      platform,
      baseUrl: client.apiUrl,
      http: observed(http.api, 'api', listeners),
    }),
    flows: new FlowRecords(platform, store, keys),
    onPlatformRequest(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async close(graceMs = 10_000) {
      await vault.close(graceMs)
      if (!options.http) await http.close()
    },
  }
}
