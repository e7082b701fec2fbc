import type { Logger } from 'pino'
import type { HopEvent } from '../../connect/express.ts'
import {
  type Connect,
  type ConnectionRecord,
  contextOf,
  type Exchange,
  type Platform,
  type Vault,
  type WorkContext,
} from '../../connect/index.ts'
import type { KeyValueStore } from '../../connect/stores.ts'
import { isTokenRequest, maskExchange, maskHop } from './exchanges.ts'
import { fingerprintKey } from './fingerprints.ts'
import { stepSchema } from './flow.ts'
import type { FlowAddition, FlowStore } from './flow-store.ts'
import { type ChangeEvent, type RecordedEvent, toStep } from './steps.ts'

export interface Recorder {
  /** Records a hop of a connect flow. */
  hop(event: HopEvent): void
  /** Resolves when everything that was published so far is stored. */
  flush(): Promise<void>
  /** Stops recording, after a last flush. */
  close(): Promise<void>
}

export interface RecorderOptions {
  connect: Pick<Connect, 'platform' | 'onExchange'> & { vault: Pick<Vault, 'onChange'> }
  /** The address of this app. */
  baseUrl: string
  flows: FlowStore
  store: KeyValueStore
  log: Logger
  /** Called for each connect flow that got new steps, to add the platform's side. */
  complete(userId: string, id: string): Promise<unknown>
}

interface Buffered {
  userId: string
  id: string
  bxcontext: string | null
  events: RecordedEvent[]
}

/** How long events are collected before they are stored, in ms. */
const FLUSH_MS = 100
/** How many events are collected at most; further ones are not recorded. */
const MAX_BUFFERED = 5_000
const MAX_BUFFERED_OF_USER = 1_000
/** How many flows of a user one flush stores at most. */
const MAX_FLOWS_PER_FLUSH = 50
/** How many calls that succeed at once are recorded for each user in a minute: a busy account must not fill its list. */
const MAX_PLAIN_CALLS = 60
/** Work outside an HTTP request belongs to one flow while its events follow each other within this time, in ms. */
const BACKGROUND_MS = 30_000

/** Subscribes to the events of the core and stores them as flows, a moment later and in the background. */
export function createRecorder(options: RecorderOptions, flushMs = FLUSH_MS): Recorder {
  const { connect, log } = options
  const buffers = new Map<string, Buffered>()
  const identify = createBackgroundIds()
  const plainCalls = createPlainCallBudget()
  let room = createRoom()
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> = Promise.resolve()

  const add: Add = (userId, context, record, isPlainCall) => {
    const { bxcontext = null } = context
    const id = context.flowId ?? context.requestId ?? identify(userId, bxcontext)
    const name = `${id} ${userId}`
    // Decided at once: events that are kept until the flush cost more than all else (npm run bench, row "inspector on").
    if (isPlainCall && !buffers.has(name) && !plainCalls.spend(userId)) return
    if (!room.take(userId)) return
    const buffered = buffers.get(name) ?? { userId, id, bxcontext, events: [] }
    buffered.bxcontext = bxcontext ?? buffered.bxcontext
    buffered.events.push(record())
    buffers.set(name, buffered)
    timer ??= setTimeout(() => void flush(), flushMs)
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    // One at a time: flushes of this process do not compete for the same records, and a slow store fills the buffer.
    flushing = flushing.then(() => storeAll(collect()))
    return flushing
  }

  function collect(): Buffered[] {
    const collected = [...buffers.values()]
    buffers.clear()
    room = createRoom()
    return collected
  }

  async function storeAll(collected: Buffered[]): Promise<void> {
    for (const [userId, flowsOfUser] of Map.groupBy(collected, (buffered) => buffered.userId)) {
      try {
        await storeFlows(options, userId, flowsOfUser.slice(-MAX_FLOWS_PER_FLUSH))
      } catch (error) {
        // The app works without its flows.
        const { code, name } = error as { code?: unknown; name?: unknown }
        log.warn({ code: code ?? name }, 'flows could not be recorded')
      }
    }
  }

  const unsubscribe = subscribeAll(connect, add)
  return {
    // The pause before an exchange is none of the browser's hops: the callback is recorded with its outcome.
    hop({ hop, flow, ...event }) {
      if (hop === 'exchange') return
      const { userId, id, bxcontext } = flow
      const context = { ...contextOf(), userId, ...(id && { flowId: id }), ...(bxcontext && { bxcontext }) }
      for (const masked of maskHop(connect.platform, options.baseUrl, { hop, flow, ...event }))
        add(userId, context, () => ({ type: 'browser', event: masked }))
    },
    flush,
    async close() {
      unsubscribe()
      await flush()
    },
  }
}

/** Stores the flows of one user, and adds the platform's side to connect flows. */
async function storeFlows(
  { flows, store, complete }: RecorderOptions,
  userId: string,
  buffered: readonly Buffered[],
): Promise<void> {
  const key = await fingerprintKey(store)
  const additions = buffered.map(({ id, bxcontext, events }): FlowAddition => {
    const steps = events.map((recorded) => toStep(recorded, key))
    // A step that could not be read again would make its whole flow unreadable.
    return { id, bxcontext, steps: steps.filter((step) => stepSchema.safeParse(step).success) }
  })
  await flows.append(userId, additions)
  for (const { id, events } of buffered)
    if (events.some(({ type }) => type === 'browser')) await complete(userId, id)
}

/**
 * Adds an event to a flow. `record` masks it; it is called only for an event that is kept. `isPlainCall`: whether it is an API
 * call that the platform accepted.
 */
type Add = (userId: string, context: WorkContext, record: () => RecordedEvent, isPlainCall?: boolean) => void

/** Passes all that is reported on. Returns a function that stops this. */
function subscribeAll({ platform, vault, onExchange }: RecorderOptions['connect'], add: Add): () => void {
  const stops = [
    onExchange((exchange) => addExchange(platform, exchange, add)),
    vault.onChange((ref, events, { before, after }) => {
      const context = { ...contextOf(), ...ref }
      for (const shows of [...writesOf(before, after), ...events])
        add(ref.userId, context, () => ({ type: 'change', event: { shows, at: Date.now(), ms: 0 } }))
    }),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

/** What a change wrote, as far as a flow shows it. */
function writesOf(before: ConnectionRecord, after: ConnectionRecord): ChangeEvent['shows'][] {
  if (after.status === 'none' && before.status !== 'none') return ['disconnected']
  if (after.status === 'ended' && before.status !== 'ended') return ['ended']
  if (after.fence > before.fence) return ['lease']
  if (after.status !== 'active') return []
  if (after.consent !== before.consent) return ['connected']
  return after.refreshes > before.refreshes ? ['refreshed'] : []
}

function addExchange(platform: Platform, exchange: Exchange, add: Add): void {
  const { purpose, context, response } = exchange
  // First-party access belongs to no user.
  if (context.userId === undefined) return
  const type = purpose === 'api' ? 'apiCall' : 'tokenRequest'
  if (type === 'tokenRequest' && !isTokenRequest(exchange)) return
  const record = (): RecordedEvent => ({ type, event: maskExchange(platform, exchange) })
  add(context.userId, context, record, type === 'apiCall' && (response?.status ?? 500) < 400)
}

/** Counts the plain calls of each user in the current minute. */
function createPlainCallBudget() {
  const counts = new Map<string, number>()
  let minute = 0
  return {
    /** Whether one more call may be recorded. */
    spend(userId: string): boolean {
      const currentMinute = Math.floor(Date.now() / 60_000)
      if (currentMinute !== minute) counts.clear()
      minute = currentMinute
      const count = (counts.get(userId) ?? 0) + 1
      counts.set(userId, count)
      return count <= MAX_PLAIN_CALLS
    },
  }
}

/** Limits the events between two flushes, in all and for each user, so that no user takes the room of the others. */
function createRoom() {
  const counts = new Map<string, number>()
  let total = 0
  return {
    take(userId: string): boolean {
      const count = counts.get(userId) ?? 0
      if (count >= MAX_BUFFERED_OF_USER || total >= MAX_BUFFERED) return false
      counts.set(userId, count + 1)
      total++
      return true
    },
  }
}

/** Ids for flows of background work, one for each connection. */
function createBackgroundIds(): (userId: string, bxcontext: string | null) => string {
  const ids = new Map<string, { id: string; usedAt: number }>()
  return (userId, bxcontext) => {
    const now = Date.now()
    const name = JSON.stringify([userId, bxcontext])
    const last = ids.get(name)
    const isRecent = last !== undefined && now - last.usedAt < BACKGROUND_MS
    const id = isRecent ? last.id : crypto.randomUUID()
    if (ids.size > MAX_BUFFERED) ids.clear()
    ids.set(name, { id, usedAt: now })
    return id
  }
}
