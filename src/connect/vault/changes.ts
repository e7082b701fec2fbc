import type { Log } from '../log.ts'
import { type ConnectionEvent, type ConnectionRecord, type ConnectionRef, eventsOf } from './connection.ts'
import type { Change } from './records.ts'

/** Called after each change of a record with its events, which may be none. Its errors are logged and affect nothing. */
export type ChangeListener = (
  ref: ConnectionRef,
  events: readonly ConnectionEvent[],
  change: Change,
) => unknown

/** How the log has each event. Failed requests for tokens are logged with their reason when they fail. */
const LOGGED: Record<ConnectionEvent['type'], { level: 'info' | 'warn'; message: string } | null> = {
  connected: { level: 'info', message: 'account connected' },
  revoked: { level: 'warn', message: 'access to an account has ended' },
  disconnected: { level: 'info', message: 'account disconnected' },
  refreshed: null,
  refreshFailed: null,
  recovered: null,
}

const NO_REFRESH_TOKEN =
  'this connection ends with its access token: the platform issued no refresh token. Many platforms issue one only if the scope offline_access is requested'

/** Tells the log and the listeners of each change of a connection in this process. */
export class Changes {
  readonly #log: Log
  readonly #listeners = new Set<ChangeListener>()

  constructor(log: Log) {
    this.#log = log
  }

  /** Returns a function that unsubscribes. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  publish(ref: ConnectionRef, change: Change): void {
    const events = eventsOf(change.before, change.after)
    for (const event of events) this.#logEvent(event, change.after)
    for (const listener of this.#listeners) void this.#tell(listener, ref, events, change)
  }

  #logEvent(event: ConnectionEvent, after: ConnectionRecord): void {
    const { consent } = after
    const logged = LOGGED[event.type]
    const reason = event.type === 'revoked' ? event.reason : undefined
    if (logged) this.#log[logged.level]({ consent, reason }, logged.message)
    if (event.type !== 'connected' || after.status !== 'active' || after.renewable) return
    const expiresAt = after.expiresAt === null ? null : new Date(after.expiresAt).toISOString()
    this.#log.warn({ consent, expiresAt }, NO_REFRESH_TOKEN)
  }

  async #tell(listener: ChangeListener, ...change: Parameters<ChangeListener>): Promise<void> {
    try {
      await listener(...change)
    } catch (error) {
      const name = error instanceof Error ? error.name : typeof error
      this.#log.error({ name }, 'a listener for changes of connections failed')
    }
  }
}
