import { randomCodeVerifier, randomState } from '../platform/oauth.ts'
import type { Key, Store } from '../store/store.ts'
import { ConnectFailure, type FailureCode } from './failure.ts'

/** Who is at the other end: an attempt belongs to one user in one browser session. */
export interface Browser {
  userId: string
  /** A digest of the session id. */
  session: string
}

/** How an attempt ended: in this context's connection, or in a failure. */
export type Outcome = { connected: string } | { failed: FailureCode }

/** What the exchange needs, given to the one caller that may send the code. */
export interface Claim {
  context: string
  codeVerifier: string
  /** Records the outcome, for whoever opens the same callback again. */
  end(outcome: Outcome): Promise<void>
}

export interface Attempts {
  /** Begins an attempt: for 15 minutes one context may arrive for it. */
  begin(browser: Browser): Promise<void>
  /**
   * Uses up a begun attempt for the context that arrived, and ties both to a new random state (RFC 6749 section
   * 10.12). Throws `ConnectFailure` (`no_attempt`) when none is waiting: anyone could have planted that context.
   */
  receive(browser: Browser, context: string): Promise<{ state: string; codeVerifier: string }>
  /**
   * Claims the attempt of this state, atomically: among all callers and processes one gets the `Claim`; any other
   * waits for its outcome. Throws `ConnectFailure` (`unknown_attempt`, `unfinished`).
   */
  claim(browser: Browser, state: string): Promise<Claim | Outcome>
}

type Attempt = { session: string; context: string; expiresAt: number } & (
  | { phase: 'consenting'; codeVerifier: string }
  | { phase: 'exchanging' }
  | { phase: 'ended'; outcome: Outcome }
)

const LIFE_MS = 15 * 60_000
/** Attempts that one session may have waiting at once: one a tab, and a bound on what a script can pile up. */
const MOST_WAITING = 20
/** How long a second caller waits for the first one's exchange, in ms. */
const WAIT_MS = 12_000
const POLL_MS = 50

export function createAttempts(store: Store, now: () => number = Date.now): Attempts {
  const waitingKey = ({ userId, session }: Browser): Key => ({ kind: 'waiting', owner: userId, id: session })
  const attemptKey = ({ userId }: Browser, state: string): Key => ({
    kind: 'attempt',
    owner: userId,
    id: state,
  })

  /** Changes the list of when this session's waiting attempts expire; compare-and-set, as tabs do so at once. */
  async function changeWaiting(browser: Browser, change: (waiting: number[]) => number[]): Promise<void> {
    for (;;) {
      const value = await store.get(waitingKey(browser))
      const waiting: number[] = value === null ? [] : JSON.parse(value)
      const next = change(waiting.filter((expiresAt) => expiresAt > now()))
      const written = next.length > 0 ? JSON.stringify(next) : null
      if (await store.compareAndSet(waitingKey(browser), value, written, LIFE_MS)) return
    }
  }

  return {
    begin: (browser) =>
      changeWaiting(browser, (waiting) => [...waiting, now() + LIFE_MS].slice(-MOST_WAITING)),

    async receive(browser, context) {
      let expiresAt = 0
      await changeWaiting(browser, (waiting) => {
        const newest = waiting.at(-1)
        if (newest === undefined) throw new ConnectFailure('no_attempt')
        expiresAt = newest
        return waiting.slice(0, -1)
      })
      const [state, codeVerifier] = [randomState(), randomCodeVerifier()]
      const attempt: Attempt = {
        phase: 'consenting',
        session: browser.session,
        context,
        expiresAt,
        codeVerifier,
      }
      await store.set(attemptKey(browser, state), JSON.stringify(attempt), expiresAt - now())
      return { state, codeVerifier }
    },

    async claim(browser, state) {
      const key = attemptKey(browser, state)
      for (const ends = now() + WAIT_MS; ; ) {
        const value = await store.get(key)
        const attempt: Attempt | null = value === null ? null : JSON.parse(value)
        if (attempt?.session !== browser.session || attempt.expiresAt <= now()) {
          throw new ConnectFailure('unknown_attempt')
        }
        if (attempt.phase === 'ended') return attempt.outcome
        if (attempt.phase === 'consenting') {
          const { codeVerifier, ...kept } = attempt
          const exchanging: Attempt = { ...kept, phase: 'exchanging' }
          const taken = JSON.stringify(exchanging)
          if (!(await store.compareAndSet(key, value, taken, attempt.expiresAt - now()))) continue
          return {
            context: attempt.context,
            codeVerifier,
            async end(outcome) {
              const ended: Attempt = { ...kept, phase: 'ended', outcome, expiresAt: now() + LIFE_MS }
              await store.compareAndSet(key, taken, JSON.stringify(ended), LIFE_MS)
            },
          }
        }
        if (now() > ends) throw new ConnectFailure('unfinished')
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      }
    },
  }
}
