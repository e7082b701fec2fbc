import { setTimeout as pause } from 'node:timers/promises'
import { connectionChannel, eventContext, publish, refreshLockChannel } from '../events.ts'
import {
  ConfigurationError,
  InvalidGrantError,
  PlatformError,
  PlatformUnavailableError,
  RefreshTooSoonError,
  TokenRefusedError,
} from '../platform/errors.ts'
import type { OAuth } from '../platform/oauth.ts'
import { withTimeout } from '../timeouts.ts'
import {
  type ActiveConnection,
  type Connection,
  isExpired,
  REVOKED_REASONS,
  withTokens,
} from './connection.ts'
import { assertActive, type StoredActive, type StoredConnection } from './connection-repository.ts'
import { addToIndex, removeGrant, revoke, saveTokens, type WriteDependencies } from './connection-writes.ts'
import { saveOrWithdraw } from './disconnect.ts'
import type { InFlight } from './in-flight.ts'
import type { Backoff, FailureReason, LockHandle, RefreshLock } from './refresh-lock.ts'
import { findRefusal, noteRefusal, refusedError } from './refusal.ts'
import type { UnsavedTokens } from './unsaved.ts'

export interface RefreshOptions extends WriteDependencies {
  lock: RefreshLock
  unsaved: UnsavedTokens
  inFlight: InFlight
  oauth: Pick<OAuth, 'refresh' | 'revoke'>
  /** How long a caller waits for a refresh, in ms; the refresh continues without it. */
  waitMs?: number
  /**
   * How long to wait for a sign of the sender of an interrupted refresh, in ms: longer than the pauses between its attempts to
   * store tokens, and than it takes to give two signs (`RefreshLockOptions.leaseMs`).
   */
  interruptedMs?: number
}
type RefreshDependencies = Required<RefreshOptions>

export interface Refresher {
  /**
   * Resolves to a connection newer than `current`: refreshed by this or another process, or consented again. Sends one
   * request to the platform, however many callers there are. `manual`: a user requested it, which overrides a pause.
   * Throws `NotConnectedError`, `ConnectionRevokedError`, `ConfigurationError`, `PlatformUnavailableError`,
   * `PlatformRejectedError`, `TokenRefusedError`, `RefreshTooSoonError`, `StoreUnavailableError`.
   */
  refresh(current: StoredActive, manual?: boolean): Promise<ActiveConnection>
  /** Resolves when no refresh is in flight. */
  idle(): Promise<void>
}

const POLL_MS = 50

export function createRefresher(options: RefreshOptions): Refresher {
  const { waitMs = 20_000, interruptedMs = 4_000 } = options
  const deps: RefreshDependencies = { ...options, waitMs, interruptedMs }
  /** Refreshes in flight in this process, by the exact record that they start from. */
  const refreshes = new Map<string, Promise<ActiveConnection>>()
  return {
    refresh(current, manual = false) {
      // Manual refreshes have other pauses and errors than automatic ones, so the two are not shared.
      const key = `${manual}:${current.encrypted}`
      let shared = refreshes.get(key)
      if (shared) {
        publish(refreshLockChannel, { outcome: 'joined' }, current.connection)
      } else {
        const { userId, bxcontext } = current.connection
        shared = eventContext
          .run({ ...eventContext.getStore(), userId, bxcontext }, () =>
            refreshWithLock(deps, current, manual),
          )
          .finally(() => refreshes.delete(key))
        refreshes.set(key, shared)
      }
      return withTimeout(shared, waitMs, stillRefreshing).catch((error) => throwRefresh(deps, current, error))
    },
    idle: async () => {
      await Promise.allSettled(refreshes.values())
    },
  }
}

/** For a caller that has waited long enough; the refresh itself continues. */
const stillRefreshing = () =>
  new PlatformUnavailableError('no_answer', 'the refresh has not been answered yet')

/** Throws `ConnectionRevokedError` if a refused refresh counts as the end of access, and otherwise the error. */
async function throwRefresh(
  { health }: RefreshDependencies,
  { connection }: StoredActive,
  error: unknown,
): Promise<never> {
  const refusal = error instanceof TokenRefusedError ? await findRefusal(health, connection) : null
  throw refusal ? refusedError(refusal) : error
}

/** Acquires the lock and refreshes, or waits for its holder and uses the result. */
async function refreshWithLock(deps: RefreshDependencies, current: StoredActive, manual: boolean) {
  const { connections, lock, now, waitMs } = deps
  const ref = current.connection
  const deadline = performance.now() + waitMs
  const startedAt = Date.now()
  let waiting = false
  for (let pauseMs = POLL_MS; ; pauseMs = Math.min(pauseMs * 1.2, 4 * POLL_MS)) {
    const acquired = await lock.acquire(ref, manual)
    const handle = isHandle(acquired) ? acquired : null
    if (handle) publish(refreshLockChannel, { outcome: 'acquired' }, ref, startedAt)
    // Read after acquiring: the previous holder wrote its result before it released the lock.
    const latest = await connections.read(ref).catch(async (error: unknown) => {
      if (handle) await settle(handle.release())
      throw error
    })
    if (handle) {
      const result = await refreshLocked(deps, handle, current, latest)
      if (result) return result
    } else {
      const newer = newerThan(current, latest, now())
      if (newer) return newer
      if (acquired !== 'busy') {
        const { reason } = acquired as Backoff
        publish(refreshLockChannel, { outcome: 'paused', reason }, ref, startedAt)
        throw backoffError(acquired as Backoff, manual)
      }
      if (!waiting) publish(refreshLockChannel, { outcome: 'busy' }, ref, startedAt)
      waiting = true
    }
    if (performance.now() > deadline)
      throw new PlatformUnavailableError('no_answer', 'another process is still refreshing')
    await pause(pauseMs * (0.5 + Math.random()))
  }
}

/** Refreshes while holding the lock. Null if the lock was lost before the request was sent. */
async function refreshLocked(
  deps: RefreshDependencies,
  handle: LockHandle,
  current: StoredActive,
  latest: StoredConnection | null,
): Promise<ActiveConnection | null> {
  let read: StoredActive
  let refreshToken: string | null
  try {
    let found = latest
    let newer = newerThan(current, latest, deps.now())
    if (!newer && handle.interrupted) {
      found = await waitForChange(deps, handle, latest)
      newer = newerThan(current, found, deps.now())
    }
    if (newer) {
      // Only tokens that came during the wait can be the outcome of the interrupted request.
      await settle(handle.release(found !== latest))
      return newer
    }
    read = assertActive(found)
    refreshToken = read.connection.refreshToken
    if (refreshToken === null) {
      const reconnected = await revoke(deps, read, REVOKED_REASONS.expired)
      await settle(handle.release())
      return reconnected
    }
    if (!(await handle.confirm())) return null
  } catch (error) {
    await settle(handle.release())
    throw error
  }
  return deps.inFlight.run(() => requestRefresh(deps, handle, read, refreshToken))
}

/**
 * Waits until the record has changed, or the previous holder of the lock has been silent for a short time: it may still wait
 * for the answer, or have tokens that it could not store yet, and a platform that rotates refresh tokens may end the grant if
 * the old one is sent again. After that time the old one is sent anyway: there is no other.
 */
async function waitForChange(deps: RefreshDependencies, handle: LockHandle, latest: StoredConnection | null) {
  const { connections, interruptedMs } = deps
  let found = latest
  let deadline = performance.now() + interruptedMs
  while (
    found &&
    latest &&
    hasSameTokens(found.connection, latest.connection) &&
    performance.now() < deadline
  ) {
    await pause(POLL_MS)
    const previous = await handle.previousRequest()
    // Read after that: the outcome is stored before it is reported.
    found = await connections.read(found.connection)
    if (previous === 'ended') break
    if (previous === 'waiting') deadline = performance.now() + interruptedMs
  }
  return found
}

/** Sends the request and stores its outcome. */
async function requestRefresh(
  deps: RefreshDependencies,
  handle: LockHandle,
  read: StoredActive,
  refreshToken: string,
) {
  const { oauth, unsaved, now } = deps
  const { bxcontext } = read.connection
  const sentAt = now()
  try {
    const tokens = await oauth.refresh({ refreshToken, bxcontext })
    const next = withTokens(deps.platform, read.connection, tokens, sentAt, now())
    const { connection, saved, isUnsaved } = await unsaved.save(
      next,
      () => saveOrWithdraw(deps, next, () => saveTokens(deps, read, next)),
      () => removeGrant(deps, next),
    )
    const finish = async () => {
      await Promise.all([
        settle(handle.releaseAfterRefresh(sentAt)),
        noteRecovery(deps, next).catch(() => {}),
        // Adds connections that were stored before the index existed.
        addToIndex(deps, next).catch(() => {}),
      ])
    }
    // Until the tokens are stored, another process would send a refresh token that may already be used up.
    if (isUnsaved) void saved.then(finish)
    else await finish()
    return connection
  } catch (error) {
    if (error instanceof InvalidGrantError) {
      return revoke(deps, read, REVOKED_REASONS.invalidGrant).finally(() => settle(handle.release()))
    }
    // An answer about tokens that were replaced in the meantime says nothing about the new ones.
    const latest = await deps.connections.read(read.connection).catch(() => null)
    if (latest && !hasSameTokens(read.connection, latest.connection)) {
      await settle(handle.release())
      const newer = newerThan(read, latest, now())
      if (newer) return newer
    } else if (error instanceof PlatformError && error.status >= 500)
      await recordFailure(deps, handle, read.connection, error)
    // 404 or 409: the connection has ended meanwhile.
    else await settle(handle.release())
    throw error
  }
}

async function noteRecovery(
  { platform, health }: RefreshDependencies,
  connection: ActiveConnection,
): Promise<void> {
  if (await health.refreshSucceeded(connection))
    publish(connectionChannel, { type: 'recovered', platform: platform.name }, connection)
}

async function recordFailure(
  deps: RefreshDependencies,
  handle: LockHandle,
  connection: ActiveConnection,
  error: PlatformError,
): Promise<void> {
  const { platform, health, log, now } = deps
  const { code, reason, retryAfterMs } = error
  const failure = failureReason(error)
  const level = failure === 'misconfigured' ? 'error' : 'warn'
  log[level]({ grantId: connection.grantId, code, reason }, 'token refresh failed')
  publish(connectionChannel, { type: 'refreshFailed', platform: platform.name, reason: code }, connection)
  const isOutage = error instanceof PlatformUnavailableError || error instanceof TokenRefusedError
  const outage = isOutage ? error.kind : 'unreadable'
  await health
    .noteRefreshProblem(connection, failure === 'misconfigured' ? 'misconfigured' : outage)
    .catch(() => {})
  if (failure === 'refused') await noteRefusal(deps, connection, isExpired(connection, now())).catch(() => {})
  await settle(handle.releaseWithBackoff(failure, retryAfterMs))
}

function failureReason(error: PlatformError): FailureReason {
  if (error instanceof ConfigurationError) return 'misconfigured'
  return error instanceof TokenRefusedError ? 'refused' : 'unavailable'
}

/**
 * The latest connection, if it differs from the current one and has not expired; null otherwise. Throws `NotConnectedError`,
 * `ConnectionRevokedError`.
 */
function newerThan(current: StoredActive, latest: StoredConnection | null, now: number) {
  const { connection } = assertActive(latest)
  return !hasSameTokens(current.connection, connection) && !isExpired(connection, now) ? connection : null
}

/** Whether two records hold the tokens of the same response; they may be encrypted with other keys. */
const hasSameTokens = (one: Connection, other: Connection) =>
  one.status === 'active' &&
  other.status === 'active' &&
  one.grantId === other.grantId &&
  one.refreshes === other.refreshes &&
  one.accessToken === other.accessToken

/** A lock that cannot be released is no longer renewed, and expires: the error is ignored. */
const settle = (release: Promise<void>) => release.catch(() => {})

export const isHandle = (acquired: LockHandle | Backoff | 'busy'): acquired is LockHandle =>
  typeof acquired === 'object' && 'release' in acquired

/** Whether an error says that the tokens were refreshed several times a moment ago, so that they are not refreshed again yet. */
export const isRefreshedRecently = (error: unknown) =>
  error instanceof PlatformUnavailableError && error.kind === 'rejected'
const REFRESHED_RECENTLY = 'the access token was rejected or expired again right after several refreshes'

/** The error of a caller that a pause keeps from refreshing. */
export function backoffError({ reason, waitMs }: Backoff, manual: boolean): PlatformError {
  if (reason === 'recent')
    return manual
      ? new RefreshTooSoonError(waitMs)
      : new PlatformUnavailableError('rejected', REFRESHED_RECENTLY, waitMs)
  if (reason === 'refused') return new TokenRefusedError('refreshing is paused after it was refused', waitMs)
  return reason === 'misconfigured'
    ? new ConfigurationError('refreshing is paused after a configuration error')
    : new PlatformUnavailableError('paused', 'refreshing is paused after a failure', waitMs)
}
