import type { Log } from '../log.ts'
import { type ConnectionEvent, type ConnectionRef, eventsOf } from './connection.ts'
import type { Change } from './records.ts'

/** Called after each change of a record. `events` may be empty. The errors of a listener are logged and have no other effect. */
export type ChangeListener = (
  ref: ConnectionRef,
  events: readonly ConnectionEvent[],
  change: Change,
) => unknown

const NO_REFRESH_TOKEN =
  'this connection ends with its access token: the platform issued no refresh token. Many platforms issue one only if the scope offline_access is requested'

/** Reports each change of a connection by this process to the log and the listeners. `listen` returns an unsubscribe function. */
export function createChanges(log: Log) {
  const listeners = new Set<ChangeListener>()
  const logFailure = (error: unknown) => {
    const name = error instanceof Error ? error.name : typeof error
    log.error({ name }, 'a listener for changes of connections failed')
  }
  return {
    listen(listener: ChangeListener): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    publish(ref: ConnectionRef, change: Change): void {
      const events = eventsOf(change.before, change.after)
      for (const event of events) logEvent(log, event, change)
      for (const listener of listeners) (async () => listener(ref, events, change))().catch(logFailure)
    },
  }
}

function logEvent(log: Log, event: ConnectionEvent, { before, after }: Change): void {
  const { consent } = after
  switch (event.type) {
    case 'connected':
      log.info({ consent }, 'account connected')
      if (after.status === 'active' && !after.renewable) {
        const expiresAt = after.expiresAt === null ? null : new Date(after.expiresAt).toISOString()
        log.warn({ consent, expiresAt }, NO_REFRESH_TOKEN)
      }
      break
    case 'revoked':
      log.warn({ consent, reason: event.reason }, 'access to an account has ended')
      break
    case 'disconnected':
      log.info({ consent: before.consent }, 'account disconnected')
      break
    // A failed token request has already been logged, with its reason.
    case 'refreshFailed':
    case 'refreshed':
    case 'recovered':
      break
    default:
      event satisfies never
  }
}
