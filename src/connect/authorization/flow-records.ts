import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Platform } from '../platform/contract.ts'
import { parseJson } from '../platform/json.ts'
import { randomCodeVerifier, randomState } from '../platform/oauth.ts'
import { type Key, type KeyValueStore, keyText } from '../store/store.ts'
import {
  createRecordCipher,
  DecryptionError,
  type EncryptionKey,
  type RecordCipher,
} from '../vault/encryption.ts'
import type { Exchanging, Flow, FlowRecord, Fresh, Outcome } from './flows.ts'
import * as transitions from './flows.ts'

/** A user in one browser session. */
export interface BrowserSession {
  userId: string
  /** A digest of the session id. */
  session: string
}

/** How long other visits wait for the exchange, in ms, in addition to the time that the token endpoint may take. */
const WAIT_LONGER_MS = 13_000
const POLL_MS = 50
/** How long the flows of a session are kept after the last change, in ms. Until then, a callback can be opened again. */
const TTL_MS = 4 * 3_600_000

/** The connect flows of browser sessions in the store, encrypted. Methods throw `StoreUnavailableError`. */
export class FlowRecords {
  readonly #platform: Platform
  readonly #store: KeyValueStore
  readonly #cipher: RecordCipher
  readonly #now: () => number

  constructor(platform: Platform, store: KeyValueStore, keys: readonly EncryptionKey[], now = Date.now) {
    this.#platform = platform
    this.#store = store
    this.#cipher = createRecordCipher(keys)
    this.#now = now
  }

  /** Resolves to the flows of a session. If it can't decrypt them, resolves to `NO_FLOWS`, so the user has to start again. */
  async read(browser: BrowserSession): Promise<FlowRecord> {
    const key = this.#key(browser)
    return this.#parse(key, await this.#store.get(key))
  }

  /**
   * Begins a flow when the user presses Connect or Reconnect. Each bxcontext that arrives before the next press belongs to this
   * flow. `expected`: the bxcontext to reconnect.
   */
  start(browser: BrowserSession, expected?: string) {
    const flow = transitions.started(this.#fresh(), expected)
    return this.#change(browser, () => flow, flow.id)
  }

  /** Assigns a bxcontext that arrived to its flow. Throws the errors of `arrived`. */
  arrive(browser: BrowserSession, bxcontext: string) {
    return this.#change(browser, (record) => transitions.arrived(record, bxcontext, this.#fresh()))
  }

  /** Notes that the user accepts the other bxcontext. Throws the errors of `confirmed`. */
  confirm(browser: BrowserSession, id: string) {
    return this.#change(browser, (record) => transitions.confirmed(record, id, this.#fresh()))
  }

  /**
   * Claims the flow with this `state`, so that only one visit of the callback, among all processes, sends the code. Other visits
   * wait for the outcome, at most as long as an exchange may take. Resolves to null if no flow waits for this `state`.
   */
  async claim(browser: BrowserSession, state: string) {
    const visit = randomUUID()
    const exchangeMs = this.#platform.tokenEndpointMs + WAIT_LONGER_MS
    for (const deadline = performance.now() + exchangeMs; ; await pause(POLL_MS)) {
      const flow = await this.#change(browser, (record) =>
        transitions.claimed(record, state, visit, { now: this.#now(), exchangeMs }),
      )
      if (flow?.phase !== 'exchanging' || flow.visit === visit) return flow
      if (performance.now() > deadline) return transitions.ended(flow, { failed: 'exchange_incomplete' })
    }
  }

  /** Stores the outcome of an exchange, to show it if the callback is opened again. Has no effect if the user has signed out. */
  async end(browser: BrowserSession, flow: Exchanging, outcome: Outcome): Promise<void> {
    await this.#change(browser, (record) =>
      transitions.flowOf(record, flow.id) ? transitions.ended(flow, outcome) : null,
    )
  }

  /** Deletes all flows of the session. */
  async forget(browser: BrowserSession): Promise<void> {
    await this.#store.delete(this.#key(browser))
  }

  /**
   * Stores the flow that `next` returns, unless it is null or unchanged. Starts over if another process changed the record first.
   * `last`: see `withFlow`.
   */
  async #change<F extends Flow | null>(
    browser: BrowserSession,
    next: (record: FlowRecord) => F,
    last?: string,
  ): Promise<F> {
    const key = this.#key(browser)
    for (;;) {
      const value = await this.#store.get(key)
      const record = this.#parse(key, value)
      const flow = next(record)
      if (!flow || record.flows.includes(flow)) return flow
      const text = JSON.stringify(transitions.withFlow(record, flow, last))
      const encrypted = this.#cipher.encrypt(text, keyText(key))
      if (await this.#store.compareAndSet(key, value, encrypted, TTL_MS)) return flow
    }
  }

  #parse(key: Key, value: string | null): FlowRecord {
    if (value === null) return transitions.NO_FLOWS
    try {
      const json = parseJson(this.#cipher.decrypt(value, keyText(key)))
      const record = transitions.flowRecordSchema.safeParse(json).data ?? transitions.NO_FLOWS
      return transitions.aged(record, this.#now())
    } catch (error) {
      if (error instanceof DecryptionError) return transitions.NO_FLOWS
      throw error
    }
  }

  #fresh(): Fresh {
    return { id: randomUUID(), state: randomState(), codeVerifier: randomCodeVerifier(), now: this.#now() }
  }

  #key({ userId, session }: BrowserSession): Key {
    return { kind: `${this.#platform.name}-flows`, owner: userId, id: session }
  }
}
