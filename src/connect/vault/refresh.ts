import type { Logger } from 'pino'
import {
  ConfigurationError,
  ConnectionRevokedError,
  InvalidGrantError,
  NotConnectedError,
  PlatformError,
  PlatformUnavailableError,
  RefreshedRecentlyError,
  RefreshTooSoonError,
} from '../platform/errors.ts'
import type { OAuth, Tokens } from '../platform/oauth.ts'
import type { BxcontextIndex } from './bxcontext-index.ts'
import { type ActiveConnection, type Connection, FORMAT, type RevokedConnection } from './connection.ts'
import type { HealthRecords } from './health.ts'
import type { Records, Stored } from './records.ts'
import type { Backoff, LockHandle, RefreshLock } from './refresh-lock.ts'
import type { UnsavedTokens } from './unsaved.ts'

export interface RefreshOptions {
  records: Records
  lock: RefreshLock
  health: HealthRecords
  index: BxcontextIndex
  unsaved: UnsavedTokens
  /** Undoes a write that came after a disconnect. */
  removeGrant(connection: ActiveConnection): Promise<void>
  oauth: Pick<OAuth, 'refresh'>
  log: Logger
  now: () => number
  /** A caller waits for a refresh no longer than this, in ms; the refresh goes on without it. */
  waitMs?: number
}

export interface Refresher {
  /**
   * A connection newer than `seen`: refreshed by us, by another caller or process, or consented again.
   * One request to the platform however many ask. `manual`: a person asks, so a pause does not count.
   * Throws `NotConnectedError`, `ConnectionRevokedError`, `ConfigurationError`, `PlatformUnavailableError`, `PlatformRejectedError`,
   * `RefreshedRecentlyError`, `RefreshTooSoonError`, `StoreUnavailableError`.
   */
  refresh(seen: Stored<ActiveConnection>, manual?: boolean): Promise<ActiveConnection>
  /** Marks the grant as ended for a reason of ours, unless the record has changed since. Throws `ConnectionRevokedError`. */
  revoke(seen: Stored<ActiveConnection>, because: string): Promise<ActiveConnection>
  /** Resolves when no refresh is in flight. */
  idle(): Promise<void>
}

/** The assumed life of an access token when `expires_in` is absent, in ms. */
const ASSUMED_LIFE_MS = 300_000
const POLL_MS = 50
/**
 * How long the next holder waits for the result of one that vanished after it had sent a request, in ms: longer than the
 * pauses in which that one tries to store it.
 */
const INTERRUPTED_MS = 2_500
const INVALID_GRANT =
  'The platform no longer accepts this grant (invalid_grant): the user revoked it, or it expired.'
const EXPIRED = 'The access token expired, and the platform had issued no refresh token.'

export function createRefresher(options: RefreshOptions): Refresher {
  const { records, lock, health, index, unsaved, removeGrant, oauth, log, now, waitMs = 20_000 } = options
  /** Refreshes in flight in this process, by the exact record that they start from. */
  const inFlight = new Map<string, Promise<ActiveConnection>>()

  function refresh(seen: Stored<ActiveConnection>, manual = false): Promise<ActiveConnection> {
    // A person's request has other pauses, and other errors: it is shared with persons only.
    const key = `${manual}:${seen.encrypted}`
    let shared = inFlight.get(key)
    if (!shared) {
      shared = refreshWithLock(seen, manual).finally(() => inFlight.delete(key))
      inFlight.set(key, shared)
    }
    return withinWait(shared)
  }

  /** A caller's own deadline ends its waiting, not the refresh. */
  function withinWait(shared: Promise<ActiveConnection>): Promise<ActiveConnection> {
    return new Promise((resolve, reject) => {
      const deadline = setTimeout(
        () =>
          reject(new PlatformUnavailableError('no_answer', 'the refresh is still waiting for its answer')),
        waitMs,
      )
      shared.then(resolve, reject).finally(() => clearTimeout(deadline))
    })
  }

  /** Takes the lock and refreshes, or waits for its holder and uses what that one got. */
  async function refreshWithLock(seen: Stored<ActiveConnection>, manual: boolean): Promise<ActiveConnection> {
    const { userId, context } = seen.connection
    const deadline = now() + waitMs
    for (let wait = POLL_MS; ; wait = Math.min(wait * 1.2, 4 * POLL_MS)) {
      const acquired = await lock.acquire(userId, context, manual)
      const handle = isHandle(acquired) ? acquired : null
      // Read after the lock is known: whoever had it before us wrote before releasing it.
      const latest = await records.read(userId, context).catch(async (error: unknown) => {
        if (handle) await released(handle.release())
        throw error
      })
      if (handle) {
        const result = await refreshLocked(handle, seen, latest)
        if (result) return result
      } else {
        const newer = newerThan(seen, latest)
        if (newer) return newer
        if (acquired !== 'busy') throw pauseError(acquired as Backoff, manual)
      }
      if (now() > deadline)
        throw new PlatformUnavailableError('no_answer', 'another process is still refreshing')
      await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())))
    }
  }

  /** The refresh of the lock's holder. Null when the lock was lost before the request was sent. */
  async function refreshLocked(
    handle: LockHandle,
    seen: Stored<ActiveConnection>,
    latest: Stored | null,
  ): Promise<ActiveConnection | null> {
    let read: Stored<ActiveConnection>
    try {
      const current = handle.interrupted ? await changed(latest) : latest
      const newer = newerThan(seen, current)
      if (newer) {
        await released(handle.release(true))
        return newer
      }
      read = active(current)
      if (read.connection.refreshToken === null) return await revoke(read, EXPIRED)
      if (!(await handle.confirm())) return null
    } catch (error) {
      await released(handle.release())
      throw error
    }
    return requestRefresh(handle, read)
  }

  /**
   * The record once it has changed, or as it is after a while. Whoever held the lock before may have received tokens that
   * the store did not take; on a platform that rotates, its refresh token must not be sent again.
   */
  async function changed(latest: Stored | null): Promise<Stored | null> {
    let current = latest
    const deadline = performance.now() + INTERRUPTED_MS
    while (current && current.encrypted === latest?.encrypted && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      const { userId, context } = current.connection
      current = await records.read(userId, context)
    }
    return current
  }

  /** The one request to the platform, and what its answer makes of the record. */
  async function requestRefresh(
    handle: LockHandle,
    read: Stored<ActiveConnection>,
  ): Promise<ActiveConnection> {
    const { refreshToken, userId, context } = read.connection
    const sentAt = now()
    try {
      const tokens = await oauth.refresh({ refreshToken: refreshToken ?? '', context })
      const next = withTokens(read.connection, tokens, sentAt, now())
      const { connection, saved, pending } = await unsaved.save(
        next,
        () => saveTokens(read, next),
        () => removeGrant(next),
      )
      const finish = async () => {
        await Promise.all([
          released(handle.releaseAfterRefresh(sentAt)),
          health.refreshSucceeded(userId, context).catch(() => {}),
          // Connections that were stored before there was an index are in it from now on.
          index.add(userId, context).catch(() => {}),
        ])
      }
      // The lock is held until the tokens are stored: another process would send a refresh token that may be used up.
      if (pending) void saved.then(finish)
      else await finish()
      return connection
    } catch (error) {
      if (error instanceof InvalidGrantError) {
        return revoke(read, INVALID_GRANT).finally(() => released(handle.release()))
      }
      if (error instanceof PlatformError && error.status >= 500) await noteFailure(handle, read, error)
      else await released(handle.release())
      throw error
    }
  }

  async function noteFailure(
    handle: LockHandle,
    { connection: { userId, context, grantId } }: Stored<ActiveConnection>,
    error: PlatformError,
  ): Promise<void> {
    const misconfigured = error instanceof ConfigurationError
    log[misconfigured ? 'error' : 'warn'](
      { grantId, code: error.code, reason: error.reason },
      'token refresh failed',
    )
    const problem = error instanceof PlatformUnavailableError ? error.kind : 'unreadable'
    await health
      .noteRefreshProblem(userId, context, misconfigured ? 'misconfigured' : problem)
      .catch(() => {})
    const because = misconfigured ? 'misconfigured' : 'unavailable'
    await released(handle.releaseWithBackoff(because, error.retryAfterMs))
  }

  /** Writes new tokens, unless the record is gone, of another grant, or holds the result of a later request. */
  async function saveTokens(read: Stored, next: ActiveConnection): Promise<ActiveConnection> {
    for (let latest = read; ; ) {
      if (await records.replace(latest, next)) {
        log.info({ grantId: next.grantId, expiresAt: next.expiresAt }, 'token refreshed')
        return next
      }
      const found = await records.read(next.userId, next.context)
      if (!found) throw new NotConnectedError()
      if (found.connection.grantId !== next.grantId) return active(found).connection
      // "Revoked" of this very grant was a mistake: the platform gave us these tokens for it.
      if (isActive(found) && isLater(found.connection, next)) return found.connection
      latest = found
    }
  }

  /** The result of a request that was sent later, by a clock that can be believed: another machine's may be ahead. */
  const isLater = (found: ActiveConnection, ours: ActiveConnection) =>
    found.requestedAt >= ours.requestedAt && found.requestedAt <= now()

  /** Marks the grant as ended, unless the record changed since: then somebody holds better tokens. */
  async function revoke(read: Stored<ActiveConnection>, revokedBecause: string): Promise<ActiveConnection> {
    for (let latest = read; ; ) {
      const { userId, context, grantId, scopes, connectedAt, refreshedAt, accessToken } = latest.connection
      const next: RevokedConnection = {
        format: FORMAT,
        status: 'revoked',
        userId,
        context,
        grantId,
        scopes,
        connectedAt,
        refreshedAt,
        revokedAt: now(),
        revokedBecause,
      }
      if (await records.replace(latest, next)) {
        log.warn({ grantId, revokedBecause }, 'connection revoked')
        await health.clear(userId, context).catch(() => {})
        throw revokedError(next)
      }
      const found = active(await records.read(userId, context))
      const sameTokens = found.connection.accessToken === accessToken && found.connection.grantId === grantId
      if (!sameTokens) return found.connection
      latest = found
    }
  }

  /** What a waiter may use: an active record that is not the one it found stale. */
  function newerThan(seen: Stored, latest: Stored | null): ActiveConnection | null {
    const found = active(latest)
    return found.encrypted !== seen.encrypted && !isExpired(found.connection, now()) ? found.connection : null
  }

  return {
    refresh,
    revoke,
    idle: async () => {
      await Promise.allSettled(inFlight.values())
    },
  }
}

/** A lock that cannot be released expires; what was refreshed is stored already. */
const released = (release: Promise<void>) => release.catch(() => {})

const isHandle = (acquired: LockHandle | Backoff | 'busy'): acquired is LockHandle =>
  typeof acquired === 'object' && 'release' in acquired

/** The connection with the tokens of an answer. Expiry counts from our own clock, so the platform's does not matter. */
export function withTokens(
  connection: Omit<ActiveConnection, 'accessToken' | 'requestedAt' | 'issuedAt' | 'expiresAt'>,
  tokens: Tokens,
  requestedAt: number,
  issuedAt: number,
): ActiveConnection {
  const refreshToken = tokens.refreshToken ?? connection.refreshToken
  // Without `expires_in` a token that can be refreshed is refreshed soon; one that cannot stays until the API rejects it.
  const assumed = refreshToken === null ? null : issuedAt + ASSUMED_LIFE_MS
  return {
    ...connection,
    accessToken: tokens.accessToken,
    refreshToken,
    scopes: tokens.scopes ?? connection.scopes,
    requestedAt,
    issuedAt,
    refreshedAt: issuedAt,
    expiresAt: tokens.expiresIn === undefined ? assumed : issuedAt + tokens.expiresIn * 1000,
  }
}

export const isExpired = ({ expiresAt }: ActiveConnection, now: number) =>
  expiresAt !== null && expiresAt <= now

/** The record if it can be used. Throws `NotConnectedError`, `ConnectionRevokedError`. */
export function active(stored: Stored | null): Stored<ActiveConnection> {
  if (!stored) throw new NotConnectedError()
  if (isActive(stored)) return stored
  throw revokedError(stored.connection as RevokedConnection)
}

function isActive(stored: Stored<Connection>): stored is Stored<ActiveConnection> {
  return stored.connection.status === 'active'
}

function revokedError({ revokedAt, revokedBecause }: RevokedConnection): ConnectionRevokedError {
  return new ConnectionRevokedError(new Date(revokedAt).toISOString(), revokedBecause)
}

function pauseError({ because, forMs }: Backoff, manual: boolean): PlatformError {
  if (because === 'recent') return manual ? new RefreshTooSoonError(forMs) : new RefreshedRecentlyError(forMs)
  return because === 'misconfigured'
    ? new ConfigurationError('refreshing is paused after a configuration error')
    : new PlatformUnavailableError('paused', 'refreshing is paused after a failure', forMs)
}
