import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Platform } from '../platform/contract.ts'
import { parseJson } from '../platform/json.ts'
import { randomCodeVerifier, randomState } from '../platform/oauth.ts'
import { type Key, type KeyValueStore, keyName } from '../store/store.ts'
import {
  createRecordCipher,
  DecryptionError,
  type EncryptionKey,
  type RecordCipher,
} from '../vault/encryption.ts'
import type { Confirming, Consenting, Ended, Exchanging, Flow, Flows, Outcome } from './flows.ts'
import * as transitions from './flows.ts'

/** A user in one browser session. */
export interface BrowserSession {
  userId: string
  /** A digest of the session id. */
  session: string
}

/** How much longer than the token endpoint may take the other visits wait for the exchange, in ms. */
const WAIT_LONGER_MS = 13_000
const POLL_MS = 50
/** How long the flows of a session are kept after the last change, in ms. */
const TTL_MS = transitions.FLOW_MS + transitions.ENDED_MS

/** The connect flows of browser sessions in the store, encrypted. Methods throw `StoreUnavailableError`. */
export class FlowRecords {
  readonly #kind: string
  readonly #store: KeyValueStore
  readonly #cipher: RecordCipher
  readonly #exchangeMs: number
  readonly #now: () => number

  constructor(platform: Platform, store: KeyValueStore, keys: readonly EncryptionKey[], now = Date.now) {
    this.#kind = `${platform.name}-flows`
    this.#store = store
    this.#cipher = createRecordCipher(keys)
    this.#exchangeMs = platform.tokenEndpointMs + WAIT_LONGER_MS
    this.#now = now
  }

  /** Starts a flow, which accepts one bxcontext for 15 minutes. `expected`: the one to reconnect. */
  start(browser: BrowserSession, expected?: string): Promise<Flow> {
    const flow = transitions.started(randomUUID(), expected, this.#now())
    return this.#change(browser, () => flow)
  }

  /** Gives an arrived bxcontext to a flow. Throws as `arrived` does. */
  arrive(browser: BrowserSession, bxcontext: string): Promise<Consenting | Confirming> {
    return this.#change(browser, (flows) => transitions.arrived(flows, bxcontext, newSecrets()))
  }

  /** The flow whose user is asked about another bxcontext. Throws as `flows.ts`' `confirming` does. */
  async confirming(browser: BrowserSession, id: string): Promise<Confirming> {
    const key = this.#key(browser)
    return transitions.confirming(this.#parse(key, await this.#store.get(key)), id)
  }

  /** The user accepts the other bxcontext. Throws as `confirmed` does. */
  confirm(browser: BrowserSession, id: string): Promise<Consenting> {
    return this.#change(browser, (flows) => transitions.confirmed(flows, id, newSecrets()))
  }

  /**
   * Claims the flow of this state: one visit of the callback among all processes gets it, to send the code, and the others wait
   * for the outcome, as long as an exchange may take. Resolves to null if no flow has this state.
   */
  async claim(browser: BrowserSession, state: string): Promise<Exchanging | Ended | null> {
    const visit = randomUUID()
    for (const deadline = performance.now() + this.#exchangeMs; ; await pause(POLL_MS)) {
      const flow = await this.#change(browser, (flows) =>
        transitions.claimed(flows, state, visit, { now: this.#now(), exchangeMs: this.#exchangeMs }),
      )
      if (flow?.phase !== 'exchanging' || flow.visit === visit) return flow
      if (performance.now() > deadline)
        return transitions.ended(flow, { failed: 'exchange_incomplete' }, this.#now())
    }
  }

  /** Stores the outcome of an exchange, which is shown if the same callback is opened again. */
  async end(browser: BrowserSession, flow: Exchanging, outcome: Outcome): Promise<void> {
    await this.#change(browser, () => transitions.ended(flow, outcome, this.#now()))
  }

  /** Deletes all flows of the session. */
  async forget(browser: BrowserSession): Promise<void> {
    await this.#store.delete(this.#key(browser))
  }

  /** Stores the flow that `next` returns, unless it is one of the flows or none; again, if another process was faster. */
  async #change<F extends Flow | null>(browser: BrowserSession, next: (flows: Flows) => F): Promise<F> {
    const key = this.#key(browser)
    for (;;) {
      const value = await this.#store.get(key)
      const flows = this.#parse(key, value)
      const flow = next(flows)
      if (!flow || flows.includes(flow)) return flow
      const text = this.#cipher.encrypt(JSON.stringify(transitions.withFlow(flows, flow)), keyName(key))
      if (await this.#store.compareAndSet(key, value, text, TTL_MS)) return flow
    }
  }

  /** Flows that cannot be read count as none: the user starts again. */
  #parse(key: Key, value: string | null): Flows {
    if (value === null) return []
    try {
      const text = this.#cipher.decrypt(value, keyName(key))
      return transitions.aged(transitions.flowsSchema.safeParse(parseJson(text)).data ?? [], this.#now())
    } catch (error) {
      if (error instanceof DecryptionError) return []
      throw error
    }
  }

  #key({ userId, session }: BrowserSession): Key {
    return { kind: this.#kind, owner: userId, id: session }
  }
}

const newSecrets = () => ({ state: randomState(), codeVerifier: randomCodeVerifier() })
