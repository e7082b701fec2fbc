import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { workContext } from '../context.ts'
import { type Log, SILENT } from '../log.ts'
import type { Platform } from '../platform/contract.ts'
import {
  ConfigurationError,
  ConnectionRevokedError,
  InvalidGrantError,
  NotConnectedError,
  PlatformError,
  PlatformRejectedError,
  PlatformUnavailableError,
  RefreshTooSoonError,
} from '../platform/errors.ts'
import type { OAuth } from '../platform/oauth.ts'
import type { Tokens } from '../platform/token-answer.ts'
import type { TokenSource } from '../platform/token-source.ts'
import { allOwners, type KeyValueStore, StoreUnavailableError } from '../store/store.ts'
import { withTimeout } from '../timeouts.ts'
import {
  type ActiveRecord,
  begin,
  type ConnectionEvent,
  type ConnectionRecord,
  type ConnectionRef,
  called,
  disconnected,
  ended,
  eventsOf,
  failed,
  type GrantedTokens,
  granted,
  hasRunOut,
  isDue,
  isExpired,
  leased,
  lifetimeOf,
  pauseOf,
  refreshableIn,
  refreshed,
  rejected,
  type Trouble,
  viewOf,
} from './connection.ts'
import { type Connection, describe, type UnreadableConnection, unreadable } from './description.ts'
import { DecryptionError, type EncryptionKey } from './encryption.ts'
import { type Change, ConnectionRecords, connectionKind, readable, type Secrets } from './records.ts'

export interface VaultOptions {
  platform: Platform
  store: KeyValueStore
  /** The first key encrypts; all of them decrypt. */
  keys: readonly EncryptionKey[]
  oauth: Pick<OAuth, 'refresh' | 'revoke' | 'scopes'>
  /** Defaults to no logging. */
  log?: Log
  /** How long a caller waits for a refresh, in ms; the refresh continues without it. Defaults to 20 s. */
  waitMs?: number
  /** The time in ms since 1970. */
  now?: () => number
}

/**
 * What became of a consent. `connected`: by this one, or by one that began later. `pending`: the store does not accept the tokens
 * yet, and this process goes on trying. `superseded`: the user disconnected the account meanwhile.
 */
export type ConnectOutcome = 'connected' | 'pending' | 'superseded'

/**
 * What became of the consent of a disconnected account: `remains` if the platform has no revocation endpoint, `unknown` if it
 * did not confirm the revocation, or there were no tokens to revoke it by.
 */
export type Revocation = 'revoked' | 'remains' | 'unknown'

/** What became of a record: re-encrypted, left as the first key had encrypted it, or left as it cannot be decrypted. */
export type Reencryption = 'reencrypted' | 'current' | DecryptionError

/** Called after each change of a record with its events, which may be none. Its errors are logged and affect nothing. */
export type ChangeListener = (
  ref: ConnectionRef,
  events: readonly ConnectionEvent[],
  change: Change,
) => unknown

/** An active record with its tokens. */
interface Opened {
  record: ActiveRecord
  secrets: Secrets & { accessToken: string }
}

/** How long a lease lasts if the platform accepts a refresh token again, in ms: a killed holder delays others that long. */
const LEASE_MS = 10_000
/** How often a caller looks whether another process has refreshed, in ms. */
const POLL_MS = 50
/** How many users are re-encrypted at the same time. */
const CONCURRENT = 200

/**
 * Keeps connections and hands out valid access tokens, which come from nowhere but the store's record. The record and what can
 * happen to it are in `connection.ts`. Methods throw `StoreUnavailableError`.
 */
export class Vault {
  readonly #platform: Platform
  readonly #store: KeyValueStore
  readonly #records: ConnectionRecords
  readonly #oauth: VaultOptions['oauth']
  readonly #log: Log
  readonly #waitMs: number
  readonly #leaseMs: number
  readonly #now: () => number
  /** Refreshes of this process that have not ended. */
  readonly #renewals = new Map<string, Promise<Opened>>()
  /** Requests for tokens that were sent and not answered, and what was received and is not stored. */
  readonly #requests = new Set<Promise<unknown>>()
  readonly #writes = new Set<Promise<unknown>>()
  readonly #listeners = new Set<ChangeListener>()
  #isClosing = false

  constructor({ platform, store, keys, oauth, log = SILENT, waitMs = 20_000, now = Date.now }: VaultOptions) {
    if (!/^[a-z]+$/.test(platform.name))
      throw new Error(`the platform's name must be lower-case letters: ${platform.name}`)
    this.#platform = platform
    this.#store = store
    this.#records = new ConnectionRecords(store, keys, platform.name, (ref, change) =>
      this.#publish(ref, change),
    )
    this.#oauth = oauth
    this.#log = log
    this.#waitMs = waitMs
    this.#now = now
    // A refresh token that rotates must not be sent twice: no other process may send it before the first request is over.
    this.#leaseMs = platform.refreshTokens === 'reused' ? LEASE_MS : platform.tokenEndpointMs + LEASE_MS
  }

  /**
   * Resolves to a valid access token. One that is not due takes at most one read of the store; one that is about to expire is also
   * refreshed in the background, and an expired one is refreshed first. (One that expires within seconds of its refresh is
   * returned nevertheless, and the API decides.) Throws `NotConnectedError`, `ConnectionRevokedError`,
   * `PlatformUnavailableError`, `PlatformRejectedError`, `ConfigurationError`, `DecryptionError`.
   */
  async accessToken(ref: ConnectionRef): Promise<string> {
    return (await this.#usable(ref)).secrets.accessToken
  }

  /** The connection as a source of tokens for API calls, which can also refresh a token that the API rejects. */
  tokenSource(ref: ConnectionRef): TokenSource {
    let sent: Pick<ActiveRecord, 'consent'> | undefined
    const tokenOf = ({ record, secrets }: Opened) => {
      sent = record
      return secrets.accessToken
    }
    return {
      connection: ref,
      accessToken: async () => tokenOf(await this.#usable(ref)),
      refresh: async (rejectedToken) => tokenOf(await this.#replace(ref, rejectedToken)),
      grantedScopes: async () => {
        const record = await this.#records.readCached(ref)
        return record.status === 'active' ? record.scopes : null
      },
      noteCall: async (outcome) => {
        const about = sent
        if (!about) return
        const next = (record: ConnectionRecord) => called(record, about, outcome, this.#now())
        const cached = await this.#records.readCached(ref)
        // Most calls are no news, as the cached record shows.
        if (next(cached) !== cached) await this.#records.change(ref, next)
      },
    }
  }

  /**
   * Connects an account: `requestTokens` sends the code of a consent. The consent gets its number before that, so that what
   * began later stays; `close` waits for the answer. Throws the errors of `requestTokens`.
   */
  async connect(ref: ConnectionRef, requestTokens: () => Promise<Tokens>): Promise<ConnectOutcome> {
    const { after } = await this.#records.change(ref, begin)
    const consent = after.begun
    const connectedAt = this.#now()
    const tokens = await this.#wait(this.#requests, requestTokens())
    const issuedAt = this.#now()
    const store = (record: ConnectionRecord) =>
      granted(record, consent, this.#seal(ref, record, tokens, issuedAt, false), connectedAt)
    try {
      const stored = await this.#settle(ref, store, tokens)
      // A consent that began later may have connected it.
      return stored.status === 'active' ? 'connected' : 'superseded'
    } catch (error) {
      if (error instanceof StoreUnavailableError) return 'pending'
      throw error
    }
  }

  /**
   * Connects an account that needs no consent, such as one with an API key: `requestTokens` logs in. One caller among all
   * processes does; the others wait for its tokens. Failures pause further attempts, longer each time. Throws the errors of
   * `requestTokens`, and those of `refresh`.
   */
  async logIn(ref: ConnectionRef, requestTokens: () => Promise<Tokens>): Promise<void> {
    const isDone = (read: ConnectionRecord) =>
      read.status === 'active' &&
      viewOf(read, [], this.#now()).state !== 'revoked' &&
      this.#unsealIfReadable(ref, read) !== null
    const { record, isHolder } = await this.#lease(ref, isDone, false)
    if (!isHolder) return
    await this.connect(ref, requestTokens).catch(async (error: unknown) => {
      await this.#fail(ref, record, error)
      throw error
    })
  }

  /** Resolves to the connection, or null. Throws `DecryptionError`. */
  async find(ref: ConnectionRef): Promise<Connection | null> {
    return this.#describe(ref, await this.#records.read(ref))
  }

  /** The user's connections, the latest first. */
  async list(userId: string): Promise<(Connection | UnreadableConnection)[]> {
    const stored = await this.#records.list(userId)
    const connections = stored.map(({ bxcontext, text }) => {
      try {
        return this.#describe({ userId, bxcontext }, readable(text))
      } catch (error) {
        if (error instanceof DecryptionError) return unreadable(bxcontext, error)
        throw error
      }
    })
    return connections
      .filter((connection) => connection !== null)
      .sort((one, other) => (other.connectedAt ?? 0) - (one.connectedAt ?? 0))
  }

  /**
   * Gets a new access token. `manual`: a person asked for it, which ends a pause. Resolves to false if there is no refresh token.
   * Throws the errors of `accessToken`, and `RefreshTooSoonError`.
   */
  async refresh(ref: ConnectionRef, { manual = true } = {}): Promise<boolean> {
    const opened = this.#open(ref, await this.#records.read(ref))
    const { record } = opened
    const waitMs = refreshableIn(record, this.#now())
    if (record.renewable && waitMs > 0) throw new RefreshTooSoonError(waitMs)
    if (!record.renewable) return false
    await this.#renew(ref, opened, manual)
    return true
  }

  /**
   * Deletes the connection and its tokens, and then revokes its grant (RFC 7009) if the platform has a revocation endpoint.
   * Resolves to what became of the consent, or null if there was no connection.
   */
  async disconnect(ref: ConnectionRef): Promise<Revocation | null> {
    const before = await this.#records.remove(ref, disconnected)
    if (before?.status === 'none') return null
    if (before?.status === 'ended' && before.endedReason === 'invalid_grant') return 'revoked'
    const hasTokens = before?.status === 'active' && !hasRunOut(before, this.#now())
    return this.#revoke(hasTokens ? this.#unsealIfReadable(ref, before) : null)
  }

  /** Calls `listener` after each change of a connection in this process. Returns a function that unsubscribes. */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Encrypts every stored connection with the first key. Run again after an interruption, it only reads those that are done. */
  reencrypt(): AsyncIterable<Reencryption> {
    const userIds = Readable.from(allOwners(this.#store, connectionKind(this.#platform.name)))
    return userIds.flatMap((userId: string) => this.#reencryptUser(userId), { concurrency: CONCURRENT })
  }

  /** Resolves when no request for tokens is in flight, and everything that was received is stored. */
  async idle(): Promise<void> {
    while (this.#renewals.size + this.#requests.size + this.#writes.size > 0)
      await Promise.allSettled([...this.#renewals.values(), ...this.#requests, ...this.#writes])
  }

  /**
   * Sends no further requests for tokens. Waits for the answers to those that were sent, which the HTTP pool limits (40 s, unless
   * its options say otherwise): the answer is the only copy of the new tokens. Then waits at most `graceMs` until they are stored,
   * and logs it if they are not.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true
    await Promise.allSettled(this.#requests)
    await withTimeout(this.idle(), graceMs).catch(() => {
      if (this.#writes.size > 0)
        this.#log.error('an answer to a request for tokens is lost: the store did not accept it in time')
    })
  }

  /** The connection with a token to send. */
  async #usable(ref: ConnectionRef): Promise<Opened> {
    const opened = this.#open(ref, await this.#records.readCached(ref))
    const { record } = opened
    const now = this.#now()
    if (record.refusedAt !== null || isExpired(record, now)) {
      // A token that the platform lets expire at once: the API decides.
      const isTooSoon = record.renewable && refreshableIn(record, now) > 0
      return isTooSoon ? opened : this.#renew(ref, opened)
    }
    // The token still works. A failure is logged and in the record, and the next call tries again.
    if (isDue(record, now) && pauseOf(record, now) === 0) this.#renew(ref, opened).catch(() => {})
    return opened
  }

  /** Replaces an access token that the API rejected. */
  async #replace(ref: ConnectionRef, rejectedToken: string): Promise<Opened> {
    const opened = this.#open(ref, await this.#records.read(ref))
    const { record, secrets } = opened
    if (secrets.accessToken !== rejectedToken) return opened
    const waitMs = record.renewable ? refreshableIn(record, this.#now()) : 0
    if (waitMs > 0)
      throw new PlatformUnavailableError('rejected', 'the API rejects a token that was just issued', waitMs)
    try {
      if (record.renewable) return await this.#renew(ref, opened)
      throw new PlatformRejectedError('the API rejects the access token, and there is no refresh token')
    } catch (error) {
      const sealed = this.#sealNames(ref, secrets)
      const { after } = await this.#records.change(ref, (read) =>
        rejected(read, record, { now: this.#now(), sealed }),
      )
      this.#throwIfEnded(after)
      throw error
    }
  }

  /** Resolves to newer tokens than those of `seen`. The callers of this process share one refresh. */
  #renew(ref: ConnectionRef, seen: Opened, manual = false): Promise<Opened> {
    const name = JSON.stringify([manual, ref.userId, ref.bxcontext])
    let renewal = this.#renewals.get(name)
    if (!renewal) {
      const { userId, bxcontext } = ref
      const context = { ...workContext.getStore(), userId, bxcontext }
      renewal = workContext
        .run(context, () => this.#refresh(ref, seen, manual))
        .finally(() => this.#renewals.delete(name))
      this.#renewals.set(name, renewal)
    }
    const stillRefreshing = () =>
      new PlatformUnavailableError('no_answer', 'the refresh has not been answered yet')
    return withTimeout(renewal, this.#waitMs, stillRefreshing)
  }

  async #refresh(ref: ConnectionRef, seen: Opened, manual: boolean): Promise<Opened> {
    const isNewer = ({ consent, refreshes }: ConnectionRecord) =>
      consent !== seen.record.consent || refreshes !== seen.record.refreshes
    // Also one that has expired already: whoever needs a token of that life looks again.
    const isDone = (record: ConnectionRecord) => record.status !== 'active' || isNewer(record)
    const { record, isHolder } = await this.#lease(ref, isDone, manual)
    const opened = this.#open(ref, record)
    if (!isHolder) return opened
    const { refreshToken } = opened.secrets
    if (refreshToken === null) throw new PlatformRejectedError('there is no refresh token')
    let tokens: Tokens
    try {
      const request = this.#oauth.refresh({ refreshToken, bxcontext: ref.bxcontext })
      tokens = await this.#wait(this.#requests, request)
    } catch (error) {
      if (!(error instanceof InvalidGrantError))
        return this.#open(ref, await this.#fail(ref, opened.record, error, isDone))
      const sealed = this.#sealNames(ref, opened.secrets)
      const end = { sealed, endedAt: this.#now(), endedReason: 'invalid_grant' } as const
      return this.#open(ref, await this.#settle(ref, (read) => ended(read, opened.record, end)))
    }
    const issuedAt = this.#now()
    const store = (read: ConnectionRecord) =>
      refreshed(read, opened.record, this.#seal(ref, read, tokens, issuedAt, true))
    return this.#open(ref, await this.#settle(ref, store, tokens))
  }

  /**
   * Takes the lease, as soon as no other process has it. Resolves without it to a record that `isDone`, perhaps by the work of
   * another process. Throws the error of a pause.
   */
  async #lease(
    ref: ConnectionRef,
    isDone: (record: ConnectionRecord) => boolean,
    manual: boolean,
  ): Promise<{ record: ConnectionRecord; isHolder: boolean }> {
    for (const deadline = performance.now() + this.#waitMs; ; ) {
      if (this.#isClosing) throw new PlatformUnavailableError('paused', 'this process is stopping')
      const { before, after } = await this.#records.change(ref, (record) =>
        isDone(record) ? record : leased(record, { now: this.#now(), leaseMs: this.#leaseMs, manual }),
      )
      const isHolder = after !== before
      if (isHolder || isDone(after)) return { record: after, isHolder }
      const pauseMs = manual ? 0 : pauseOf(after, this.#now())
      if (pauseMs > 0) this.#throwPaused(after, pauseMs)
      if (performance.now() > deadline)
        throw new PlatformUnavailableError('no_answer', 'another process is still refreshing')
      await pause(POLL_MS * (0.5 + Math.random()))
    }
  }

  /**
   * Stores the outcome of a request for tokens. Rejects if the store does not accept it at once; the write goes on. `tokens`: what
   * was received.
   */
  async #settle(
    ref: ConnectionRef,
    next: (record: ConnectionRecord) => ConnectionRecord,
    tokens?: Tokens,
  ): Promise<ConnectionRecord> {
    const { first, last } = this.#records.write(ref, next)
    const settled = last.then(async ({ after }) => {
      // The disconnect revoked earlier tokens. Another consent may share the grant, so only a disconnect revokes these.
      if (tokens && after.status === 'none') await this.#revoke(tokens)
    })
    // The caller has the same error from `first`, and `close` logs what is lost.
    this.#wait(this.#writes, settled).catch(() => {})
    return (await first).after
  }

  /**
   * Notes that a request for tokens failed, and throws the error, or `ConnectionRevokedError` if it counts as the end of access.
   * Resolves to the record if it has been replaced meanwhile by one that `isDone`.
   */
  async #fail(
    ref: ConnectionRef,
    sent: ConnectionRecord,
    error: unknown,
    isDone: (record: ConnectionRecord) => boolean = () => false,
  ): Promise<ConnectionRecord> {
    const trouble = troubleOf(error)
    if (!(error instanceof PlatformError) || trouble === null) throw error
    const { code, reason, retryAfterMs } = error
    const level = trouble === 'misconfigured' ? 'error' : 'warn'
    this.#log[level]({ consent: sent.consent, code, reason }, 'token request failed')
    const failure = { trouble, now: this.#now(), retryAfterMs }
    // What the platform answered is worth more to the caller than that it could not be noted yet.
    const after = await this.#settle(ref, (read) => failed(read, sent, failure)).catch(() => null)
    if (after && isDone(after)) return after
    if (after?.status === 'active' && after.refusedAt !== null) this.#throwIfEnded(after)
    throw error
  }

  /** What a token response changes in a record; what it does not repeat is kept. */
  #seal(
    ref: ConnectionRef,
    record: ConnectionRecord,
    tokens: Tokens,
    issuedAt: number,
    isRefresh: boolean,
  ): GrantedTokens {
    const earlier = record.status === 'active' ? this.#unsealIfReadable(ref, record) : null
    const { accessToken, expiresIn } = tokens
    const refreshToken = tokens.refreshToken ?? earlier?.refreshToken ?? null
    const renewable = refreshToken !== null
    const isSame = isRefresh && accessToken === earlier?.accessToken
    const scopes = isRefresh && record.status === 'active' ? record.scopes : null
    return {
      sealed: this.#records.seal(ref, {
        accessToken,
        refreshToken,
        businessName: tokens.businessName ?? earlier?.businessName ?? null,
        userName: tokens.userName ?? earlier?.userName ?? null,
      }),
      renewable,
      rotated: isRefresh && refreshToken !== earlier?.refreshToken,
      scopes: tokens.scopes ?? scopes,
      ...lifetimeOf(expiresIn, { issuedAt, renewable, isSame }, this.#platform.assumedLifetimeMs),
    }
  }

  #sealNames(ref: ConnectionRef, { businessName, userName }: Secrets): string {
    return this.#records.seal(ref, { accessToken: null, refreshToken: null, businessName, userName })
  }

  /** Null if a key is missing. */
  #unsealIfReadable(ref: ConnectionRef, { sealed }: ActiveRecord): Secrets | null {
    try {
      return this.#records.unseal(ref, sealed)
    } catch (error) {
      if (error instanceof DecryptionError) return null
      throw error
    }
  }

  /** Throws `NotConnectedError`, `ConnectionRevokedError`, `DecryptionError`. */
  #open(ref: ConnectionRef, record: ConnectionRecord): Opened {
    switch (record.status) {
      case 'none':
        throw new NotConnectedError()
      case 'ended':
        throw new ConnectionRevokedError(record.endedAt, record.endedReason)
      case 'active': {
        const { expiresAt } = record
        if (expiresAt !== null && hasRunOut(record, this.#now()))
          throw new ConnectionRevokedError(expiresAt, 'expired')
        const secrets = this.#records.unseal(ref, record.sealed)
        const { accessToken } = secrets
        if (accessToken === null) throw new DecryptionError('A stored connection has no access token.')
        return { record, secrets: { ...secrets, accessToken } }
      }
      default:
        return record satisfies never
    }
  }

  #describe(ref: ConnectionRef, record: ConnectionRecord): Connection | null {
    if (record.status === 'none') return null
    const secrets = this.#records.unseal(ref, record.sealed)
    return describe(ref, record, secrets, this.#oauth.scopes, this.#now())
  }

  #throwIfEnded(record: ConnectionRecord): void {
    const view = viewOf(record, [], this.#now())
    if (view.state === 'none') throw new NotConnectedError()
    if (view.state === 'revoked') throw new ConnectionRevokedError(view.at, view.reason)
  }

  /** Throws the error of a caller that a pause keeps from sending a request. */
  #throwPaused(record: ConnectionRecord, waitMs: number): never {
    if (record.status === 'active' && record.refusedAt !== null) this.#throwIfEnded(record)
    switch (record.trouble) {
      case 'misconfigured':
        throw new ConfigurationError('refreshing is paused after a configuration error')
      case 'refused':
        throw new PlatformUnavailableError('refused', 'refreshing is paused after it was refused', waitMs)
      default:
        throw new PlatformUnavailableError('paused', 'refreshing is paused after a failure', waitMs)
    }
  }

  /** Revokes a grant that no record has any more, by its latest tokens. */
  async #revoke(
    tokens: { accessToken: string | null; refreshToken?: string | null | undefined } | null,
  ): Promise<Revocation> {
    if (!this.#oauth.revoke) return 'remains'
    const token = tokens?.refreshToken ?? tokens?.accessToken
    if (!token) return 'unknown'
    try {
      await this.#oauth.revoke(token, tokens?.refreshToken ? 'refresh_token' : 'access_token')
      return 'revoked'
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error
      const { code, reason } = error
      this.#log.warn({ code, reason }, 'the grant of a disconnected account was not revoked')
      return 'unknown'
    }
  }

  async #reencryptUser(userId: string): Promise<Reencryption[]> {
    const stored = await this.#records.list(userId)
    return Promise.all(
      stored.map(({ bxcontext, text }) =>
        this.#records.reencrypt({ userId, bxcontext }, text).catch((error: unknown) => {
          if (error instanceof DecryptionError) return error
          throw error
        }),
      ),
    )
  }

  /** Keeps a promise until it is settled, so that `idle` waits for it. */
  #wait<T>(among: Set<Promise<unknown>>, work: Promise<T>): Promise<T> {
    const settled = work.finally(() => among.delete(settled))
    among.add(settled)
    return settled
  }

  #publish(ref: ConnectionRef, { before, after }: Change): void {
    const events = eventsOf(before, after)
    for (const event of events) this.#logEvent(event, after)
    for (const listener of this.#listeners) void this.#tell(listener, ref, events, { before, after })
  }

  async #tell(listener: ChangeListener, ...change: Parameters<ChangeListener>): Promise<void> {
    try {
      await listener(...change)
    } catch (error) {
      const name = error instanceof Error ? error.name : typeof error
      this.#log.error({ name }, 'a listener for changes of connections failed')
    }
  }

  #logEvent(event: ConnectionEvent, after: ConnectionRecord): void {
    const { consent } = after
    switch (event.type) {
      case 'connected':
        this.#log.info({ consent }, 'account connected')
        if (after.status === 'active' && !after.renewable)
          this.#log.warn({ consent, expiresAt: isoOrNull(after.expiresAt) }, NO_REFRESH_TOKEN)
        return
      case 'revoked':
        this.#log.warn({ consent, reason: event.reason }, 'access to an account has ended')
        return
      case 'disconnected':
        this.#log.info({ consent }, 'account disconnected')
        return
      case 'refreshed':
      case 'refreshFailed':
      case 'recovered':
        return
      default:
        event satisfies never
    }
  }
}

const NO_REFRESH_TOKEN =
  'this connection ends with its access token: the platform issued no refresh token. Many platforms issue one only if the scope offline_access is requested'

const isoOrNull = (time: number | null) => (time === null ? null : new Date(time).toISOString())

/** Why a request for tokens failed, for the record; null if that says nothing about the platform. */
function troubleOf(error: unknown): Trouble | null {
  if (error instanceof ConfigurationError) return 'misconfigured'
  if (error instanceof PlatformUnavailableError) return error.kind
  return error instanceof PlatformRejectedError ? 'unreadable' : null
}
