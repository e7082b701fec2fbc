import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Vault } from '../../connect/index.ts'
import { acquireLease, allOwners, type KeyValueStore } from '../../connect/stores.ts'
import { keyOf, NO_COUNTS, type Round, readRound, writeRound } from './sweep-state.ts'
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
/** Users that are due within this time, in ms, are checked at the same time. */
const BATCH_MS = 100
/** How many users are checked at the same time at most. */
const MAX_BATCH = 64
/** The first pause after a failure, in ms; it doubles while refreshes fail, so that an outage is not made worse. */
const FIRST_DELAY_MS = 1_000
const MAX_DELAY_MS = 300_000

interface SweepState extends SweepOptions {
  closing: AbortController
  /** The pause after the last failure, in ms; 0 after a refresh that succeeded. */
  delayMs: number
}

/**
 * Goes over all connections in every interval and refreshes those that were neither used nor refreshed for half of it.
 * One process at a time does it, page by page, and a killed process loses no more than its page. Memory does not depend on the
 * number of connections.
 */
export function createSweep(options: SweepOptions): Sweep {
  const sweep: SweepState = { ...options, closing: new AbortController(), delayMs: 0 }
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
  const lease = await acquireLease(store, keyOf('sweep-lease', recordKind), LEASE_MS)
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
  for await (const _ of allOwners(store, recordKind)) {
    signal.throwIfAborted()
    users++
  }
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

/** Checks the users of the next page, those that are due at the same time together. */
async function checkPage(sweep: SweepState, round: Round, signal: AbortSignal): Promise<Round> {
  const { store, recordKind, everyMs } = sweep
  const { owners, cursor } = await store.owners(recordKind, round.cursor)
  const counts = { ...round.counts }
  let checked = 0
  while (checked < owners.length) {
    const gapMs = gapOf({ ...round, checkedUsers: round.checkedUsers + checked }, everyMs)
    const due = sweep.delayMs > 0 ? 1 : Math.min(MAX_BATCH, Math.max(1, Math.floor(BATCH_MS / gapMs)))
    const batch = owners.slice(checked, checked + due)
    checked += batch.length
    const failed = await checkUsers(sweep, batch, counts)
    const waitMs = failed ? sweep.delayMs : batch.length * gapMs * (0.5 + Math.random() / 2)
    await pause(waitMs, undefined, { signal })
  }
  const done = cursor === null
  const checkedUsers = round.checkedUsers + checked
  return { ...round, checkedUsers, cursor, done, counts, last: done ? counts : round.last }
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

/** Checks users, counts what is found, and sets the pause. Resolves to whether a refresh failed. */
async function checkUsers(sweep: SweepState, userIds: string[], counts: Round['counts']): Promise<boolean> {
  const { vault, everyMs, now = Date.now } = sweep
  const since = now() - everyMs * IDLE
  const found = await Promise.all(userIds.map((userId) => refreshUnused(vault, userId, since)))
  for (const { active, revoked, unreadable, refreshed, failed } of found) {
    counts.active += active
    counts.revoked += revoked
    counts.unreadable += unreadable
    counts.refreshed += refreshed
    counts.failed += failed
  }
  const hasFailed = found.some(({ failed }) => failed > 0)
  if (hasFailed) sweep.delayMs = Math.min(MAX_DELAY_MS, Math.max(FIRST_DELAY_MS, sweep.delayMs * 2))
  else if (found.some(({ refreshed }) => refreshed > 0)) sweep.delayMs = 0
  return hasFailed
}
