import type { Logger } from 'pino'
import type { HopEvent } from '../../connect/express.ts'
import { type Connect, contextOf, type Vault, type WorkContext } from '../../connect/index.ts'
import { type Step, stepSchema } from './flow.ts'
import type { FlowAddition, FlowStore } from './flow-store.ts'
import type { Masking } from './masking.ts'
import { changeSteps, exchangeStep, hopSteps, isTokenRequest } from './steps.ts'

export interface RecorderOptions {
  connect: Pick<Connect, 'onExchange'> & { vault: Pick<Vault, 'onChange'> }
  masking: Masking
  /** The address of this app. */
  baseUrl: string
  flows: FlowStore
  log: Logger
}

interface Buffered extends FlowAddition {
  userId: string
  steps: Step[]
}

/** How long steps are collected before they are stored, in ms. */
const FLUSH_MS = 100
/** How many steps are collected at most, in all and for each user; further ones are not recorded. */
const MAX_BUFFERED = 5_000
const MAX_BUFFERED_OF_USER = 1_000
/** How many flows of a user one flush stores at most. */
const MAX_FLOWS_PER_FLUSH = 50
/** How many calls that succeed at once are recorded for each user in a minute: a busy account must not fill its list. */
const MAX_PLAIN_CALLS = 60
/** Work outside an HTTP request belongs to one flow while its steps follow each other within this time, in ms. */
const BACKGROUND_MS = 30_000

/** Records what the core and the routes report as flows, which are stored a moment later and in the background. */
export class Recorder {
  readonly #options: RecorderOptions
  readonly #flushMs: number
  readonly #stops: (() => void)[]
  readonly #identify = createBackgroundIds()
  readonly #room = createAllowance(MAX_BUFFERED_OF_USER, MAX_BUFFERED)
  readonly #plainCalls = createAllowance(MAX_PLAIN_CALLS)
  #minute = 0
  readonly #buffers = new Map<string, Buffered>()
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> = Promise.resolve()

  constructor(options: RecorderOptions, flushMs = FLUSH_MS) {
    const { connect, masking } = options
    this.#options = options
    this.#flushMs = flushMs
    this.#stops = [
      connect.onExchange((exchange) => {
        const { purpose, context, response } = exchange
        // First-party access belongs to no user, and a revocation is no request for tokens.
        if (context.userId === undefined || (purpose === 'token' && !isTokenRequest(exchange))) return
        const isPlainCall = purpose === 'api' && response !== undefined && response.status < 400
        this.#add(context.userId, context, isPlainCall, () => [exchangeStep(masking, exchange)])
      }),
      connect.vault.onChange((ref, events, change) => {
        const steps = changeSteps(events, change)
        if (steps.length > 0) this.#add(ref.userId, { ...contextOf(), ...ref }, false, () => steps)
      }),
    ]
  }

  /** Records a hop of a connect flow. The pause before an exchange is none: the callback is recorded with its outcome. */
  hop({ hop, flow, ...event }: HopEvent): void {
    if (hop === 'exchange') return
    const { masking, baseUrl } = this.#options
    const { userId, id, bxcontext } = flow
    const context = { ...contextOf(), userId, ...(id && { flowId: id }), ...(bxcontext && { bxcontext }) }
    this.#add(userId, context, false, () => hopSteps(masking, baseUrl, { hop, flow, ...event }))
  }

  /** Resolves when everything that was reported so far is stored. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    // One at a time: flushes of this process do not compete for the same records, and a slow store fills the buffer.
    this.#flushing = this.#flushing.then(async () => {
      const collected = Map.groupBy(this.#buffers.values(), ({ userId }) => userId)
      this.#buffers.clear()
      this.#room.renew()
      for (const [userId, ofUser] of collected)
        await this.#store(userId, ofUser.slice(-MAX_FLOWS_PER_FLUSH)).catch((error) => {
          // The app works without its flows.
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

  /** Adds steps to a flow. `record` masks them; it is called only for what is kept. */
  #add(userId: string, context: WorkContext, isPlainCall: boolean, record: () => Step[]): void {
    const { bxcontext = null } = context
    const id = context.flowId ?? context.requestId ?? this.#identify(userId, bxcontext)
    const name = `${id} ${userId}`
    // Decided at once: steps that are kept until the flush cost more than all else (npm run bench, row "inspector on").
    if (isPlainCall && !this.#buffers.has(name) && !this.#mayRecordPlainCall(userId)) return
    if (!this.#room.take(userId)) return
    const buffered = this.#buffers.get(name) ?? { userId, id, bxcontext, steps: [] }
    buffered.bxcontext = bxcontext ?? buffered.bxcontext
    // A step that could not be read again would make its whole flow unreadable.
    buffered.steps.push(...record().filter((step) => stepSchema.safeParse(step).success))
    this.#buffers.set(name, buffered)
    this.#timer ??= setTimeout(() => void this.flush(), this.#flushMs)
  }

  #mayRecordPlainCall(userId: string): boolean {
    const minute = Math.floor(Date.now() / 60_000)
    if (minute !== this.#minute) this.#plainCalls.renew()
    this.#minute = minute
    return this.#plainCalls.take(userId)
  }

  /** Stores the flows of one user, and adds the platform's side to connect flows. */
  async #store(userId: string, buffered: readonly Buffered[]): Promise<void> {
    const { flows } = this.#options
    await flows.append(userId, buffered)
    const connecting = buffered.filter(({ steps }) => steps.some(({ from }) => from === 'browser'))
    for (const { id } of connecting) await flows.find(userId, id)
  }
}

/** Counts what each user takes of a limit, so that nobody takes the room of the others. */
function createAllowance(perUser: number, inAll = Number.POSITIVE_INFINITY) {
  const counts = new Map<string, number>()
  let total = 0
  return {
    /** Whether the user may take one more. */
    take(userId: string): boolean {
      const count = counts.get(userId) ?? 0
      if (count >= perUser || total >= inAll) return false
      counts.set(userId, count + 1)
      total++
      return true
    },
    renew(): void {
      counts.clear()
      total = 0
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
