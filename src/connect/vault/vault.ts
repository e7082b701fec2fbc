import { connectionChannel, publish } from '../events.ts'
import type { Log } from '../log.ts'
import type { Platform } from '../platform/contract.ts'
import type { OAuth } from '../platform/oauth.ts'
import type { Tokens } from '../platform/token-answer.ts'
import type { TokenSource } from '../platform/token-source.ts'
import { type KeyValueStore, StoreUnavailableError } from '../store/store.ts'
import { withTimeout } from '../timeouts.ts'
import { accessToken, NOT_STORED, refreshRejected, type VaultDependencies } from './access-token.ts'
import { createBxcontextIndex } from './bxcontext-index.ts'
import { connect } from './connect.ts'
import { type ConnectionRef, isExpired } from './connection.ts'
import { assertActive, connectionKind, createConnectionRepository } from './connection-repository.ts'
import { disconnect, type WithdrawnConsent } from './disconnect.ts'
import { createRecordCipher, type EncryptionKey } from './encryption.ts'
import { createHealthRecords } from './health.ts'
import { createInFlight } from './in-flight.ts'
import { createLastUse } from './last-use.ts'
import { logIn } from './log-in.ts'
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
   * Resolves to a valid access token. One that is not due takes at most one read of the store; one that is about to expire is
   * also refreshed in the background, and an expired one is refreshed first. (When the budget of refreshes is used up, an
   * expired token is returned without another refresh, and the API decides.) Throws `NotConnectedError`,
   * `ConnectionRevokedError`, `PlatformUnavailableError`, `PlatformRejectedError`, `ConfigurationError`, `DecryptionError`.
   */
  accessToken(ref: ConnectionRef): Promise<string>
  /** The connection as a source of tokens for API calls, which can also refresh a token that the API rejects. */
  tokenSource(ref: ConnectionRef): TokenSource
  /**
   * Stores the tokens of a new consent and replaces any earlier grant. `sentAt`: when the code was sent (ms since 1970).
   * Resolves to `unsaved` if the store did not accept the tokens yet: this process keeps them in memory, uses them, and
   * keeps trying to store them.
   */
  connect(ref: ConnectionRef, tokens: Tokens, sentAt?: number): Promise<'saved' | 'unsaved'>
  /**
   * Connects an account that needs no consent, such as one with an API key: `getTokens` logs in. One caller among all
   * processes does; the others wait for its tokens. Failures pause further attempts, longer each time. Throws the errors
   * of `getTokens`, and those of `refresh`.
   */
  logIn(ref: ConnectionRef, getTokens: () => Promise<Tokens>): Promise<void>
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
  /** Runs a code exchange, which `close` does not cut off. Resolves or rejects as `work` does. */
  uninterrupted<T>(work: () => Promise<T>): Promise<T>
  /**
   * Waits for `idle`, at most `graceMs`, and logs the tokens that could not be stored by then. Waits longer for the answer to a
   * token request that was sent, and 2 s more to store it: the code or the refresh token in it may be used up, and the answer is
   * the only copy of the new tokens. The HTTP pool limits that: 40 s, unless the options say otherwise.
   */
  close(graceMs: number): Promise<void>
}

export interface VaultOptions extends RefreshLockOptions {
  platform: Platform
  store: KeyValueStore
  /** The first key encrypts; all of them decrypt. */
  keys: readonly EncryptionKey[]
  oauth: Pick<OAuth, 'refresh' | 'revoke'>
  log: Log
  /** How long a caller waits for a refresh, in ms; defaults to 20 s. */
  waitMs?: number
  /** How long to wait for the result of an interrupted refresh, in ms; defaults to 4 s. */
  interruptedMs?: number
}

export function createVault(options: VaultOptions): Vault {
  const { store, keys, platform, now = Date.now } = options
  const { name } = platform
  if (typeof name !== 'string' || !/^[a-z]+$/.test(name))
    throw new Error(`the platform's name must be lower-case letters: ${name}`)
  const health = createHealthRecords(store, name, now)
  const cipher = createRecordCipher(keys)
  const parts: RefreshOptions = {
    ...options,
    now,
    health,
    connections: createConnectionRepository(store, cipher, name),
    index: createBxcontextIndex(store, name),
    lock: createRefreshLock(store, health, options),
    unsaved: createUnsavedTokens(options.log),
    inFlight: createInFlight(),
  }
  const lastUse = createLastUse(store, name, now)
  const deps: VaultDependencies = { ...parts, lastUse, refresher: createRefresher(parts) }
  const { connections, unsaved, index, lock, refresher, inFlight } = deps
  const idle = () => Promise.all([refresher.idle(), inFlight.idle()]).then(unsaved.idle)

  return {
    accessToken: (ref) => accessToken(deps, ref),

    tokenSource: (ref) => tokenSource(deps, ref),

    connect: (ref, tokens, sentAt = now()) => connect(deps, ref, tokens, sentAt),

    logIn: (ref, getTokens) => logIn(deps, ref, getTokens),

    async find(ref) {
      const connection = unsaved.find(ref) ?? (await connections.read(ref))?.connection
      return connection ? summarize(connection, health, lock, lastUse) : null
    },

    list: (userId) => list(deps, userId),

    refresh: (ref) => refreshNow(deps, ref),

    async tokenClaims(ref) {
      const connection = unsaved.find(ref) ?? assertActive(await connections.read(ref)).connection
      return readTokenClaims(connection.accessToken)
    },

    disconnect: (ref) => disconnect(deps, ref),
    refreshUnused: (userId, unusedMs) => refreshUnused(deps, userId, unusedMs),
    usersOf: (bxcontext) => index.usersOf(bxcontext),
    reencrypt: (onProgress) => reencrypt(store, cipher, connectionKind(name), onProgress),
    idle,
    uninterrupted: (work) => inFlight.run(work),

    async close(graceMs) {
      if (!(await isDoneWithin(graceMs, idle()))) {
        await inFlight.idle()
        await isDoneWithin(LAST_GRACE_MS, unsaved.idle())
      }
      unsaved.discard()
    },
  }
}

/** How long tokens that arrive after the grace may take to be stored, in ms. */
const LAST_GRACE_MS = 2_000

const isDoneWithin = (ms: number, work: Promise<void>): Promise<boolean> =>
  withTimeout(work, ms).then(
    () => true,
    () => false,
  )

/** `Vault.tokenSource`. */
function tokenSource(deps: VaultDependencies, ref: ConnectionRef): TokenSource {
  const { platform, connections, health, lastUse } = deps
  return {
    connection: ref,
    accessToken: () => accessToken(deps, ref),
    refresh: (rejectedToken) => refreshRejected(deps, ref, rejectedToken),
    async noteCall(outcome) {
      if (outcome.result === 'ok') lastUse.note(ref)
      if (await health.noteCall(ref, outcome))
        publish(connectionChannel, { type: 'recovered', platform: platform.name }, ref)
    },
    grantedScopes: async () => (await connections.read(ref))?.connection.scopes ?? null,
  }
}

/** `Vault.refresh`. */
async function refreshNow(deps: VaultDependencies, ref: ConnectionRef): Promise<boolean> {
  const { unsaved, connections, refresher, now } = deps
  if (unsaved.find(ref)) throw new StoreUnavailableError(NOT_STORED)
  const stored = assertActive(await connections.read(ref))
  // Without a refresh token, an access token that is still valid stays.
  if (stored.connection.refreshToken === null && !isExpired(stored.connection, now())) return false
  await refresher.refresh(stored, true)
  return true
}

async function list(deps: VaultDependencies, userId: string) {
  const { unsaved, connections, health, lock, lastUse, log } = deps
  const notStored = unsaved.ofUser(userId)
  const isUnsaved = (bxcontext: string) => notStored.some((connection) => connection.bxcontext === bxcontext)
  const stored = (await connections.list(userId)).filter(({ bxcontext }) => !isUnsaved(bxcontext))
  const summaries = await Promise.all([
    ...notStored.map((connection) => summarize(connection, health, lock, lastUse)),
    ...stored.map((item) => {
      if ('connection' in item) return summarize(item.connection, health, lock, lastUse)
      const { bxcontext, unreadable } = item
      const { message: reason, missingKeyId = null } = unreadable
      log.error({ code: 'record_decryption_failed', reason }, 'a connection cannot be read')
      return { bxcontext, status: 'unreadable' as const, reason, missingKeyId }
    }),
  ])
  const time = (summary: (typeof summaries)[number]) => ('connectedAt' in summary ? summary.connectedAt : 0)
  return summaries.sort((a, b) => time(b) - time(a))
}
