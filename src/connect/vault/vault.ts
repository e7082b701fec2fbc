import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { PlatformRejectedError, RefreshedRecentlyError } from '../platform/errors.ts'
import type { OAuth, Tokens } from '../platform/oauth.ts'
import type { TokenSource } from '../platform/token-source.ts'
import { type Store, StoreUnavailableError } from '../store/store.ts'
import { createBxcontextIndex } from './bxcontext-index.ts'
import { type ActiveConnection, type Connection, FORMAT } from './connection.ts'
import { createRecordCipher, DecryptionError, type EncryptionKey } from './encryption.ts'
import { createHealthRecords, type Problem } from './health.ts'
import { CONNECTION, createRecords, type Stored } from './records.ts'
import { active, createRefresher, isExpired, withTokens } from './refresh.ts'
import { createRefreshLock, type RefreshLockOptions } from './refresh-lock.ts'
import { createUnsavedTokens } from './unsaved.ts'

/** A connection as a page may show it: no token in it, not even by accident. */
export type ConnectionSummary = Readonly<{
  context: string
  scopes: string[] | null
  connectedAt: number
  refreshedAt: number | null
}> &
  (
    | {
        status: 'active'
        expiresAt: number | null
        problem: Problem | null
        /** Scopes for lack of which the API refused a call; null if unknown. */
        forbidden: (string | null)[]
        /** How long until a person may ask for a refresh, in ms. */
        refreshableInMs: number
      }
    | { status: 'revoked'; revokedAt: number; revokedBecause: string }
  )

/** A stored connection that cannot be opened, and why. */
export interface UnreadableConnection {
  context: string
  status: 'unreadable'
  reason: string
}

export interface Vault {
  /**
   * A valid access token of this user in this context: one store read while it is fresh, a refresh in the
   * background shortly before it ends, a refresh first when it has ended.
   * Throws `NotConnectedError`, `ConnectionRevokedError`, `PlatformUnavailableError`, `PlatformRejectedError`, `ConfigurationError`,
   * `DecryptionError`, `StoreUnavailableError`.
   */
  accessToken(userId: string, context: string): Promise<string>
  /** The same as a source for API calls, which can also refresh a token that the API rejects. */
  tokenSource(userId: string, context: string): TokenSource
  /**
   * Keeps the tokens of a new consent, in place of any earlier grant in this context. `sentAt` is when the code was sent
   * to be exchanged (ms since 1970). `pending`: the store did not take them yet; they are held in memory, used by this
   * process, and written as soon as it does.
   */
  connect(userId: string, context: string, tokens: Tokens, sentAt?: number): Promise<'saved' | 'pending'>
  /** The user's connection in this context, or null. */
  find(userId: string, context: string): Promise<ConnectionSummary | null>
  /** The user's connections, the latest first. */
  list(userId: string): Promise<(ConnectionSummary | UnreadableConnection)[]>
  /**
   * Gets a new access token now, because a person asks for it. Resolves to false when there is no refresh token.
   * Throws as `accessToken`, and `RefreshTooSoonError`.
   */
  refresh(userId: string, context: string): Promise<boolean>
  /** Forgets the connection and its tokens. Resolves to whether there was one. */
  disconnect(userId: string, context: string): Promise<boolean>
  /** The users who have a connection in this context. */
  usersOf(context: string): Promise<string[]>
  /** Encrypts every stored connection with the first key. */
  reencrypt(): Promise<{ reencrypted: number; current: number; unreadable: string[] }>
  /** Resolves when no refresh is in flight and all received tokens are stored. */
  idle(): Promise<void>
  /** Waits for `idle`, at most `graceMs`, and logs the tokens that could not be stored by then. */
  close(graceMs: number): Promise<void>
}

export interface VaultOptions extends RefreshLockOptions {
  store: Store
  keys: readonly EncryptionKey[]
  oauth: Pick<OAuth, 'refresh' | 'scopes'>
  log: Logger
  /** Record kind; defaults to `connection`. */
  kind?: string
  /** A caller waits for a refresh no longer than this, in ms. */
  waitMs?: number
}

/** A token is refreshed in the background when it has less than this to live, in ms, or less than a fifth of its life. */
const MARGIN_MS = 60_000
const NOT_STORED = 'the latest tokens are not stored yet'
/** How many rejections, a minute apart, end a grant that has no refresh token. */
const REJECTIONS = 3
const REJECTED =
  "The platform's API rejected the access token three times, and the platform had issued no refresh token."

export function createVault(options: VaultOptions): Vault {
  const { store, keys, log, now = Date.now } = options
  const { kind = CONNECTION } = options
  const records = createRecords(store, createRecordCipher(keys), kind)
  const index = createBxcontextIndex(store, kind)
  const health = createHealthRecords(store, now)
  const lock = createRefreshLock(store, health, options)
  const unsaved = createUnsavedTokens(log)
  const refresher = createRefresher({ ...options, records, lock, health, index, unsaved, removeGrant, now })

  /** How long before its expiry a token is refreshed in the background, in ms. */
  const margin = (issuedAt: number, expiresAt: number) => Math.min(MARGIN_MS, (expiresAt - issuedAt) / 5)

  /**
   * A token that the store has not taken yet, or null. Throws `StoreUnavailableError` when it is expired, or is the rejected
   * one: a refresh would start from an older record.
   */
  function unsavedToken(userId: string, context: string, rejected?: string): string | null {
    const held = unsaved.find(userId, context)
    if (!held) return null
    if (isExpired(held, now()) || held.accessToken === rejected) throw new StoreUnavailableError(NOT_STORED)
    return held.accessToken
  }

  async function accessToken(userId: string, context: string): Promise<string> {
    const held = unsavedToken(userId, context)
    if (held !== null) return held
    const stored = active(await records.read(userId, context))
    const { accessToken: current, issuedAt, expiresAt, refreshToken } = stored.connection
    if (expiresAt === null) return current
    const left = expiresAt - now()
    if (left <= 0) {
      try {
        return (await refresher.refresh(stored)).accessToken
      } catch (error) {
        if (!(error instanceof RefreshedRecentlyError)) throw error
        // Refreshed less than 30 s ago and expired already, by what the platform says: the API decides.
        return active(await records.read(userId, context)).connection.accessToken
      }
    }
    // In the background: the token still works, and a failure is logged and tried again at the next call.
    if (left < margin(issuedAt, expiresAt) && refreshToken !== null) refresher.refresh(stored).catch(() => {})
    return current
  }

  async function refreshRejected(userId: string, context: string, rejected: string): Promise<string> {
    const held = unsavedToken(userId, context, rejected)
    if (held !== null) return held
    const stored = active(await records.read(userId, context))
    if (stored.connection.accessToken !== rejected) return stored.connection.accessToken
    if (stored.connection.refreshToken !== null) return (await refresher.refresh(stored)).accessToken
    // One stray 401 must not end a token that nothing can replace.
    if ((await health.tokenRejected(userId, context)) >= REJECTIONS)
      return (await refresher.revoke(stored, REJECTED)).accessToken
    throw new PlatformRejectedError('the API rejects the access token, and there is no refresh token')
  }

  async function summary(connection: Connection): Promise<ConnectionSummary> {
    const { userId, context, scopes, connectedAt, refreshedAt } = connection
    const common = { context, scopes, connectedAt, refreshedAt }
    if (connection.status === 'revoked') {
      const { status, revokedAt, revokedBecause } = connection
      return { ...common, status, revokedAt, revokedBecause }
    }
    const [{ problem, forbidden }, refreshableInMs] = await Promise.all([
      health.read(userId, context),
      lock.manualWait(userId, context),
    ])
    return {
      ...common,
      status: 'active',
      expiresAt: connection.expiresAt,
      problem,
      forbidden: forbidden.map(({ scope }) => scope),
      refreshableInMs,
    }
  }

  /** A consent whose code was sent later, by a clock that can be believed: another machine's may be ahead. */
  function isNewerConsent(stored: Stored | null, connectedAt: number): stored is Stored<ActiveConnection> {
    if (stored?.connection.status !== 'active') return false
    return stored.connection.connectedAt > connectedAt && stored.connection.connectedAt <= now()
  }

  /** Writes a new consent over anything but a newer one. */
  async function writeConsent(connection: ActiveConnection): Promise<ActiveConnection> {
    const { userId, context, connectedAt } = connection
    for (;;) {
      const stored = await records.read(userId, context).catch((error: unknown) => {
        if (error instanceof DecryptionError) return 'unreadable' as const
        throw error
      })
      if (stored === 'unreadable') {
        await records.write(connection)
        return connection
      }
      if (isNewerConsent(stored, connectedAt)) return stored.connection
      const written = stored
        ? (await records.replace(stored, connection)) !== null
        : await records.create(connection)
      if (written) return connection
    }
  }

  /** Removes what a write stored after its connection was disconnected. */
  async function removeGrant({ userId, context, grantId }: ActiveConnection): Promise<void> {
    const stored = await records.read(userId, context)
    if (stored?.connection.grantId !== grantId) return
    await records.remove(userId, context)
    await index.remove(userId, context)
  }

  return {
    accessToken,

    tokenSource: (userId, context) => ({
      account: JSON.stringify([userId, context]),
      accessToken: () => accessToken(userId, context),
      refresh: (rejected) => refreshRejected(userId, context, rejected),
      noteCall: (outcome) => health.noteCall(userId, context, outcome),
      grantedScopes: async () => (await records.read(userId, context))?.connection.scopes ?? null,
    }),

    async connect(userId, context, tokens, sentAt = now()) {
      const granted = {
        format: FORMAT,
        status: 'active' as const,
        userId,
        context,
        grantId: randomUUID(),
        connectedAt: sentAt,
        scopes: null,
        refreshToken: null,
        refreshedAt: null,
      } satisfies Partial<ActiveConnection>
      const connection = { ...withTokens(granted, tokens, sentAt, now()), refreshedAt: null }
      const write = async () => {
        const written = await writeConsent(connection)
        await index.add(userId, context)
        return written
      }
      const { pending } = await unsaved.save(connection, write, () => removeGrant(connection))
      // The connection is there; that an old pause could not be ended must not make it look otherwise.
      await Promise.all([lock.reset(userId, context), health.clear(userId, context)]).catch(() => {})
      log.info({ grantId: connection.grantId, expiresAt: connection.expiresAt }, 'account connected')
      return pending ? 'pending' : 'saved'
    },

    async find(userId, context) {
      const held = unsaved.find(userId, context)
      if (held) return summary(held)
      const stored = await records.read(userId, context)
      return stored && summary(stored.connection)
    },

    async list(userId) {
      const held = unsaved.ofUser(userId)
      const isHeld = (context: string) => held.some((connection) => connection.context === context)
      const stored = (await records.list(userId)).filter(({ context }) => !isHeld(context))
      const listed = await Promise.all([
        ...held.map(summary),
        ...stored.map((entry) => {
          if ('connection' in entry) return summary(entry.connection)
          log.error({ code: 'record_unreadable', reason: entry.unreadable }, 'a connection cannot be read')
          return { context: entry.context, status: 'unreadable' as const, reason: entry.unreadable }
        }),
      ])
      const time = (entry: (typeof listed)[number]) => ('connectedAt' in entry ? entry.connectedAt : 0)
      return listed.sort((a, b) => time(b) - time(a))
    },

    async refresh(userId, context) {
      if (unsaved.find(userId, context)) throw new StoreUnavailableError(NOT_STORED)
      const stored = active(await records.read(userId, context))
      // Without a refresh token there is nothing to refresh with; the access token still has its time.
      if (stored.connection.refreshToken === null && !isExpired(stored.connection, now())) return false
      await refresher.refresh(stored, true)
      return true
    },

    disconnect: async (userId, context) => {
      const held = unsaved.find(userId, context) !== undefined
      const removed = (await records.remove(userId, context)) || held
      unsaved.forget(userId, context)
      // Held tokens may have been stored in between.
      if (held) await records.remove(userId, context)
      await Promise.all([index.remove(userId, context), health.clear(userId, context)]).catch(() => {})
      if (removed) log.info('account disconnected')
      return removed
    },

    usersOf: (context) => index.usersOf(context),
    reencrypt: () => records.reencrypt(),
    idle,

    async close(graceMs) {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs)
      })
      await Promise.race([idle(), late])
      clearTimeout(timer)
      unsaved.giveUp()
    },
  }

  async function idle(): Promise<void> {
    await refresher.idle()
    await unsaved.idle()
  }
}
