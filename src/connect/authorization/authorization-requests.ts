import { randomBytes } from 'node:crypto'
import { randomCodeVerifier, randomState } from '../platform/oauth.ts'
import type { Key, Store } from '../store/store.ts'
import { ConnectError, type FailureCode } from './errors.ts'

/** An authorization request belongs to one user in one browser session. */
export interface BrowserSession {
  userId: string
  /** A digest of the session id. */
  session: string
}

/** How a request ended: in this context's connection, or in a failure. */
export type Outcome = { connected: string } | { failed: FailureCode }

/** What the consent url needs. */
export interface Consent {
  context: string
  state: string
  codeVerifier: string
}

/** Another context arrived than the one that was to be reconnected: the user decides. */
export interface Mismatch {
  /** Names the question, for `confirm`. */
  id: string
  /** The context that arrived, and the one that was meant. */
  context: string
  expected: string
}

/** What the exchange needs, given to the one caller that may send the code. */
export interface PendingExchange {
  context: string
  /** The context that was to be reconnected. */
  expected: string | undefined
  codeVerifier: string
  /** Records the outcome, to be shown when the same callback is opened again. */
  end(outcome: Outcome): Promise<void>
}

export interface AuthorizationRequests {
  /** Starts a request: for 15 minutes one context may arrive for it. `expected` is the one to be reconnected. */
  start(browser: BrowserSession, expected?: string): Promise<void>
  /**
   * Uses up a started request for the context that arrived, and ties both to a new random state (RFC 6749 section
   * 10.12). A context that is not the expected one becomes a question instead. Throws `ConnectError` (`no_attempt`)
   * when no request is pending: anyone could have planted that context.
   */
  bindContext(browser: BrowserSession, context: string): Promise<Consent | Mismatch>
  /** The question of this id. Throws `ConnectError` (`unknown_attempt`). */
  mismatch(browser: BrowserSession, id: string): Promise<Mismatch>
  /** The user wants the context that arrived. Uses up the question. Throws `ConnectError` (`unknown_attempt`). */
  confirm(browser: BrowserSession, id: string): Promise<Consent>
  /**
   * Claims the request of this state, atomically: among all callers and processes one gets the `PendingExchange`; any
   * other waits for its outcome. Throws `ConnectError` (`unknown_attempt`, `unfinished`).
   */
  claim(browser: BrowserSession, state: string): Promise<PendingExchange | Outcome>
  /** Remembers how the last flow of this browser failed, for the page that says so. */
  noteFailure(browser: BrowserSession, failure: NotedFailure): Promise<void>
  /** How the last flow of this browser failed, in the last 15 minutes. */
  lastFailure(browser: BrowserSession): Promise<NotedFailure | null>
}

export interface NotedFailure {
  code: FailureCode
  /** The id of the request that failed. */
  requestId: string
  /** The context that was to be reconnected. */
  expected?: string | undefined
}

/** A request that has started and waits for its context. */
interface Started {
  expiresAt: number
  expected?: string | undefined
}

type Stored = {
  session: string
  context: string
  /** The context that was to be reconnected. */
  expected?: string | undefined
  expiresAt: number
} & (
  | { phase: 'confirming'; expected: string }
  | { phase: 'consenting'; codeVerifier: string }
  | { phase: 'exchanging' }
  | { phase: 'ended'; outcome: Outcome }
)

const LIFE_MS = 15 * 60_000
/** Requests that one session may have pending at once: one per tab; also caps what a script can create. */
const MAX_PENDING = 20
/** How long a second caller waits for the first one's exchange, in ms: longer than the token endpoint may take. */
const WAIT_MS = 45_000
const POLL_MS = 50

export function createAuthorizationRequests(
  store: Store,
  now: () => number = Date.now,
): AuthorizationRequests {
  const pendingKey = ({ userId, session }: BrowserSession): Key => ({
    kind: 'waiting',
    owner: userId,
    id: session,
  })
  const failureKey = ({ userId, session }: BrowserSession): Key => ({
    kind: 'connect-failure',
    owner: userId,
    id: session,
  })
  const requestKey = ({ userId }: BrowserSession, id: string): Key => ({ kind: 'attempt', owner: userId, id })

  /** Changes the list of this session's pending requests; compare-and-set, as tabs do so at once. */
  async function changePending(
    browser: BrowserSession,
    change: (pending: Started[]) => Started[],
  ): Promise<void> {
    for (;;) {
      const value = await store.get(pendingKey(browser))
      const pending = parsePending(value)
      const next = change(pending.filter(({ expiresAt }) => expiresAt > now()))
      const written = next.length > 0 ? JSON.stringify(next) : null
      if (await store.compareAndSet(pendingKey(browser), value, written, LIFE_MS)) return
    }
  }

  async function read(browser: BrowserSession, id: string): Promise<{ request: Stored; value: string }> {
    const value = await store.get(requestKey(browser, id))
    const request: Stored | null = value === null ? null : JSON.parse(value)
    if (value === null || request?.session !== browser.session || request.expiresAt <= now())
      throw new ConnectError('unknown_attempt')
    return { request, value }
  }

  async function askForConsent(
    browser: BrowserSession,
    context: string,
    { expected, expiresAt }: Started,
  ): Promise<Consent> {
    const [state, codeVerifier] = [randomState(), randomCodeVerifier()]
    const { session } = browser
    const request: Stored = { phase: 'consenting', session, context, expected, expiresAt, codeVerifier }
    await store.set(requestKey(browser, state), JSON.stringify(request), expiresAt - now())
    return { context, state, codeVerifier }
  }

  async function readMismatch(browser: BrowserSession, id: string) {
    const { request, value } = await read(browser, id)
    if (request.phase !== 'confirming') throw new ConnectError('unknown_attempt')
    return { request, value }
  }

  return {
    start: (browser, expected) =>
      changePending(browser, (pending) =>
        [...pending, { expiresAt: now() + LIFE_MS, expected }].slice(-MAX_PENDING),
      ),

    async bindContext(browser, context) {
      let started: Started = { expiresAt: 0 }
      await changePending(browser, (pending) => {
        // The one that expects this very context; otherwise the latest, whose user may have chosen another.
        const own = pending.findLastIndex(({ expected }) => expected === context)
        const index = own === -1 ? pending.length - 1 : own
        const found = pending[index]
        if (!found) throw new ConnectError('no_attempt')
        started = found
        return pending.toSpliced(index, 1)
      })
      const { expiresAt, expected } = started
      if (expected === undefined || expected === context) return askForConsent(browser, context, started)
      const id = randomBytes(16).toString('base64url')
      const { session } = browser
      const request: Stored = { phase: 'confirming', session, context, expected, expiresAt }
      await store.set(requestKey(browser, id), JSON.stringify(request), expiresAt - now())
      return { id, context, expected }
    },

    async mismatch(browser, id) {
      const { request } = await readMismatch(browser, id)
      return { id, context: request.context, expected: request.expected }
    },

    async confirm(browser, id) {
      const { request, value } = await readMismatch(browser, id)
      if (!(await store.compareAndSet(requestKey(browser, id), value, null)))
        throw new ConnectError('unknown_attempt')
      return askForConsent(browser, request.context, { expiresAt: request.expiresAt })
    },

    noteFailure: (browser, failure) => store.set(failureKey(browser), JSON.stringify(failure), LIFE_MS),

    async lastFailure(browser) {
      const value = await store.get(failureKey(browser))
      return value === null ? null : JSON.parse(value)
    },

    async claim(browser, state) {
      const key = requestKey(browser, state)
      for (const deadline = now() + WAIT_MS; ; ) {
        const { request, value } = await read(browser, state)
        if (request.phase === 'confirming') throw new ConnectError('unknown_attempt')
        if (request.phase === 'ended') return request.outcome
        if (request.phase === 'consenting') {
          const { codeVerifier, ...rest } = request
          const exchanging: Stored = { ...rest, phase: 'exchanging' }
          const claimed = JSON.stringify(exchanging)
          // Kept until the outcome can be recorded, however long the exchange takes.
          const life = Math.max(request.expiresAt - now(), WAIT_MS)
          if (!(await store.compareAndSet(key, value, claimed, life))) continue
          return {
            context: request.context,
            expected: request.expected,
            codeVerifier,
            async end(outcome) {
              const ended: Stored = { ...rest, phase: 'ended', outcome, expiresAt: now() + LIFE_MS }
              await store.compareAndSet(key, claimed, JSON.stringify(ended), LIFE_MS)
            },
          }
        }
        if (now() > deadline) throw new ConnectError('unfinished')
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      }
    },
  }
}

/** A list that cannot be read counts as empty: the user starts again. */
function parsePending(value: string | null): Started[] {
  try {
    const pending: unknown = JSON.parse(value ?? '[]')
    return Array.isArray(pending) ? pending : []
  } catch {
    return []
  }
}
