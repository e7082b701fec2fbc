import { randomUUID } from 'node:crypto'
import type { Platform } from '../platform/contract.ts'
import type { Key, KeyValueStore } from '../store/store.ts'
import { claim, update } from '../store/update.ts'
import { type ConnectionRef, refKey } from './connection.ts'
import type { HealthRecords } from './health.ts'

/** Why a refresh failed, as far as it matters for the next one. */
export type FailureReason = 'unavailable' | 'refused' | 'misconfigured'

/** Refreshing is paused after a failure, or because the connection was refreshed several times recently. */
export interface Backoff {
  reason: 'recent' | FailureReason
  /** How long the pause still lasts, in ms. */
  waitMs: number
}

/** A held refresh lock. It is renewed while its holder works, and only its holder can release it. */
export interface LockHandle {
  /** The previous holder sent a request and did not report the outcome: its tokens may still be stored. */
  readonly interrupted: boolean
  /**
   * What the previous holder says about that request: `waiting` if it has said since the last call that it still waits for the
   * answer, `ended` if it has reported the outcome, and `silent` if it has said nothing. If it has failed, the pause that it asks
   * for replaces this lock.
   */
  previousRequest(): Promise<'waiting' | 'ended' | 'silent'>
  /**
   * Call it right before sending the request. Resolves to false, and releases the lock, if it was lost or the previous holder
   * has given a sign: another process may be refreshing.
   */
  confirm(): Promise<boolean>
  /** `settled`: the record has changed since, so that the previous holder's request does not matter any more. */
  release(settled?: boolean): Promise<void>
  /** Releases after a refresh that was sent at `sentAt` (ms since 1970), and pauses refreshing if the budget is spent. */
  releaseAfterRefresh(sentAt: number): Promise<void>
  /** Releases after a failure and pauses refreshing: longer after every consecutive failure, at least `minMs`. */
  releaseWithBackoff(reason: FailureReason, minMs?: number): Promise<void>
}

/** Every method throws `StoreUnavailableError`. */
export interface RefreshLock {
  /**
   * Resolves to the lock, to the pause that prevents a refresh, or to `busy` while another process is refreshing.
   * `manual`: a user's request, which overrides a pause once 5 s have passed since the last request.
   */
  acquire(ref: ConnectionRef, manual?: boolean): Promise<LockHandle | Backoff | 'busy'>
  /** How long until a user may request a refresh, in ms; 0 if now. */
  manualWait(ref: ConnectionRef): Promise<number>
  /** Ends a pause and forgets an interrupted request, because of a new consent. A held lock stays. */
  reset(ref: ConnectionRef): Promise<void>
}

export interface RefreshLockOptions {
  /** The platform of the connections. */
  platform: Pick<Platform, 'name'>
  /** How long the lock of a killed process lasts, in ms. */
  leaseMs?: number
  /** After a burst of three refreshes: how long until the next one is allowed, in ms; 0: no limit. */
  refillMs?: number
  now?: () => number
}

interface LockDependencies extends Required<RefreshLockOptions> {
  store: KeyValueStore
  health: HealthRecords
}

const FIRST_BACKOFF_MS = 1_000
const MAX_BACKOFF_MS = 30_000
/** A burst of so many refreshes is allowed, and then one every `REFILL_MS`. */
const REFRESH_BUDGET = 3
const REFILL_MS = 30_000
/** The minimum time between two refreshes that a user requests, in ms. */
const MANUAL_INTERVAL_MS = 5_000
/** How long an unfinished request is remembered, in ms: longer than unsaved tokens are held in memory. */
const UNFINISHED_MS = 660_000

/**
 * Allows one refresh per connection at a time among all processes; automatic ones in a burst of three, and then one every
 * 30 s; and none during a pause after a failure.
 * The lock is one expiring value in the store: `held:<id>` or `paused:<json>`. Three other keys hold the time of the last
 * request, an unfinished request, and the budget of refreshes (`lockKeys`). Compare-and-set keeps the record correct without
 * the lock. The lock, and the note of an unfinished request, which outlives it, keep a refresh token from being sent twice, as long
 * as its sender gives signs of life.
 */
export function createRefreshLock(
  store: KeyValueStore,
  health: HealthRecords,
  { platform, leaseMs = 5_000, refillMs = REFILL_MS, now = Date.now }: RefreshLockOptions,
): RefreshLock {
  const deps: LockDependencies = { platform, store, health, leaseMs, refillMs, now }
  const keysOf = (ref: ConnectionRef) => lockKeys(platform.name, ref)

  async function manualWait(ref: ConnectionRef): Promise<number> {
    const sentAt = await store.get(keysOf(ref).sent)
    if (sentAt === null) return 0
    // The key expires when a user may request another one, whatever the clocks of the machines say.
    return Math.max(1, remaining(Number(sentAt) + MANUAL_INTERVAL_MS, MANUAL_INTERVAL_MS, now))
  }

  return {
    manualWait,

    async acquire(ref, manual = false) {
      const key = keysOf(ref).lock
      const token = `held:${randomUUID()}`
      if (manual) {
        const waitMs = await manualWait(ref)
        if (waitMs > 0) return { reason: 'recent', waitMs }
      }
      if (await claim(store, key, token, leaseMs)) return createHandle(deps, ref, token)
      const value = await store.get(key)
      const backoff = parseBackoff(value, now)
      if (!backoff) return 'busy'
      if (manual && (await store.compareAndSet(key, value, token, leaseMs)))
        return createHandle(deps, ref, token)
      return backoff
    },

    async reset(ref) {
      const { lock, sent, unfinished, budget } = keysOf(ref)
      await update(store, lock, (value) => (parseBackoff(value, now) ? null : value))
      await Promise.all([unfinished, sent, budget].map((key) => store.delete(key)))
    },
  }
}

function lockKeys(platform: string, ref: ConnectionRef) {
  return {
    lock: refKey(platform, 'refresh-lock', ref),
    /** When the last request was sent. Expires when a user may request another one. */
    sent: refKey(platform, 'refresh-sent', ref),
    /**
     * Exists while a request is unfinished, and changes while its sender waits for the answer. It outlives the lock of a holder
     * that cannot reach the store.
     */
    unfinished: refKey(platform, 'refresh-unfinished', ref),
    /** When the budget of refreshes is full again, in ms since 1970; absent if it is full. */
    budget: refKey(platform, 'refresh-budget', ref),
  }
}

/** The rest of `ms`. The store's clock ends the time; this app's clock, which may be off, only estimates it. */
const remaining = (until: number, ms: number, now: () => number) => Math.min(Math.max(until - now(), 0), ms)

function parseBackoff(value: string | null, now: () => number): Backoff | null {
  if (!value?.startsWith('paused:')) return null
  try {
    const { reason, until, ms } = JSON.parse(value.slice('paused:'.length))
    return { reason, waitMs: remaining(until, ms, now) }
  } catch {
    return null
  }
}

interface HeldLock {
  readonly deps: LockDependencies
  readonly keys: ReturnType<typeof lockKeys>
  readonly token: string
  isRenewed: boolean
  /** Whether a request was sent whose outcome is not reported yet. */
  isUnfinished: boolean
}

async function createHandle(deps: LockDependencies, ref: ConnectionRef, token: string): Promise<LockHandle> {
  const { store, health, leaseMs, now } = deps
  const keys = lockKeys(deps.platform.name, ref)
  const lock: HeldLock = { deps, keys, token, isRenewed: true, isUnfinished: false }
  const interrupted = await store.get(keys.unfinished).catch(async (error: unknown) => {
    await writeHeld(lock, null).catch(() => {})
    throw error
  })
  let seen = interrupted
  const keepUp = () => Promise.all([renew(lock), lock.isUnfinished ? noteWaiting(lock) : undefined])
  const renewal = setInterval(() => keepUp().catch(() => {}), leaseMs / 3).unref()
  const stopRenewing = () => {
    lock.isRenewed = false
    clearInterval(renewal)
  }
  const release = async (settled = false) => {
    stopRenewing()
    if (settled) await endRequest(lock, senderOf(seen))
    await endRequest(lock, token)
    await writeHeld(lock, null)
  }
  return {
    interrupted: interrupted !== null,
    release,
    async previousRequest() {
      const value = await store.get(keys.unfinished)
      const previous = seen
      seen = value
      if (value === null) return 'ended'
      const backoff = parseBackoff(value, now)
      if (backoff) {
        stopRenewing()
        await takeOverPause(lock, value, backoff)
        return 'ended'
      }
      return value === previous ? 'silent' : 'waiting'
    },
    async confirm() {
      // The note comes first: if this process freezes afterwards, the next holder of the lock finds the note and waits.
      const isNoted =
        lock.isRenewed && (await store.compareAndSet(keys.unfinished, seen, noteOf(lock), UNFINISHED_MS))
      if (!isNoted || !(await renew(lock))) {
        await release()
        return false
      }
      await store.set(keys.sent, String(now()), MANUAL_INTERVAL_MS)
      lock.isUnfinished = true
      return true
    },
    async releaseAfterRefresh(sentAt) {
      stopRenewing()
      await pause(lock, 'recent', await spendRefresh(deps, keys.budget, sentAt).catch(() => 0))
    },
    async releaseWithBackoff(reason, minMs = 0) {
      stopRenewing()
      const failures = await health.refreshFailed(ref).catch(() => 1)
      await pause(lock, reason, Math.max(minMs, backoffAfter(failures)))
    },
  }
}

/** How long to wait after so many failures in a row, in ms. */
const backoffAfter = (failures: number) => Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS)

/** Writes the lock if this holder still has it; null releases it. */
const writeHeld = ({ deps, keys, token }: HeldLock, value: string | null, ttlMs?: number) =>
  deps.store.compareAndSet(keys.lock, token, value, ttlMs)

/**
 * Takes an expired lock back if nobody else holds it, and only once the request was sent: until then, another process may have
 * used the refresh token that this one has read. A `Lease` of the store is never taken back.
 */
const takeBack = async ({ deps, keys, isUnfinished }: HeldLock, value: string, ttlMs: number) =>
  isUnfinished && claim(deps.store, keys.lock, value, ttlMs)

async function renew(lock: HeldLock): Promise<boolean> {
  const { token, deps } = lock
  if (await writeHeld(lock, token, deps.leaseMs)) return true
  // It may have been released meanwhile.
  return lock.isRenewed && takeBack(lock, token, deps.leaseMs)
}

/** The note of an unfinished request. It is another one each time, as a sign that its sender is alive. */
const noteOf = ({ token }: HeldLock) => `${token} ${randomUUID()}`

/**
 * Renews the note of the request, even if the lock was lost: the next holder must not send the same refresh token, because a
 * platform that rotates tokens takes that for a theft. Does nothing after a new consent, or once the next holder has sent its
 * own request.
 */
const noteWaiting = (lock: HeldLock) => changeOwnNote(lock, lock.token, noteOf(lock), UNFINISHED_MS)

/** Changes the note of the holder with this token; null deletes it. */
const changeOwnNote = (
  { deps, keys }: HeldLock,
  token: string | undefined,
  next: string | null,
  ttlMs?: number,
) => update(deps.store, keys.unfinished, (value) => (senderOf(value) === token ? next : value), ttlMs)

/** The token of the holder that has sent the unfinished request. */
const senderOf = (unfinished: string | null) => unfinished?.split(' ')[0]

/** Forgets the unfinished request of a holder, and not one that another holder has sent since. */
const endRequest = (lock: HeldLock, token: string | undefined) => changeOwnNote(lock, token, null)

async function pause(lock: HeldLock, reason: Backoff['reason'], ms: number): Promise<void> {
  const { deps, token } = lock
  if (ms <= 0) {
    await endRequest(lock, token)
    await writeHeld(lock, null)
    return
  }
  const value = `paused:${JSON.stringify({ reason, until: deps.now() + ms, ms })}`
  if ((await writeHeld(lock, value, ms)) || (await takeBack(lock, value, ms))) await endRequest(lock, token)
  // Whoever has the lock by now waits for the outcome of this request, unless it has sent its own.
  else await changeOwnNote(lock, token, value, ms)
}

/** Pauses because of what the sender before has noted: it had lost the lock when its request failed. */
async function takeOverPause(lock: HeldLock, note: string, { waitMs }: Backoff): Promise<void> {
  if (waitMs > 0) await writeHeld(lock, note, waitMs)
  else await writeHeld(lock, null)
  await lock.deps.store.compareAndSet(lock.keys.unfinished, note, null)
}

/** Takes a refresh from the budget. Resolves to how long the next automatic one must wait, in ms. Only the holder calls it. */
async function spendRefresh(
  { store, refillMs, now }: LockDependencies,
  key: Key,
  sentAt: number,
): Promise<number> {
  const storedFullAt = Number(await store.get(key)) || 0
  // A process whose clock is ahead must not block the others for longer than an empty budget does.
  const latest = now() + REFRESH_BUDGET * refillMs
  const fullAt = Math.min(Math.max(storedFullAt, sentAt) + refillMs, latest)
  if (fullAt > now()) await store.set(key, String(fullAt), fullAt - now())
  const nextAt = fullAt - (REFRESH_BUDGET - 1) * refillMs
  return Math.max(0, nextAt - now())
}
