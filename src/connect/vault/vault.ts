import { setTimeout as pause } from 'node:timers/promises'
import { workContext } from '../context.ts'
import { type Log, SILENT } from '../log.ts'
import type { PageOf } from '../platform/api.ts'
import type { ClientCredentials } from '../platform/client-authentication.ts'
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
import { retry } from '../retry.ts'
import { type KeyValueStore, StoreUnavailableError } from '../store/store.ts'
import { withTimeout } from '../timeouts.ts'
import { AppCredentials } from './app-credentials.ts'
import { type ChangeListener, createChanges } from './changes.ts'
import type { ActiveRecord, ConnectionRecord, ConnectionRef, FailureCause } from './connection.ts'
import * as connection from './connection.ts'
import { type Connection, describe, type UnreadableConnection, unreadable } from './description.ts'
import { DecryptionError, type EncryptionKey, unknownFormat } from './encryption.ts'
import { concernsAll, inTurns, type Listed, type Listing, needsUserFirst, pageOf, select } from './listing.ts'
import { ConnectionRecords, type Secrets, type Transition } from './records.ts'

export interface VaultOptions {
  platform: Platform
  store: KeyValueStore
  /** The first key encrypts; all keys decrypt. */
  keys: readonly EncryptionKey[]
  oauth: Pick<OAuth, 'refresh' | 'revoke' | 'scopes'>
  /** The credentials of this app at the platform. */
  client?: ClientCredentials
  /** Defaults to no logging. */
  log?: Log
  /** How long a caller waits for a refresh, in ms. The refresh itself continues. Defaults to 20 s. */
  waitMs?: number
  /** The time in ms since 1970. */
  now?: () => number
}

/**
 * The outcome of a consent. `connected`: this or a later consent has connected the account. `pending`: the store does not accept
 * the tokens yet, and this process keeps trying. `superseded`: the account was disconnected, or its access ended, in the meantime.
 */
export type ConnectOutcome = 'connected' | 'pending' | 'superseded'

/**
 * The state of the consent after a disconnect. `remains`: the platform has no revocation endpoint. `unknown`: the platform did not
 * confirm the revocation, or there were no tokens to revoke.
 */
export type Revocation = 'revoked' | 'remains' | 'unknown'

/** An active record with its tokens. */
interface Opened {
  record: ActiveRecord
  secrets: Secrets
}

/** How long a lease lasts, in ms, if a refresh token can be used again. A killed process delays other processes for this time. */
const LEASE_MS = 10_000
/** How often a caller checks whether another process has refreshed, in ms. */
const POLL_MS = 50
/** If the store refuses received tokens, the write is repeated for ten minutes. */
const WRITE_RETRIES = { timeoutMs: 600_000, pauseMs: 100, maxPauseMs: 1_000 }
/** How many connections a user may have. Connect flows that have already begun may exceed this limit. */
const MAX_CONNECTIONS = 10_000

/**
 * Keeps connections and hands out valid access tokens. Their only source is the record in the store. `connection.ts` describes the
 * record and its changes. Methods throw `StoreUnavailableError`.
 */
export class Vault {
  /** Tells whether the platform refuses this app's own credentials. */
  readonly credentials: AppCredentials
  readonly #options: Required<VaultOptions>
  readonly #records: ConnectionRecords
  readonly #changes: ReturnType<typeof createChanges>
  readonly #leaseMs: number
  /** The refreshes of this process that have not ended. */
  readonly #renewals = new Map<string, Promise<Opened>>()
  /** Token requests without an answer so far, and writes that are not stored yet. */
  readonly #requests = new Set<Promise<unknown>>()
  readonly #writes = new Set<Promise<unknown>>()
  #isClosing = false

  constructor(options: VaultOptions) {
    const { platform, store, keys, log = SILENT, client = { clientId: '', clientSecret: '' } } = options
    if (!/^[a-z]+$/.test(platform.name))
      throw new Error(`the platform's name must be lower-case letters: ${platform.name}`)
    this.#options = { waitMs: 20_000, now: () => Date.now(), ...options, log, client }
    this.credentials = new AppCredentials(store, platform.name, keys, client)
    this.#changes = createChanges(log)
    const placeOf = (record: ConnectionRecord) =>
      connection.placeOf(record, options.oauth.scopes, this.#options.now())
    this.#records = new ConnectionRecords(platform, store, keys, {
      placeOf,
      onWritten: this.#changes.publish,
    })
    // A rotating refresh token must not be sent twice, so other processes have to wait until the first request has ended.
    this.#leaseMs = platform.refreshTokens === 'reused' ? LEASE_MS : platform.tokenEndpointMs + LEASE_MS
  }

  /**
   * Resolves to a valid access token. A token that is not due takes at most one read of the store. A token that is about to expire
   * is also refreshed in the background, and an expired token is refreshed first. Throws `NotConnectedError`,
   * `ConnectionRevokedError`, `PlatformUnavailableError`, `PlatformRejectedError`, `ConfigurationError`, `DecryptionError`.
   */
  async accessToken(ref: ConnectionRef): Promise<string> {
    return (await this.#usable(ref)).secrets.accessToken
  }

  /** The connection as a source of tokens for API calls, which can also refresh a token that the API rejects. */
  tokenSource(ref: ConnectionRef): TokenSource {
    let sent: ActiveRecord | undefined
    const tokenOf = ({ record, secrets }: Opened) => {
      sent = record
      return secrets.accessToken
    }
    return {
      connection: ref,
      accessToken: async () => tokenOf(await this.#usable(ref)),
      refresh: async (rejectedToken) => tokenOf(await this.#replace(ref, rejectedToken, sent)),
      grantedScopes: async () => {
        const record = await this.#records.readCached(ref)
        return record.status === 'active' ? record.scopes : null
      },
      noteCall: async (outcome) => {
        const about = sent
        if (!about) return
        const next = (record: ConnectionRecord) =>
          connection.called(record, about, outcome, this.#options.now())
        // Most calls don't change the record of their token, so they need no read or write.
        if (next(about) === about) return
        const { after } = await this.#records.change(ref, next, about)
        if (after.status === 'active' && after.consent === about.consent) sent = after
      },
    }
  }

  /**
   * Connects an account. `requestTokens` sends the code of a consent. The consent gets its number before that, so it never replaces
   * a consent that began later. `close` waits for the answer. Throws the errors of `requestTokens`.
   */
  async connect(ref: ConnectionRef, requestTokens: () => Promise<Tokens>): Promise<ConnectOutcome> {
    const { after } = await this.#records.change(ref, connection.begin)
    const consent = after.begun
    const connectedAt = this.#options.now()
    const tokens = await this.#send(requestTokens)
    const issuedAt = this.#options.now()
    const store = (record: ConnectionRecord) =>
      connection.granted(
        record,
        consent,
        this.#records.granted(ref, record, tokens, { issuedAt }),
        connectedAt,
      )
    try {
      const stored = await this.#settle(ref, store, after, tokens)
      // The record may belong to a consent that began later.
      return stored.status === 'active' ? 'connected' : 'superseded'
    } catch (error) {
      if (error instanceof StoreUnavailableError) return 'pending'
      throw error
    }
  }

  /**
   * Checks that the user has this connection, and that its access has not ended for good. A refused connection that still has its
   * tokens passes, because its calls can restore access. `cached`: the record may be a second old. Throws `NotConnectedError`,
   * `ConnectionRevokedError`.
   */
  async requireConnection(ref: ConnectionRef, { cached = false } = {}): Promise<void> {
    this.#active(await (cached ? this.#records.readCached(ref) : this.#records.read(ref)))
  }

  /** Resolves to the connection, or null. Throws `DecryptionError`. */
  async find(ref: ConnectionRef): Promise<Connection | null> {
    return this.#describe(ref, await this.#records.read(ref), await this.credentials.areRefused())
  }

  /** Like `find`, but a connection that cannot be decrypted is an `UnreadableConnection`. */
  findAny(ref: ConnectionRef): Promise<Connection | UnreadableConnection | null> {
    return this.find(ref).catch((error: unknown) => unreadableOr(ref, error))
  }

  /** The user's connections, in no particular order. It decrypts them all; `page` decrypts only one page. */
  async list(userId: string): Promise<(Connection | UnreadableConnection)[]> {
    return inTurns(await this.#records.list(userId), await this.#describer())
  }

  /** Whether the user may connect this business: it is already connected, or the user has fewer than 10,000 connections. */
  async hasRoom({ userId, bxcontext }: ConnectionRef): Promise<boolean> {
    const { total } = await this.#records.page(userId, { skip: 0, top: 0 })
    return total < MAX_CONNECTIONS || (await this.#records.read({ userId, bxcontext })).status !== 'none'
  }

  /** A page of the user's connections. It reads only that page, unless `listing` has a search or an order. */
  async page(userId: string, listing: Listing): Promise<PageOf<Connection | UnreadableConnection>> {
    const { skip, top } = listing
    if (concernsAll(listing)) {
      const found = select(await this.list(userId), listing)
      return pageOf(found.slice(skip, skip + top), found.length, listing)
    }
    const { listed, total } = await this.#records.page(userId, listing)
    return pageOf(needsUserFirst(listed.map(await this.#describer())), total, listing)
  }

  /**
   * A text that changes when a page with these connections is out of date. It may be a second old, and does not decrypt records.
   * `bxcontexts`: the connections on the page.
   */
  async version(userId: string, bxcontexts: readonly string[]): Promise<string> {
    const { now, oauth } = this.#options
    const versionOf = async (bxcontext: string) => {
      const record = await this.#records.readCached({ userId, bxcontext }).catch(() => null)
      // An access token may have expired without a change of the record.
      return record && [record.rev, connection.viewOf(record, oauth.scopes, now()).state]
    }
    const versions = await Promise.all(bxcontexts.map(versionOf))
    return JSON.stringify([await this.credentials.areRefused(), versions])
  }

  /**
   * Gets a new access token. `manual`: a person or a script asked for it. Then a pause after a failure lasts only 5 s, unless the
   * platform asked for a longer pause. Resolves to false if there is no refresh token. Throws the errors of `accessToken`, and
   * `RefreshTooSoonError`.
   */
  async refresh(ref: ConnectionRef, { manual = true } = {}): Promise<boolean> {
    const opened = this.#open(ref, await this.#records.read(ref))
    const { record } = opened
    const waitMs = connection.refreshableIn(record, this.#options.now())
    if (record.renewable && waitMs > 0) throw new RefreshTooSoonError(waitMs)
    if (!record.renewable) return false
    await this.#renew(ref, opened, manual)
    return true
  }

  /**
   * Deletes the connection and its tokens, and then revokes its grant (RFC 7009) if the platform has a revocation endpoint.
   * Resolves to the state of the consent, or null if there was no connection.
   */
  async disconnect(ref: ConnectionRef): Promise<Revocation | null> {
    const before = await this.#records.remove(ref)
    if (before?.status === 'none') return null
    if (before?.status === 'ended' && before.endedReason === 'invalid_grant') return 'revoked'
    const isOver = before !== null && connection.endOf(before, this.#options.now())?.reason === 'expired'
    return this.#revoke(before === null || isOver ? null : this.#records.secretsIfReadable(ref, before))
  }

  /** Sets or removes (null) the user's own name for the connection. Throws `NotConnectedError`, `DecryptionError`. */
  async label(ref: ConnectionRef, label: string | null): Promise<void> {
    const { after } = await this.#records.label(ref, label)
    if (after.status === 'none') throw new NotConnectedError()
  }

  /** Calls `listener` after each change of a connection in this process. Returns a function that unsubscribes. */
  onChange(listener: ChangeListener): () => void {
    return this.#changes.listen(listener)
  }

  /** Resolves when no token request is in flight, and all received tokens are stored. */
  async idle(): Promise<void> {
    while (this.#renewals.size + this.#requests.size + this.#writes.size > 0)
      await Promise.allSettled([...this.#renewals.values(), ...this.#requests, ...this.#writes])
  }

  /**
   * Stops sending token requests. Waits for pending answers, because each is the only copy of the new tokens. The HTTP pool limits
   * this wait (to 40 s by default). Then waits at most `graceMs` until they are stored, and logs an error if they are not.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true
    await Promise.allSettled(this.#requests)
    await withTimeout(this.idle(), graceMs).catch(() => {
      if (this.#writes.size > 0)
        this.#options.log.error(
          'an answer to a request for tokens is lost: the store did not accept it in time',
        )
    })
  }

  /** The connection with a token to send. */
  async #usable(ref: ConnectionRef): Promise<Opened> {
    return this.#valid(ref, this.#open(ref, await this.#records.readCached(ref)))
  }

  /** The connection with a token to send: that of `opened` if it still works. */
  async #valid(ref: ConnectionRef, opened: Opened): Promise<Opened> {
    const { record } = opened
    const now = this.#options.now()
    if (record.refusal !== null) return this.#renew(ref, opened)
    if (connection.isExpired(record, now))
      return connection.refreshableIn(record, now) > 0 ? this.#unexpired(opened) : this.#renew(ref, opened)
    // The token still works, so the caller doesn't wait. A failure is logged and recorded, and a later call tries again.
    if (connection.isDue(record, now) && connection.pauseOf(record, now) === 0)
      this.#renew(ref, opened).catch(() => {})
    return opened
  }

  /** The connection, unless its token has expired: its lifetime is very short, or another process refreshed it long ago. */
  #unexpired(opened: Opened): Opened {
    const now = this.#options.now()
    if (!connection.isExpired(opened.record, now)) return opened
    const waitMs = connection.refreshableIn(opened.record, now)
    throw new PlatformUnavailableError('paused', 'the new access token has expired already', waitMs)
  }

  /** Replaces an access token that the API rejected. `sent`: the record of that token. */
  async #replace(ref: ConnectionRef, rejectedToken: string, sent?: ActiveRecord): Promise<Opened> {
    // Taking the lease checks in the store whether this record is the latest.
    const canRefresh = sent?.renewable && connection.refreshableIn(sent, this.#options.now()) === 0
    const opened = this.#open(ref, canRefresh ? sent : await this.#records.read(ref))
    const { record, secrets } = opened
    if (secrets.accessToken !== rejectedToken) return this.#valid(ref, opened)
    const waitMs = record.renewable ? connection.refreshableIn(record, this.#options.now()) : 0
    if (waitMs > 0)
      throw new PlatformUnavailableError('rejected', 'the API rejects a token that was just issued', waitMs)
    try {
      if (record.renewable) return await this.#renew(ref, opened)
      throw new PlatformRejectedError('the API rejects the access token, and there is no refresh token')
    } catch (error) {
      const { after } = await this.#records.change(ref, (read) =>
        connection.rejected(read, record, this.#options.now()),
      )
      this.#unended(after)
      throw error
    }
  }

  /** Resolves to newer tokens than those of `seen`. The callers of this process share one refresh. */
  async #renew(ref: ConnectionRef, seen: Opened, manual = false): Promise<Opened> {
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
    return this.#unexpired(await withTimeout(renewal, this.#options.waitMs, stillRefreshing))
  }

  async #refresh(ref: ConnectionRef, seen: Opened, manual: boolean): Promise<Opened> {
    const { record, isHolder } = await this.#lease(ref, seen.record, manual)
    const opened = this.#open(ref, record)
    if (!isHolder) return opened
    const { refreshToken } = opened.secrets
    if (refreshToken === null) throw new PlatformRejectedError('there is no refresh token')
    let tokens: Tokens
    try {
      const grant = { refreshToken, bxcontext: ref.bxcontext }
      tokens = await this.#send(() => this.#options.oauth.refresh(grant))
    } catch (error) {
      const after = await this.#noteFailure(ref, opened.record, error)
      if (!connection.hasTokens(after, opened.record)) return this.#open(ref, after)
      this.#unended(after)
      throw error
    }
    const received = { issuedAt: this.#options.now(), isRefresh: true }
    const store = (read: ConnectionRecord) =>
      connection.refreshed(read, opened.record, this.#records.granted(ref, read, tokens, received))
    return this.#open(ref, await this.#settle(ref, store, opened.record, tokens))
  }

  /**
   * Takes the lease as soon as no other process has it. Resolves without the lease once the tokens of the record differ from
   * `seen`, for example because another process refreshed them. Throws the error of a pause.
   */
  async #lease(
    ref: ConnectionRef,
    seen: ActiveRecord,
    manual: boolean,
  ): Promise<{ record: ConnectionRecord; isHolder: boolean }> {
    const lease = (record: ConnectionRecord) =>
      connection.hasTokens(record, seen)
        ? connection.leased(record, { now: this.#options.now(), leaseMs: this.#leaseMs, manual })
        : record
    let known: ConnectionRecord = seen
    for (const deadline = performance.now() + this.#options.waitMs; ; ) {
      if (this.#isClosing) throw stopping()
      const { before, after } = await this.#records.change(ref, lease, known)
      known = after
      const isHolder = after !== before
      if (isHolder || !connection.hasTokens(after, seen)) return { record: after, isHolder }
      const pauseMs = connection.pauseOf(after, this.#options.now(), manual)
      if (pauseMs > 0) throw await this.#pauseError(after, pauseMs)
      if (performance.now() > deadline)
        throw new PlatformUnavailableError('paused', 'another process is still refreshing')
      await pause(POLL_MS * (0.5 + Math.random()))
    }
  }

  /**
   * Sends a token request, unless this process began to stop while the lease was taken. `close` waits for the answer, which also
   * shows whether the platform accepts this app's credentials.
   */
  #send(request: () => Promise<Tokens>): Promise<Tokens> {
    if (this.#isClosing) return Promise.reject(stopping())
    return this.#wait(this.#requests, this.credentials.noting(request()))
  }

  /**
   * Stores the outcome of a token request. If the first write fails, rejects, and repeats the write in the background. `sent`: the
   * record when the request was sent. `tokens`: the received tokens.
   */
  async #settle(
    ref: ConnectionRef,
    next: Transition,
    sent: ConnectionRecord,
    tokens?: Tokens,
  ): Promise<ConnectionRecord> {
    const write = this.#records.changer(ref, next, sent)
    const first = write()
    const stored = first
      .catch((error: unknown) => {
        if (error instanceof StoreUnavailableError) return retry(write, WRITE_RETRIES)
        throw error
      })
      .then(async ({ after }) => {
        // A disconnect in the meantime has revoked only the earlier tokens. Otherwise, keep these tokens, because another consent
        // may share the grant.
        if (tokens && after.status === 'none') await this.#revoke(tokens)
      })
    // The caller gets the same error from `first`, and `close` logs a lost write.
    this.#wait(this.#writes, stored).catch(() => {})
    return (await first).after
  }

  /**
   * Stores the failure of a token request with the pause that follows, or the end of access. Resolves to the latest
   * known record. Throws the error if no request was sent, or if the error does not come from the platform.
   */
  async #noteFailure(ref: ConnectionRef, sent: ActiveRecord, error: unknown): Promise<ConnectionRecord> {
    const now = this.#options.now()
    const cause = causeOf(error)
    if (!(error instanceof PlatformError) || cause === undefined) {
      await this.#records.change(ref, (read) => connection.released(read, sent), sent).catch(() => {})
      throw error
    }
    const { code, reason, retryAfterMs } = error
    const level = error instanceof ConfigurationError ? 'error' : 'warn'
    this.#options.log[level]({ consent: sent.consent, code, reason }, 'token request failed')
    const failure = { cause, now, retryAfterMs }
    const next = (read: ConnectionRecord) => connection.failed(read, sent, failure)
    return this.#settle(ref, next, sent).catch((failed: unknown) => {
      // The caller gets the platform's error even if it is not stored yet. But an end of access must be stored first.
      if (cause === 'invalid_grant') throw failed
      return sent
    })
  }

  /** Throws `NotConnectedError`, `ConnectionRevokedError`, `DecryptionError`. */
  #open(ref: ConnectionRef, record: ConnectionRecord): Opened {
    const active = this.#active(record)
    return { record: active, secrets: this.#records.secretsOf(ref, active) }
  }

  /** The record, unless access has ended for good: refused tokens may work again. Throws the errors of `#unended`. */
  #active(record: ConnectionRecord): ActiveRecord {
    return record.status === 'active' && record.refusal !== null ? record : this.#unended(record)
  }

  /** The record, unless access has ended. Throws `NotConnectedError`, `ConnectionRevokedError`. */
  #unended(record: ConnectionRecord): ActiveRecord {
    const end = connection.endOf(record, this.#options.now())
    if (end) throw new ConnectionRevokedError(end.at, end.reason)
    if (record.status !== 'active') throw new NotConnectedError()
    return record
  }

  #describe(ref: ConnectionRef, record: ConnectionRecord, isAppRefused: boolean): Connection | null {
    if (record.status === 'none') return null
    const app = { requestedScopes: this.#options.oauth.scopes, isAppRefused }
    return describe(ref, record, this.#records.namesOf(ref, record), app, this.#options.now())
  }

  /** Returns a function that describes a listed record. Every listed record is a connection. */
  async #describer(): Promise<(listed: Listed) => Connection | UnreadableConnection> {
    const isAppRefused = await this.credentials.areRefused()
    return ({ ref, record }) => {
      try {
        return this.#describe(ref, record ?? unknownFormat(), isAppRefused) ?? unknownFormat()
      } catch (error) {
        return unreadableOr(ref, error)
      }
    }
  }

  /** The error for a caller whose request is withheld during a pause. */
  async #pauseError(record: ActiveRecord, waitMs: number): Promise<PlatformError> {
    if (record.refusal !== null) this.#unended(record)
    if (await this.credentials.areRefused())
      return new ConfigurationError(
        "the platform refuses this app's credentials, and asking it again is paused",
      )
    return record.lastError === 'refused'
      ? new PlatformUnavailableError('refused', 'refreshing is paused after it was refused', waitMs)
      : new PlatformUnavailableError('paused', 'refreshing is paused after a failure', waitMs)
  }

  /** Revokes a grant that is no longer stored, by its latest tokens. */
  async #revoke(
    tokens: { accessToken?: string; refreshToken?: string | null | undefined } | null,
  ): Promise<Revocation> {
    const { oauth, log } = this.#options
    if (!oauth.revoke) return 'remains'
    const { accessToken, refreshToken } = tokens ?? {}
    if (!accessToken) return 'unknown'
    try {
      const kind = refreshToken ? 'refresh_token' : 'access_token'
      await oauth.revoke(refreshToken ?? accessToken, kind)
      return 'revoked'
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error
      const { code, reason } = error
      log.warn({ code, reason }, 'the grant of a disconnected account was not revoked')
      return 'unknown'
    }
  }

  /** Keeps a promise in `among` until it settles, so that `idle` waits for it. */
  #wait<T>(among: Set<Promise<unknown>>, work: Promise<T>): Promise<T> {
    const settled = work.finally(() => among.delete(settled))
    among.add(settled)
    return settled
  }
}

/** Describes a connection whose record cannot be decrypted. Throws `error` if it is not a `DecryptionError`. */
function unreadableOr({ bxcontext }: ConnectionRef, error: unknown): UnreadableConnection {
  if (error instanceof DecryptionError) return unreadable(bxcontext, error)
  throw error
}

const stopping = () => new PlatformUnavailableError('paused', 'this process is stopping')

/** Why a token request failed, for the record. Undefined: the error does not come from the platform. */
function causeOf(error: unknown): FailureCause | undefined {
  if (error instanceof InvalidGrantError) return 'invalid_grant'
  if (error instanceof ConfigurationError) return null
  if (error instanceof PlatformUnavailableError) return error.kind === 'paused' ? undefined : error.kind
  return error instanceof PlatformRejectedError ? 'unreadable' : undefined
}
