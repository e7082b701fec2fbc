import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ConnectionNews, KeyValueStore } from '../../connect/index.ts'
import type { Http } from '../../connect/platform/http.ts'
import { acquireLease, type Lease } from '../../connect/store/lease.ts'
import { type Key, StoreUnavailableError } from '../../connect/store/store.ts'
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
  add(event: ConnectionNews): Promise<void>
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

/**
 * Delivers connection events to the developer's own system, signed as in the Standard Webhooks specification
 * (https://www.standardwebhooks.com). Events wait in the store; one process at a time delivers them, each at least once.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, log, retryMs = RETRY_MS, maxPending = 1_000, pollMs = 1_000 } = options
  const outbox = createOutbox(store)
  const closing = new AbortController()
  let running: Promise<void> = Promise.resolve()
  const adding = new Set<Promise<void>>()
  /** How many deliveries were waiting when they were last listed, and how many this process has added since. */
  let pending = 0

  async function remove(stored: StoredDelivery): Promise<void> {
    await outbox.remove(stored)
    pending--
  }

  async function attempt(stored: StoredDelivery): Promise<void> {
    const { id, delivery } = stored
    const { status, reason } = await send(options, id, delivery.body)
    if (status >= 200 && status < 300) return remove(stored)
    const failures = delivery.failures + 1
    const waitMs = retryMs[failures - 1]
    const facts = { webhookId: id, ...(reason === undefined ? { status } : { reason }), failures }
    if (waitMs === undefined || status === 410) {
      log.error({ ...facts, code: 'webhook_undeliverable' }, 'a connection webhook was given up')
      return remove(stored)
    }
    log.warn({ ...facts, code: 'webhook_failed' }, 'a connection webhook failed; it is sent again later')
    return outbox.replace(stored, {
      ...delivery,
      failures,
      nextAt: Date.now() + waitMs * (0.8 + Math.random() * 0.4),
    })
  }

  /** While the store is unavailable, an event waits in memory, for a minute. */
  async function addWithRetry(id: string, delivery: Delivery): Promise<void> {
    for (let attempts = ADD_ATTEMPTS; ; attempts--) {
      try {
        return await outbox.add(id, delivery)
      } catch (error) {
        if (!(error instanceof StoreUnavailableError) || attempts === 0 || closing.signal.aborted) throw error
        await sleep()
      }
    }
  }

  /** Delivers what is due while this process holds the lease. */
  async function dispatch(lease: Lease): Promise<void> {
    const isOver = () => closing.signal.aborted || lease.lost.aborted
    while (!isOver()) {
      const stored = await outbox.list()
      pending = stored.length
      const due = stored.filter(({ delivery }) => delivery.nextAt <= Date.now())
      due.sort((a, b) => a.delivery.nextAt - b.delivery.nextAt)
      for (let at = 0; at < due.length && !isOver(); at += MAX_CONCURRENT)
        await Promise.all(due.slice(at, at + MAX_CONCURRENT).map(attempt))
      await sleep()
    }
  }

  async function loop(): Promise<void> {
    while (!closing.signal.aborted) {
      const lease = await acquireLease(store, LEASE, LEASE_MS).catch(() => null)
      if (lease) {
        await dispatch(lease)
          .catch(({ code }: { code?: unknown }) =>
            log.warn({ code }, 'connection webhooks wait for the store'),
          )
          .finally(() => lease.release())
      } else {
        pending = await outbox.list().then(
          (stored) => stored.length,
          () => pending,
        )
      }
      await sleep()
    }
  }

  const sleep = () => pause(pollMs, undefined, { signal: closing.signal }).catch(() => {})

  return {
    start() {
      running = loop()
    },
    async add({ type, userId, bxcontext, at, reason }) {
      const id = randomUUID()
      if (pending >= maxPending) {
        log.error(
          { code: 'webhook_dropped', event: type },
          'too many connection webhooks wait; one was dropped',
        )
        return
      }
      pending++
      const data = { userId, bxcontext, ...(reason !== undefined && { reason }) }
      const body = JSON.stringify({ type: `connection.${type}`, timestamp: new Date(at).toISOString(), data })
      const delivery: Delivery = { body, failures: 0, nextAt: Date.now() }
      const added = addWithRetry(id, delivery).finally(() => adding.delete(added))
      adding.add(added)
      await added
    },
    waiting: () => pending,

    async deleteUser(userId) {
      for (const stored of await outbox.list()) {
        const { type, data } = JSON.parse(stored.delivery.body)
        if (data.userId === userId && type !== 'connection.disconnected') await outbox.remove(stored)
      }
    },
    async close() {
      closing.abort()
      await Promise.allSettled([running, ...adding])
    },
  }
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
