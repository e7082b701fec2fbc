import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Vault } from '../../connect/index.ts'
import { acquireLease, type KeyValueStore } from '../../connect/stores.ts'
import { createBackoff } from './backoff.ts'
import { leaseKey, NO_COUNTS, type Round, readRound, writeRound } from './sweep-state.ts'
import { refreshUnused } from './unused.ts'

export interface SweepOptions {
  store: KeyValueStore
  /** The kind of the connections' records: `connectionKind`. */
  recordKind: string
  vault: Pick<Vault, 'list' | 'refresh'>
  log: Logger
  /** How often every connection is checked, in ms. */
  everyMs: number
  /** The clock of the vault, in ms since 1970. */
  now?: () => number
}

export interface Sweep {
  start(): void
  /** Stops when the checks in progress have ended. The next process repeats the current page, of some hundred users. */
  stop(): Promise<void>
}

/** How long another process waits before it continues the work of a killed one, in ms. */
const LEASE_MS = 15_000
/** How often a process looks whether a round is due, in ms, on average and at most. */
const MAX_POLL_MS = 30_000
/** The part of the interval in which a round is meant to end: the rest is for outages. */
const TARGET = 0.8
/**
 * The part of the interval after which an unused connection is refreshed. Half, because a round may reach a connection
 * earlier or later than the previous round did.
 */
const IDLE = 0.5
/** The longest pause between two users, in ms. */
const MAX_GAP_MS = 1_000
/** How many users are checked at the same time, while the platform is slow. */
const MAX_CONCURRENT = 64

interface SweepState extends SweepOptions {
  closing: AbortController
  backoff: ReturnType<typeof createBackoff>
}

/**
 * Goes over all connections in every interval and refreshes those that were neither used nor refreshed for half of it.
 * One process at a time does it, page by page, and a killed process loses no more than its page. Memory does not depend on the
 * number of connections.
 */
export function createSweep(options: SweepOptions): Sweep {
  const sweep: SweepState = {
    ...options,
    closing: new AbortController(),
    backoff: createBackoff(),
  }
  let running: Promise<void> = Promise.resolve()
  return {
    start() {
      running = loop(sweep)
    },
    async stop() {
      sweep.closing.abort()
      await running
    },
  }
}

async function loop(sweep: SweepState): Promise<void> {
  const { closing, everyMs } = sweep
  while (!closing.signal.aborted) {
    await sweepOnce(sweep).catch((error: unknown) => logInterruption(sweep, error))
    const pauseMs = Math.min(MAX_POLL_MS, everyMs / 20) * (0.5 + Math.random())
    await pause(pauseMs, undefined, { signal: closing.signal }).catch(() => {})
  }
}

function logInterruption({ closing, log }: SweepState, error: unknown): void {
  if (closing.signal.aborted) return
  const { code, reason } = Object(error) as { code?: unknown; reason?: unknown }
  log.warn({ code, reason }, 'the check of all connections was interrupted; it continues soon')
}

/** Does a round if it is due and no other process does it. */
async function sweepOnce(sweep: SweepState): Promise<void> {
  const { store, recordKind, log, closing } = sweep
  const stored = await readRound(sweep)
  if (isWaiting(sweep, stored)) return
  const lease = await acquireLease(store, leaseKey(recordKind), LEASE_MS)
  if (!lease) return
  const signal = AbortSignal.any([closing.signal, lease.lost])
  try {
    // Read again: another process may have ended the round in the meantime.
    let round = await readRound(sweep)
    if (isWaiting(sweep, round)) return
    if (!round || round.done) round = await begin(sweep, round, signal)
    while (!round.done) {
      round = await checkPage(sweep, round, signal)
      await writeRound(sweep, round)
    }
    const { counts, startedAt } = round
    log.info({ ...counts, seconds: Math.round((Date.now() - startedAt) / 1000) }, 'all connections checked')
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await lease.release()
  }
}

/**
 * Whether the last round has ended, and the next one is not due. A time further ahead than the interval is of another setting, or
 * of a clock that was wrong.
 */
function isWaiting({ everyMs }: SweepState, round: Round | null): boolean {
  const leftMs = (round?.nextAt ?? 0) - Date.now()
  return round?.done === true && leftMs > 0 && leftMs <= everyMs
}

/** Begins a round; counts the users, so that their checks can be spread over the interval. */
async function begin(sweep: SweepState, previous: Round | null, signal: AbortSignal): Promise<Round> {
  const { store, recordKind, everyMs } = sweep
  const startedAt = Date.now()
  let users = 0
  let cursor: string | null = null
  do {
    signal.throwIfAborted()
    const page = await store.owners(recordKind, cursor)
    users += page.owners.length
    cursor = page.cursor
  } while (cursor !== null)
  const round: Round = {
    startedAt,
    // Random, so that several apps do not burden the platform at the same time.
    nextAt: startedAt + everyMs * (0.9 + Math.random() * 0.1),
    cursor: null,
    done: false,
    users,
    checkedUsers: 0,
    counts: NO_COUNTS,
    last: previous?.last ?? null,
  }
  await writeRound(sweep, round)
  return round
}

/** Checks the users of the next page. */
async function checkPage(sweep: SweepState, round: Round, signal: AbortSignal): Promise<Round> {
  const { store, recordKind, backoff, everyMs } = sweep
  const page = await store.owners(recordKind, round.cursor)
  const counts = { ...round.counts }
  const inProgress = new Set<Promise<void>>()
  let { checkedUsers } = round
  let failure: unknown
  const checkAll = async () => {
    for (const userId of page.owners) {
      signal.throwIfAborted()
      if (failure) throw failure
      const check: Promise<void> = checkUser(sweep, userId, counts)
        .catch((error: unknown) => {
          failure = error
        })
        .finally(() => inProgress.delete(check))
      inProgress.add(check)
      if (inProgress.size >= MAX_CONCURRENT) await Promise.race(inProgress)
      const gapMs = gapOf({ ...round, checkedUsers: checkedUsers++ }, everyMs)
      const waitMs = Math.max(backoff.takeDelay(), gapMs * (0.5 + Math.random() / 2))
      // A timer waits a millisecond at least, which is too long if the round is late.
      if (waitMs >= 1) await pause(waitMs, undefined, { signal })
      else await setImmediate()
    }
  }
  await checkAll().finally(() => Promise.all(inProgress))
  if (failure) throw failure
  const done = page.cursor === null
  const last = done ? { ...counts, endedAt: Date.now() } : round.last
  return { ...round, checkedUsers, cursor: page.cursor, done, counts, last }
}

/**
 * The pause until the next user, in ms: what is left of the target divided by the users that are left. There are more than were
 * counted if some were added, or if the walk over them had to start over: those are checked without a pause.
 */
function gapOf({ startedAt, users, checkedUsers }: Round, everyMs: number): number {
  if (checkedUsers >= users) return 0
  const leftMs = startedAt + everyMs * TARGET - Date.now()
  return Math.min(MAX_GAP_MS, Math.max(0, leftMs / (users - checkedUsers)))
}

async function checkUser(
  { vault, backoff, everyMs, now = Date.now }: SweepState,
  userId: string,
  counts: Round['counts'],
): Promise<void> {
  const startedAt = Date.now()
  const found = await refreshUnused(vault, userId, now() - everyMs * IDLE)
  counts.active += found.active
  counts.revoked += found.revoked
  counts.unreadable += found.unreadable
  counts.refreshed += found.refreshed
  counts.failed += found.failed
  if (found.failed > 0) backoff.failed(startedAt)
  else if (found.refreshed > 0) backoff.ended()
}
