import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { connectionChannel, publish } from '../events.ts'
import type { OAuth, Tokens } from '../platform/oauth.ts'
import type { TokenSource } from '../platform/token-source.ts'
import { type KeyValueStore, StoreUnavailableError } from '../store/store.ts'
import { accessToken, NOT_STORED, refreshRejected, type VaultDependencies } from './access-token.ts'
import { createBxcontextIndex } from './bxcontext-index.ts'
import {
  type ActiveConnection,
  type ConnectionRef,
  FORMAT,
  isExpired,
  NOT_REFRESHED,
  refName,
  withTokens,
} from './connection.ts'
import { assertActive, CONNECTION, createConnectionRepository } from './connection-repository.ts'
import { removeGrant, saveConsent } from './connection-writes.ts'
import { disconnect, type WithdrawnConsent } from './disconnect.ts'
import { createRecordCipher, type EncryptionKey } from './encryption.ts'
import { createHealthRecords } from './health.ts'
import { createLastUse } from './last-use.ts'
import { type ReencryptResult, reencrypt } from './reencrypt.ts'
import { createRefresher, type RefreshOptions } from './refresh.ts'
import { createRefreshLock, type RefreshLockOptions } from './refresh-lock.ts'
import { type ConnectionSummary, summarize, type UnreadableConnection } from './summary.ts'
import { readTokenClaims, type TokenClaims } from './token-claims.ts'
import { createUnsavedTokens } from './unsaved.ts'
import { refreshUnused, type UnusedCheck } from './unused.ts'

export type { WithdrawnConsent } from './disconnect.ts'
export type { ConnectionSummary, UnreadableConnection } from './summary.ts'
export type { UnusedCheck } from './unused.ts'

/** Keeps connections and hands out valid access tokens. Methods that use the store throw `StoreUnavailableError`. */
export interface Vault {
  /**
   * Resolves to a valid access token, after one read of the store. A token that is about to expire is refreshed in the
   * background, an expired one is refreshed first. (One that expires within 30 s of its refresh is returned all the same:
   * the API decides.) Throws `NotConnectedError`, `ConnectionRevokedError`,
   * `PlatformUnavailableError`, `PlatformRejectedError`, `ConfigurationError`, `DecryptionError`.
   */
  accessToken(ref: ConnectionRef): Promise<string>
  /** The connection as a source of tokens for API calls, which can also refresh a token that the API rejects. */
  tokenSource(ref: ConnectionRef): TokenSource
  /**
   * Stores the tokens of a new consent and replaces any earlier grant. `sentAt`: when the code was sent (ms since 1970).
   * Resolves to `pending` if the store did not accept the tokens yet: this process holds them in memory, uses them, and
   * keeps trying to store them.
   */
  connect(ref: ConnectionRef, tokens: Tokens, sentAt?: number): Promise<'saved' | 'pending'>
  /** Resolves to the connection, or null. Throws `DecryptionError`. */
  find(ref: ConnectionRef): Promise<ConnectionSummary | null>
  /** The user's connections, the latest first. */
  list(userId: string): Promise<(ConnectionSummary | UnreadableConnection)[]>
  /**
   * Gets a new access token because a user requested it. Resolves to false if there is no refresh token and the access
   * token is still valid.
   * Throws the same errors as `accessToken`, and `RefreshTooSoonError`.
   */
  refresh(ref: ConnectionRef): Promise<boolean>
  /**
   * What may be shown of the access token, which is not refreshed; null if it is not a JWT. Throws `NotConnectedError`,
   * `ConnectionRevokedError`, `DecryptionError`.
   */
  tokenClaims(ref: ConnectionRef): Promise<TokenClaims | null>
  /**
   * Deletes the connection and its tokens, and then revokes its grant if the platform has a revocation endpoint.
   * Resolves to what became of the consent, or null if there was no connection.
   */
  disconnect(ref: ConnectionRef): Promise<WithdrawnConsent | null>
  /**
   * Refreshes the user's tokens that were neither used nor refreshed for `unusedMs`: refresh tokens that end when they are
   * not used stay alive, and a revocation is noticed. An error of a refresh is part of the result.
   */
  refreshUnused(userId: string, unusedMs: number): Promise<UnusedCheck>
  /** The ids of the users who are connected to this bxcontext. */
  usersOf(bxcontext: string): Promise<string[]>
  /**
   * Encrypts every stored connection with the first key. Run again after an interruption, it only reads those that are
   * done. `onProgress` is called after every few hundred records.
   */
  reencrypt(onProgress?: (result: ReencryptResult) => void): Promise<ReencryptResult>
  /** Resolves when no refresh is in flight and all received tokens are stored. */
  idle(): Promise<void>
  /** Waits for `idle`, at most `graceMs`, and logs the tokens that could not be stored by then. */
  close(graceMs: number): Promise<void>
}

export interface VaultOptions extends RefreshLockOptions {
  store: KeyValueStore
  /** The first key encrypts; all of them decrypt. */
  keys: readonly EncryptionKey[]
  oauth: Pick<OAuth, 'refresh' | 'revoke'>
  log: Logger
  /** Record kind; defaults to `connection`. */
  kind?: string
  /** How long a caller waits for a refresh, in ms; defaults to 20 s. */
  waitMs?: number
  /** How long to wait for the result of an interrupted refresh, in ms; defaults to 2.5 s. */
  interruptedMs?: number
}

const NO_REFRESH_TOKEN =
  'this connection ends with its access token: the platform issued no refresh token. Many platforms issue one only if the scope offline_access is requested'

export function createVault(options: VaultOptions): Vault {
  const { store, keys, now = Date.now, kind = CONNECTION } = options
  const health = createHealthRecords(store, now)
  const cipher = createRecordCipher(keys)
  const parts: RefreshOptions = {
    ...options,
    now,
    health,
    connections: createConnectionRepository(store, cipher, kind),
    index: createBxcontextIndex(store, kind),
    lock: createRefreshLock(store, health, options),
    unsaved: createUnsavedTokens(options.log),
  }
  const lastUse = createLastUse(store, now)
  const deps: VaultDependencies = { ...parts, lastUse, refresher: createRefresher(parts) }
  const { connections, unsaved, index, lock, refresher } = deps
  const idle = async () => {
    await refresher.idle()
    await unsaved.idle()
  }

  return {
    accessToken: (ref) => accessToken(deps, ref),

    tokenSource: (ref) => ({
      account: refName(ref),
      connection: ref,
      accessToken: () => accessToken(deps, ref),
      refresh: (rejectedToken) => refreshRejected(deps, ref, rejectedToken),
      async noteCall(outcome) {
        if (outcome.result === 'ok') lastUse.note(ref)
        if (await health.noteCall(ref, outcome)) publish(connectionChannel, { type: 'recovered' }, ref)
      },
      grantedScopes: async () => (await connections.read(ref))?.connection.scopes ?? null,
    }),

    connect: (ref, tokens, sentAt = now()) => connect(deps, ref, tokens, sentAt),

    async find(ref) {
      const connection = unsaved.find(ref) ?? (await connections.read(ref))?.connection
      return connection ? summarize(connection, health, lock, lastUse) : null
    },

    list: (userId) => list(deps, userId),

    async refresh(ref) {
      if (unsaved.find(ref)) throw new StoreUnavailableError(NOT_STORED)
      const stored = assertActive(await connections.read(ref))
      // Without a refresh token, an access token that is still valid stays.
      if (stored.connection.refreshToken === null && !isExpired(stored.connection, now())) return false
      await refresher.refresh(stored, true)
      return true
    },

    async tokenClaims(ref) {
      const connection = unsaved.find(ref) ?? assertActive(await connections.read(ref)).connection
      return readTokenClaims(connection.accessToken)
    },

    disconnect: (ref) => disconnect(deps, ref),
    refreshUnused: (userId, unusedMs) => refreshUnused(deps, userId, unusedMs),
    usersOf: (bxcontext) => index.usersOf(bxcontext),
    reencrypt: (onProgress) => reencrypt(store, cipher, kind, onProgress),
    idle,

    async close(graceMs) {
      const timeout = new AbortController()
      const graceOver = pause(graceMs, undefined, { signal: timeout.signal }).catch(() => {})
      await Promise.race([idle(), graceOver])
      timeout.abort()
      unsaved.discard()
    },
  }
}

async function connect(
  deps: VaultDependencies,
  { userId, bxcontext }: ConnectionRef,
  tokens: Tokens,
  sentAt: number,
): Promise<'saved' | 'pending'> {
  const { unsaved, lock, health, index, log, now } = deps
  const granted: Parameters<typeof withTokens>[0] = {
    format: FORMAT,
    status: 'active',
    userId,
    bxcontext,
    grantId: randomUUID(),
    connectedAt: sentAt,
    scopes: null,
    refreshToken: null,
    refreshedAt: null,
  }
  const connection: ActiveConnection = { ...withTokens(granted, tokens, sentAt, now()), ...NOT_REFRESHED }
  const { pending } = await unsaved.save(
    connection,
    async () => {
      const written = await saveConsent(deps, connection)
      await index.add(connection)
      return written
    },
    () => removeGrant(deps, connection),
  )
  // The account is connected, even if an earlier pause or problem could not be cleared.
  await Promise.all([lock.reset(connection), health.clear(connection)]).catch(() => {})
  const { grantId, scopes, expiresAt } = connection
  log.info({ grantId, expiresAt }, 'account connected')
  if (connection.refreshToken === null) log.warn({ grantId, endsAt: isoOrNull(expiresAt) }, NO_REFRESH_TOKEN)
  publish(connectionChannel, { type: 'connected', ...(scopes && { scopes }) }, connection)
  return pending ? 'pending' : 'saved'
}

const isoOrNull = (time: number | null) => (time === null ? null : new Date(time).toISOString())

async function list(deps: VaultDependencies, userId: string) {
  const { unsaved, connections, health, lock, lastUse, log } = deps
  const held = unsaved.ofUser(userId)
  const isHeld = (bxcontext: string) => held.some((connection) => connection.bxcontext === bxcontext)
  const stored = (await connections.list(userId)).filter(({ bxcontext }) => !isHeld(bxcontext))
  const summaries = await Promise.all([
    ...held.map((connection) => summarize(connection, health, lock, lastUse)),
    ...stored.map((item) => {
      if ('connection' in item) return summarize(item.connection, health, lock, lastUse)
      const { bxcontext, unreadable: reason } = item
      log.error({ code: 'record_decryption_failed', reason }, 'a connection cannot be read')
      return { bxcontext, status: 'unreadable' as const, reason }
    }),
  ])
  const time = (summary: (typeof summaries)[number]) => ('connectedAt' in summary ? summary.connectedAt : 0)
  return summaries.sort((a, b) => time(b) - time(a))
}
