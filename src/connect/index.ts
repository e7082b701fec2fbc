import { type Logger, pino } from 'pino'
import {
  type AuthorizationRequests,
  createAuthorizationRequests,
} from './authorization/authorization-requests.ts'
import { type ConnectionEvent, connectionChannel } from './events.ts'
import { type Api, createApi } from './platform/api.ts'
import { createHttpPools, type HttpPools } from './platform/http.ts'
import { createOAuth, type OAuth, type OAuthOptions } from './platform/oauth.ts'
import { type RateLimit, rateLimited } from './platform/rate-limiter.ts'
import type { TokenSource } from './platform/token-source.ts'
import type { KeyValueStore } from './store/store.ts'
import { type ConnectionRef, refName } from './vault/connection.ts'
import { createRecordCipher, type EncryptionKey } from './vault/encryption.ts'
import { createVault, type Vault } from './vault/vault.ts'

export type { Api, Call, Page, PageOf } from './platform/api.ts'
export type { OAuth, Tokens } from './platform/oauth.ts'
export type { TokenSource } from './platform/token-source.ts'
export type { KeyValueStore } from './store/store.ts'
export type { ConnectionRef } from './vault/connection.ts'
export type { EncryptionKey } from './vault/encryption.ts'
export type { Vault } from './vault/vault.ts'

export interface CreateConnectOptions {
  /** Where connections are stored: `openRedis` of `store/redis.ts` or `openSqlite` of `store/sqlite.ts`. */
  store: KeyValueStore
  /** The keys that encrypt connections: the first encrypts, all of them decrypt. */
  keys: readonly EncryptionKey[]
  platform: Omit<OAuthOptions, 'http'> & {
    /** `{base_url}`, may carry a path. */
    apiUrl: string
    /** The requests that the platform accepts from one credential; null: no limit. */
    rateLimit: RateLimit | null
  }
  /** Defaults to no logging. */
  log?: Logger
  http?: HttpPools
}

/** An event of a connection; never with a token. */
export interface ConnectionNews extends ConnectionRef {
  type: ConnectionEvent['type']
  /** In ms since 1970. */
  at: number
  /** For `refreshFailed`: an error code. For `revoked`: a sentence. */
  reason?: string | undefined
}
export type ConnectionListener = (news: ConnectionNews) => unknown

export interface Connect {
  /** Keeps connections and hands out valid access tokens. */
  readonly vault: Vault
  /** Calls the platform's API with a token source of the vault. */
  readonly api: Api
  /** The OAuth requests of the delegated flow (specification 5.3). */
  readonly oauth: OAuth
  /** Connect flows that have started and not finished. */
  readonly authorizationRequests: AuthorizationRequests
  /** A connection's token source whose calls wait for the platform's rate limit, which all processes share. */
  pacedSource(ref: ConnectionRef): TokenSource
  /**
   * Calls `listener` once for each event of a connection in this process: to send an email when access is revoked, for
   * example. It does not delay what it hears of; an error, also of a promise, is logged. Returns a function that ends it.
   */
  onConnectionEvent(listener: ConnectionListener): () => void
  /** Waits at most `graceMs` until received tokens are stored, then closes the HTTP pools and the store. */
  close(graceMs?: number): Promise<void>
}

/**
 * Creates the core: stores connections, keeps their tokens valid, and calls the platform's API. An app, a worker or a
 * script needs nothing else; `authorization/routes.ts` adds the connect flow to an Express app.
 *
 * @example
 * const connect = createConnect({ store: openRedis({ urls: [REDIS_URL] }), keys, platform })
 * const source = connect.vault.tokenSource({ userId, bxcontext })
 * const leads = await connect.api.list(source, { path: '/leads', scope: 'leads', schema }, { top: 25 })
 * await connect.close()
 */
export function createConnect(options: CreateConnectOptions): Connect {
  const { store, keys, platform, log = pino({ level: 'silent' }), http = createHttpPools() } = options
  const oauth = createOAuth({ ...platform, http: http.tokens })
  const vault = createVault({ store, keys, oauth, log })
  const limited = rateLimited(store, platform.rateLimit)
  return {
    vault,
    oauth,
    api: createApi({ baseUrl: platform.apiUrl, http: http.api, uploads: http.uploads }),
    authorizationRequests: createAuthorizationRequests(store, createRecordCipher(keys)),
    pacedSource: (ref) => limited(vault.tokenSource(ref), refName(ref)),
    onConnectionEvent: (listener) => listen(listener, log),
    async close(graceMs = 10_000) {
      await vault.close(graceMs)
      await http.close()
      await store.close()
    },
  }
}

function listen(listener: ConnectionListener, log: Logger): () => void {
  const onEvent = ({ type, at, reason, context }: ConnectionEvent) => {
    const { userId, bxcontext } = context
    if (userId === undefined || bxcontext === undefined) return
    // Deferred, so that the listener can neither fail nor delay the operation that published the event.
    setImmediate(async () => {
      try {
        await listener({ type, userId, bxcontext, at, reason })
      } catch (error) {
        log.error(
          { code: (error as { code?: unknown } | null | undefined)?.code, event: type },
          'a connection listener failed',
        )
      }
    })
  }
  connectionChannel.subscribe(onEvent)
  return () => connectionChannel.unsubscribe(onEvent)
}
