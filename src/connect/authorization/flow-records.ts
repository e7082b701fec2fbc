import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Platform } from '../platform/contract.ts'
import { parseJson } from '../platform/json.ts'
import { randomCodeVerifier, randomState } from '../platform/oauth.ts'
import { type Key, type KeyValueStore, keyName } from '../store/store.ts'
import { update } from '../store/update.ts'
import {
  createRecordCipher,
  DecryptionError,
  type EncryptionKey,
  type RecordCipher,
} from '../vault/encryption.ts'
import { ConnectError } from './errors.ts'
import {
  aged,
  arrived,
  type Confirming,
  type Consenting,
  claimed,
  confirmed,
  confirming,
  type Ended,
  EXPIRED_MS,
  ended,
  FLOW_MS,
  type Flow,
  type Flows,
  flowsSchema,
  type Outcome,
  started,
} from './flows.ts'

/** A user in one browser session. */
export interface BrowserSession {
  userId: string
  /** A digest of the session id. */
  session: string
}

/** How much longer than the token endpoint may take the other callers wait for the exchange, in ms. */
const WAIT_LONGER_MS = 13_000
const POLL_MS = 50

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

  /** Starts a flow, which accepts one bxcontext for 15 minutes. `expected`: the one to reconnect. Resolves to its id. */
  async start(browser: BrowserSession, expected?: string): Promise<string> {
    const id = randomUUID()
    await this.#change(browser, (flows) => ({ flows: started(flows, id, expected, this.#now()), flow: id }))
    return id
  }

  /** Gives an arrived bxcontext to a flow. Throws as `arrived` does. */
  arrive(browser: BrowserSession, bxcontext: string): Promise<Consenting | Confirming> {
    return this.#change(browser, (flows) => arrived(flows, bxcontext, newSecrets()))
  }

  /** The flow whose user is asked about another bxcontext. Throws as `flows.ts`' `confirming` does. */
  async confirming(browser: BrowserSession, id: string): Promise<Confirming> {
    const value = await this.#store.get(this.#key(browser))
    return confirming(this.#parse(browser, value), id)
  }

  /** The user accepts the other bxcontext. Throws as `confirmed` does. */
  confirm(browser: BrowserSession, id: string): Promise<Consenting> {
    return this.#change(browser, (flows) => confirmed(flows, id, newSecrets()))
  }

  /**
   * Claims the flow of this state: one caller among all processes gets its code verifier, to send the code, and the others wait
   * for the outcome. Throws `ConnectError` (`invalid_state`, `consent_expired`, `exchange_incomplete`).
   */
  async claim(browser: BrowserSession, state: string): Promise<Consenting | Ended> {
    const deadline = performance.now() + this.#exchangeMs
    for (;;) {
      const flow = await this.#change<Flow>(browser, (flows) =>
        claimed(flows, state, this.#now(), this.#exchangeMs),
      )
      if (flow.phase === 'consenting' || flow.phase === 'ended') return flow
      if (performance.now() > deadline) throw new ConnectError('exchange_incomplete')
      await pause(POLL_MS)
    }
  }

  /** Stores the outcome of an exchange, which is shown if the same callback is opened again. */
  async end(browser: BrowserSession, id: string, outcome: Outcome): Promise<void> {
    await this.#change(browser, (flows) => ({ flows: ended(flows, id, outcome, this.#now()), flow: id }))
  }

  async #change<T>(browser: BrowserSession, next: (flows: Flows) => { flows: Flows; flow: T }): Promise<T> {
    const key = this.#key(browser)
    let result: { flow: T } | undefined
    const change = (value: string | null) => {
      const before = this.#parse(browser, value)
      const after = next(before)
      result = after
      return after.flows === before ? value : this.#cipher.encrypt(JSON.stringify(after.flows), keyName(key))
    }
    await update(this.#store, key, change, FLOW_MS + EXPIRED_MS)
    if (!result) throw new Error('an update calls its function')
    return result.flow
  }

  /** Flows that cannot be read count as none: the user starts again. */
  #parse(browser: BrowserSession, value: string | null): Flows {
    if (value === null) return []
    try {
      const text = this.#cipher.decrypt(value, keyName(this.#key(browser)))
      return aged(flowsSchema.safeParse(parseJson(text)).data ?? [], this.#now())
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
