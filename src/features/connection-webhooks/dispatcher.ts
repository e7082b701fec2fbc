import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type ConnectionChange, type Http, retry } from '../../connect/index.ts'
import { acquireLease, type Key, type KeyValueStore, type Lease } from '../../connect/stores.ts'
import { createOutbox, type Delivery, OUTBOX_OWNER, type StoredDelivery } from './outbox.ts'

export interface DispatcherOptions {
  store: KeyValueStore
  http: Http
  log: Logger
  url: string
  /** Every delivery is signed with each of them. */
  secrets: readonly Uint8Array[]
  /** Pauses after the first, second, ... failure, in ms. After the last one, the delivery is given up. */
  retryMs?: readonly number[]
  /** How many deliveries may wait; more are dropped. */
  maxPending?: number
  /** How often new deliveries are looked for, in ms; 1,000 by default. */
  pollMs?: number
}

export interface Dispatcher {
  start(): void
  /** Stores an event for delivery. Throws `StoreUnavailableError` if that is not possible for a minute. */
  add(event: ConnectionChange): Promise<void>
  /** Deletes the waiting deliveries about a user, except for those that say that a connection was deleted. */
  deleteUser(userId: string): Promise<void>
  /** How many deliveries wait, as far as this process knows. */
  waiting(): number
  /** Ends when added events are stored and attempts in progress have ended; another process continues. */
  close(): Promise<void>
}

const LEASE: Key = { kind: 'webhook-lease', owner: OUTBOX_OWNER, id: '' }
/** How long another process waits before it continues the work of a killed one, in ms. */
const LEASE_MS = 10_000
/** How often an event is stored again while the store is unavailable, once in `pollMs`. */
const ADD_ATTEMPTS = 60
/** How many deliveries are sent at the same time. */
const MAX_CONCURRENT = 8
const TIMEOUT_MS = 10_000
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]
/** Two days in all. */
const RETRY_MS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  HOUR,
  3 * HOUR,
  8 * HOUR,
  12 * HOUR,
  24 * HOUR,
]

interface DispatcherState extends DispatcherOptions {
  retryMs: readonly number[]
  maxPending: number
  pollMs: number
  outbox: ReturnType<typeof createOutbox>
  closing: AbortController
  adding: Set<Promise<void>>
  /** How many deliveries were waiting when they were last listed, and how many this process has added since. */
  pending: number
}

/**
 * Delivers connection events to the developer's own system, signed as in the Standard Webhooks specification
 * (https://www.standardwebhooks.com). Events wait in the store; one process at a time delivers them, each at least once.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, retryMs = RETRY_MS, maxPending = 1_000, pollMs = 1_000 } = options
  const outbox = createOutbox(store)
  const state: DispatcherState = {
    ...options,
    retryMs,
    maxPending,
    pollMs,
    outbox,
    closing: new AbortController(),
    adding: new Set(),
    pending: 0,
  }
  let running: Promise<void> = Promise.resolve()
  return {
    start() {
      running = loop(state)
    },
    add: (event) => add(state, event),
    waiting: () => state.pending,
    async deleteUser(userId) {
      for (const stored of await outbox.list()) {
        const { type, data } = JSON.parse(stored.delivery.body)
        if (data.userId === userId && type !== 'connection.disconnected') await outbox.remove(stored)
      }
    },
    async close() {
      state.closing.abort()
      await Promise.allSettled([running, ...state.adding])
    },
  }
}

async function loop(state: DispatcherState): Promise<void> {
  const { store, log, outbox, closing } = state
  while (!closing.signal.aborted) {
    const lease = await acquireLease(store, LEASE, LEASE_MS).catch(() => null)
    if (lease) {
      await dispatch(state, lease)
        .catch(({ code }: { code?: unknown }) => log.warn({ code }, 'connection webhooks wait for the store'))
        .finally(() => lease.release())
    } else {
      state.pending = await outbox.list().then(
        (stored) => stored.length,
        () => state.pending,
      )
    }
    await nextPoll(state)
  }
}

const nextPoll = ({ pollMs, closing }: DispatcherState) =>
  pause(pollMs, undefined, { signal: closing.signal }).catch(() => {})

/** Delivers what is due while this process holds the lease. */
async function dispatch(state: DispatcherState, lease: Lease): Promise<void> {
  const { outbox, closing } = state
  const isOver = () => closing.signal.aborted || lease.lost.aborted
  while (!isOver()) {
    const stored = await outbox.list()
    state.pending = stored.length
    const due = stored.filter(({ delivery }) => delivery.nextAt <= Date.now())
    due.sort((a, b) => a.delivery.nextAt - b.delivery.nextAt)
    for (let at = 0; at < due.length && !isOver(); at += MAX_CONCURRENT)
      await Promise.all(due.slice(at, at + MAX_CONCURRENT).map((delivery) => attempt(state, delivery)))
    await nextPoll(state)
  }
}

async function attempt(state: DispatcherState, stored: StoredDelivery): Promise<void> {
  const { log, outbox, retryMs } = state
  const { id, delivery } = stored
  const { status, reason } = await send(state, id, delivery.body)
  if (status >= 200 && status < 300) return remove(state, stored)
  const failures = delivery.failures + 1
  const waitMs = retryMs[failures - 1]
  const facts = { webhookId: id, ...(reason === undefined ? { status } : { reason }), failures }
  if (waitMs === undefined || status === 410) {
    log.error({ ...facts, code: 'webhook_undeliverable' }, 'a connection webhook was given up')
    return remove(state, stored)
  }
  log.warn({ ...facts, code: 'webhook_failed' }, 'a connection webhook failed; it is sent again later')
  const nextAt = Date.now() + waitMs * (0.8 + Math.random() * 0.4)
  return outbox.replace(stored, { ...delivery, failures, nextAt })
}

async function remove(state: DispatcherState, stored: StoredDelivery): Promise<void> {
  await state.outbox.remove(stored)
  state.pending--
}

/** Stores an event for delivery. While the store is unavailable, it waits in memory. */
async function add(
  state: DispatcherState,
  { type, userId, bxcontext, at, reason }: ConnectionChange,
): Promise<void> {
  const { log, outbox, adding, closing, maxPending, pollMs } = state
  const id = randomUUID()
  if (state.pending >= maxPending) {
    log.error({ code: 'webhook_dropped', event: type }, 'too many connection webhooks wait; one was dropped')
    return
  }
  state.pending++
  const data = { userId, bxcontext, ...(reason !== undefined && { reason }) }
  const body = JSON.stringify({ type: `connection.${type}`, timestamp: new Date(at).toISOString(), data })
  const delivery: Delivery = { body, failures: 0, nextAt: Date.now() }
  const timeoutMs = ADD_ATTEMPTS * pollMs
  const options = { timeoutMs, pauseMs: pollMs, maxPauseMs: pollMs, signal: closing.signal }
  const write = () => outbox.add(id, delivery)
  const added = write()
    .catch(() => retry(write, options))
    // A process that stops tries once more.
    .catch((error) => {
      if (!closing.signal.aborted) throw error
      return write()
    })
    .finally(() => adding.delete(added))
  adding.add(added)
  await added
}

/** Resolves to the status of the answer; 0 with the reason if there was none. */
async function send(
  { http, url, secrets }: DispatcherOptions,
  id: string,
  body: string,
): Promise<{ status: number; reason?: string }> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signatures = secrets.map((secret) => sign(secret, id, timestamp, body))
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
  const sending = http.send({ method: 'POST', url, headers, body, deadlineMs: TIMEOUT_MS })
  return sending.then(
    ({ status }) => ({ status }),
    (error: { reason?: string }) => ({ status: 0, reason: error.reason ?? 'no answer' }),
  )
}

/** A signature of Standard Webhooks. */
const sign = (secret: Uint8Array, id: string, timestamp: string, body: string) =>
  `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`
