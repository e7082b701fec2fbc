import type { Logger } from 'pino'
import { type Connect, contextOf, type Vault, type WorkContext } from '../../connect/index.ts'
import type { Step } from './flow.ts'
import type { FlowAddition, FlowStore } from './flow-store.ts'
import type { Masking } from './masking.ts'
import { changeSteps, exchangeStep, isTokenRequest } from './steps.ts'

export interface RecorderOptions {
  connect: Pick<Connect, 'onPlatformRequest'> & { vault: Pick<Vault, 'onChange'> }
  masking: Masking
  flows: FlowStore
  log: Logger
}

interface Buffered extends FlowAddition {
  userId: string
  steps: Step[]
}

/** How long steps are collected before they are stored, in ms. */
const FLUSH_MS = 100
/** How many successful API calls are recorded for each user in a minute, so that a busy account does not fill its list. */
const MAX_PLAIN_CALLS = 60
/** Outside an HTTP request, the steps of a connection belong to one flow while they follow each other within this time, in ms. */
const BACKGROUND_MS = 30_000
/** The most flows in memory: this many of background work, and this many that wait to be stored, as when the store is slow. */
const MAX_FLOWS = 5_000

/** Records the events of the core and the routes as flows, and stores them a moment later in the background. */
export class Recorder {
  readonly #options: RecorderOptions
  readonly #flushMs: number
  readonly #stops: (() => void)[]
  readonly #now: () => number
  readonly #identify: ReturnType<typeof createBackgroundIds>
  /** How many API calls of this minute succeeded, by user. */
  readonly #plainCalls = new Map<string, number>()
  #minute = 0
  readonly #buffers = new Map<string, Buffered>()
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> = Promise.resolve()

  /** `now`: the clock, in ms since 1970. */
  constructor(options: RecorderOptions, flushMs = FLUSH_MS, now = Date.now) {
    const { connect, masking } = options
    this.#options = options
    this.#flushMs = flushMs
    this.#now = now
    this.#identify = createBackgroundIds(now)
    this.#stops = [
      connect.onPlatformRequest((exchange) => {
        const { purpose, context, response } = exchange
        // Calls of background jobs may not belong to a user, and a revocation does not ask for tokens.
        if (context.userId === undefined || (purpose === 'token' && !isTokenRequest(exchange))) return
        const isPlainCall = purpose === 'api' && response !== undefined && response.status < 400
        this.add(context.userId, context, () => [exchangeStep(masking, exchange)], isPlainCall)
      }),
      connect.vault.onChange((ref, events, change) => {
        const steps = changeSteps(events, change)
        if (steps.length > 0) this.add(ref.userId, { ...contextOf(), ...ref }, () => steps)
      }),
    ]
  }

  /** Resolves when every event reported so far is stored. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    // A process does one flush at a time, so flushes do not compete for records. While the store is slow, steps wait in the buffer.
    this.#flushing = this.#flushing.then(async () => {
      const collected = Map.groupBy(this.#buffers.values(), ({ userId }) => userId)
      this.#buffers.clear()
      for (const [userId, ofUser] of collected)
        await this.#options.flows.append(userId, ofUser).catch((error) => {
          // The app works without recorded flows.
          const { code, name } = error as { code?: unknown; name?: unknown }
          this.#options.log.warn({ code: code ?? name }, 'flows could not be recorded')
        })
    })
    return this.#flushing
  }

  /** Stops recording, after a last flush. */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop()
    await this.flush()
  }

  /** Adds steps to a flow. `record` makes the masked steps, and is called only if they are kept. */
  add(userId: string, context: WorkContext, record: () => Step[], isPlainCall = false): void {
    const { bxcontext = null, requestId } = context
    const id = context.flowId ?? requestId ?? this.#identify(userId, bxcontext)
    const name = `${id} ${userId}`
    // Decides before `record` makes the steps, because steps that wait for the flush are the main cost: npm run bench measures it
    // in the row "inspector on".
    const isFull = this.#buffers.size >= MAX_FLOWS
    if (!this.#buffers.has(name) && (isFull || (isPlainCall && !this.#mayRecordPlainCall(userId)))) return
    const buffered = this.#buffers.get(name) ?? { userId, id, bxcontext, steps: [] }
    buffered.bxcontext = bxcontext ?? buffered.bxcontext
    buffered.steps.push(...record())
    this.#buffers.set(name, buffered)
    this.#timer ??= setTimeout(() => void this.flush(), this.#flushMs)
  }

  #mayRecordPlainCall(userId: string): boolean {
    const minute = Math.floor(this.#now() / 60_000)
    if (minute !== this.#minute) this.#plainCalls.clear()
    this.#minute = minute
    const count = (this.#plainCalls.get(userId) ?? 0) + 1
    this.#plainCalls.set(userId, count)
    return count <= MAX_PLAIN_CALLS
  }
}

/** Ids for flows of background work, one for each connection. */
function createBackgroundIds(now: () => number): (userId: string, bxcontext: string | null) => string {
  const ids = new Map<string, { id: string; usedAt: number }>()
  return (userId, bxcontext) => {
    const usedAt = now()
    const name = JSON.stringify([userId, bxcontext])
    const last = ids.get(name)
    const isRecent = last !== undefined && usedAt - last.usedAt < BACKGROUND_MS
    const id = isRecent ? last.id : crypto.randomUUID()
    if (ids.size > MAX_FLOWS) ids.clear()
    ids.set(name, { id, usedAt })
    return id
  }
}
