import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { KeyValueStore, Vault } from '../../connect/index.ts'
import { acquireLease } from '../../connect/store/lease.ts'
import { CONNECTION } from '../../connect/vault/connection-repository.ts'
import { createBackoff } from './backoff.ts'
import { leaseKey, NO_COUNTS, readState, type SweepState, writeState } from './sweep-state.ts'

export interface SweepOptions {
  store: KeyValueStore
  vault: Pick<Vault, 'refreshUnused'>
  log: Logger
  /** How often every connection is checked, in ms. */
  everyMs: number
}

export interface Sweep {
  start(): void
  /** Stops when the checks in progress have ended. The next process repeats the current page, of some hundred users. */
  close(): Promise<void>
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

/**
 * Goes over all connections in every interval and refreshes those that were neither used nor refreshed for half of it.
 * Each partition of the store is swept by one process at a time, page by page, and a killed process loses no
 * more than its page. Memory does not depend on the number of connections.
 */
export function createSweep({ store, vault, log, everyMs }: SweepOptions): Sweep {
  const closing = new AbortController()
  let running: Promise<void> = Promise.resolve()
  /** The partitions that this process is sweeping. */
  const sweeping = new Map<string, Promise<void>>()
  const backoff = createBackoff()

  async function loop(): Promise<void> {
    while (!closing.signal.aborted) {
      const partitions = await store.partitions().catch(interrupted)
      for (const partition of partitions ?? []) {
        if (sweeping.has(partition)) continue
        const sweep = sweepPartition(partition)
          .catch(interrupted)
          .finally(() => sweeping.delete(partition))
        sweeping.set(partition, sweep)
      }
      await sleep(Math.min(MAX_POLL_MS, everyMs / 20) * (0.5 + Math.random()))
    }
    await Promise.all(sweeping.values())
  }

  function interrupted(error: unknown): void {
    if (closing.signal.aborted) return
    const { code, reason } = Object(error) as { code?: unknown; reason?: unknown }
    log.warn({ code, reason }, 'the check of all connections was interrupted; it continues soon')
  }

  /** Sweeps a partition if a round is due and no other process does it. */
  async function sweepPartition(partition: string): Promise<void> {
    const stored = await readState(store, partition)
    if (stored?.done && Date.now() < stored.nextAt) return
    const lease = await acquireLease(store, leaseKey(partition), LEASE_MS)
    if (!lease) return
    const signal = AbortSignal.any([closing.signal, lease.lost])
    try {
      // Read again: another process may have ended the round in the meantime.
      let state = await readState(store, partition)
      if (state?.done && Date.now() < state.nextAt) return
      if (!state || state.done) state = await begin(partition, state, signal)
      while (!state.done) {
        state = await checkPage(partition, state, signal)
        await writeState(store, partition, state, 4 * everyMs)
      }
      const { counts, startedAt } = state
      log.info({ ...counts, seconds: Math.round((Date.now() - startedAt) / 1000) }, 'all connections checked')
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      await lease.release()
    }
  }

  /** Begins a round; counts the users, so that their checks can be spread over the interval. */
  async function begin(
    partition: string,
    previous: SweepState | null,
    signal: AbortSignal,
  ): Promise<SweepState> {
    const startedAt = Date.now()
    let users = 0
    let cursor: string | null = null
    do {
      signal.throwIfAborted()
      const page = await store.owners(CONNECTION, partition, cursor)
      users += page.owners.length
      cursor = page.cursor
    } while (cursor !== null)
    const state: SweepState = {
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
    await writeState(store, partition, state, 4 * everyMs)
    return state
  }

  async function checkPage(partition: string, state: SweepState, signal: AbortSignal): Promise<SweepState> {
    const page = await store.owners(CONNECTION, partition, state.cursor)
    const counts = { ...state.counts }
    const inProgress = new Set<Promise<void>>()
    let failure: unknown
    const checkAll = async () => {
      for (const userId of page.owners) {
        signal.throwIfAborted()
        if (failure) throw failure
        const check: Promise<void> = checkUser(userId, counts)
          .catch((error: unknown) => {
            failure = error
          })
          .finally(() => inProgress.delete(check))
        inProgress.add(check)
        if (inProgress.size >= MAX_CONCURRENT) await Promise.race(inProgress)
        const gapMs = gapOf(state)
        state = { ...state, checkedUsers: state.checkedUsers + 1 }
        const waitMs = Math.max(backoff.takeDelay(), gapMs * (0.5 + Math.random() / 2))
        // A timer waits a millisecond at least, which is too long if the round is late.
        if (waitMs >= 1) await pause(waitMs, undefined, { signal })
        else await setImmediate()
      }
    }
    await checkAll().finally(() => Promise.all(inProgress))
    if (failure) throw failure
    const done = page.cursor === null
    const last = done ? { ...counts, endedAt: Date.now() } : state.last
    return { ...state, cursor: page.cursor, done, counts, last }
  }

  /** The pause until the next user, in ms: what is left of the target divided by the users that are left. */
  function gapOf({ startedAt, users, checkedUsers }: SweepState): number {
    const leftMs = startedAt + everyMs * TARGET - Date.now()
    return Math.min(MAX_GAP_MS, Math.max(0, leftMs / Math.max(1, users - checkedUsers)))
  }

  async function checkUser(userId: string, counts: SweepState['counts']): Promise<void> {
    const startedAt = Date.now()
    const { failures, ...found } = await vault.refreshUnused(userId, everyMs * IDLE)
    counts.active += found.active
    counts.revoked += found.revoked
    counts.unreadable += found.unreadable
    counts.refreshed += found.refreshed
    counts.failed += failures.length
    if (failures.length > 0) backoff.failed(startedAt)
    else if (found.refreshed > 0) backoff.ended()
  }

  const sleep = (ms: number) => pause(ms, undefined, { signal: closing.signal }).catch(() => {})

  return {
    start() {
      running = loop()
    },
    async close() {
      closing.abort()
      await running
    },
  }
}
