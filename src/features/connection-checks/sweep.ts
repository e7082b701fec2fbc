import type { Logger } from 'pino'
import { connectionKind, platform, sleep, type Vault } from '../../connect/index.ts'
import { acquireLease, allOwners, type KeyValueStore } from '../../connect/stores.ts'
import { LEASE_KEY, NO_COUNTS, type Round, readRound, writeRound } from './round.ts'
import { refreshUnused } from './unused.ts'

export interface SweepOptions {
  store: KeyValueStore
  vault: Pick<Vault, 'list' | 'refresh'>
  log: Logger
  /** How often every connection is checked, in ms. */
  everyMs: number
  /** The time in ms since 1970. */
  now?: () => number
  /** Waits. Throws the signal's reason when it is aborted. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

export type Sweep = ReturnType<typeof createSweep>

/** The kind of the connections' records. */
const RECORDS = connectionKind(platform.name)
/** How long another process waits before it takes over from a killed process, in ms. */
const LEASE_MS = 15_000
/** How long a process waits on average before it checks again whether a round is due, in ms. A short interval shortens this. */
const MAX_POLL_MS = 30_000
/** The next round is due after this fraction of the interval, counted from the start of the last round. */
const DUE = 0.95
/** The fraction of the interval in which a round should end. The rest is a reserve for outages. */
const TARGET = 0.8
/**
 * The fraction of the interval after which an unused connection is refreshed. It is half, because a round may reach a connection
 * earlier or later than the previous round did.
 */
const IDLE = 0.5
/** The longest pause between two users, in ms. */
const MAX_GAP_MS = 1_000
/** Users that are due within this time, in ms, are checked together. `MAX_BATCH`: the maximum number of users. */
const BATCH_MS = 100
const MAX_BATCH = 64
/** The pause after a failure, in ms. It doubles while refreshes fail, so that the app does not make an outage worse. */
const FIRST_DELAY_MS = 1_000
const MAX_DELAY_MS = 300_000

interface SweepState extends Required<SweepOptions> {
  closing: AbortController
  /** The pause after the last failure, in ms; 0 after a successful refresh. */
  delayMs: number
}

/**
 * Goes over all connections once per interval, and refreshes those that were neither used nor refreshed for half of the interval.
 * One process at a time does this, page by page. If it is killed, another process repeats only the current page. Memory use does
 * not depend on the number of connections.
 */
export function createSweep(options: SweepOptions) {
  const sweep: SweepState = { now: Date.now, sleep, ...options, closing: new AbortController(), delayMs: 0 }
  let running: Promise<void> = Promise.resolve()
  return {
    start() {
      running = loop(sweep)
    },
    /** Stops when the checks in progress have ended. The next process repeats the current page, perhaps of hundreds of users. */
    async stop() {
      sweep.closing.abort()
      await running
    },
  }
}

async function loop(sweep: SweepState): Promise<void> {
  const { closing, everyMs, log } = sweep
  while (!closing.signal.aborted) {
    await sweepOnce(sweep).catch(({ code, reason }) => {
      if (!closing.signal.aborted)
        log.warn({ code, reason }, 'the check of all connections was interrupted; it continues soon')
    })
    // The pause is random, so that several processes and apps do not start at the same time.
    const pauseMs = Math.min(MAX_POLL_MS, everyMs / 20) * (0.5 + Math.random())
    await sweep.sleep(pauseMs, closing.signal).catch(() => {})
  }
}

/** Starts or continues a round if one is due and no other process is working on it. */
async function sweepOnce(sweep: SweepState): Promise<void> {
  const { store, log, closing, now } = sweep
  const lease = await acquireLease(store, LEASE_KEY, LEASE_MS)
  if (!lease) return
  const signal = AbortSignal.any([closing.signal, lease.lost])
  try {
    let round = await readRound(store)
    if (isWaiting(sweep, round)) return
    if (!round || round.done) round = await begin(sweep, round, signal)
    while (!round.done) {
      round = await checkPage(sweep, round, signal)
      await writeRound(store, round)
    }
    const seconds = Math.round((now() - round.startedAt) / 1000)
    log.info({ ...round.counts, seconds }, 'all connections checked')
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await lease.release()
  }
}

/**
 * Whether the last round has ended and the next one is not due. Ignores a start in the future, because it comes from a wrong clock.
 */
function isWaiting({ everyMs, now }: SweepState, round: Round | null): boolean {
  const ageMs = round ? now() - round.startedAt : -1
  return round?.done === true && ageMs >= 0 && ageMs < everyMs * DUE
}

/** Begins a round, and counts the users so that their checks can be spread over the interval. */
async function begin(sweep: SweepState, previous: Round | null, signal: AbortSignal): Promise<Round> {
  const { store, now } = sweep
  const startedAt = now()
  let left = 0
  for await (const _ of allOwners(store, RECORDS)) {
    signal.throwIfAborted()
    left++
  }
  const last = previous?.last ?? null
  const round: Round = { startedAt, cursor: null, done: false, left, counts: NO_COUNTS, last }
  await writeRound(store, round)
  return round
}

/** Checks the users of the next page. Users that are due at the same time are checked together. */
async function checkPage(sweep: SweepState, round: Round, signal: AbortSignal): Promise<Round> {
  const { groups, cursor } = await sweep.store.groups(RECORDS, round.cursor)
  const owners = groups.map(({ owner }) => owner)
  const counts = { ...round.counts }
  let { left } = round
  for (let checked = 0; checked < owners.length; ) {
    const gapMs = gapOf(sweep, round.startedAt, left)
    const due = sweep.delayMs > 0 ? 1 : Math.min(MAX_BATCH, Math.max(1, Math.floor(BATCH_MS / gapMs)))
    const batch = owners.slice(checked, checked + due)
    checked += batch.length
    left -= batch.length
    const hasFailed = await checkUsers(sweep, batch, counts)
    const waitMs = hasFailed ? sweep.delayMs : batch.length * gapMs * (0.5 + Math.random() / 2)
    await sweep.sleep(waitMs, signal)
  }
  const done = cursor === null
  return { ...round, left, cursor, done, counts, last: done ? counts : round.last }
}

/**
 * The pause until the next user, in ms: the time left until the target, divided by the number of users left. If users were
 * added, or the round had to start over, there are more users than were counted. The extra users are checked without
 * a pause.
 */
function gapOf({ everyMs, now }: SweepState, startedAt: number, left: number): number {
  if (left <= 0) return 0
  return Math.min(MAX_GAP_MS, Math.max(0, (startedAt + everyMs * TARGET - now()) / left))
}

/** Checks users, adds to the counts, and sets the pause. Resolves to true if a refresh failed. */
async function checkUsers(sweep: SweepState, userIds: string[], counts: Round['counts']): Promise<boolean> {
  const { vault, everyMs, now } = sweep
  const before = { ...counts }
  const since = now() - everyMs * IDLE
  await Promise.all(userIds.map((userId) => refreshUnused(vault, userId, since, counts)))
  const hasFailed = counts.failed > before.failed
  if (hasFailed) sweep.delayMs = Math.min(MAX_DELAY_MS, Math.max(FIRST_DELAY_MS, sweep.delayMs * 2))
  else if (counts.refreshed > before.refreshed) sweep.delayMs = 0
  return hasFailed
}
