import type { Logger } from 'pino'
import { ConnectionRevokedError, NotConnectedError } from '../platform/errors.ts'
import { StoreUnavailableError } from '../store/store.ts'
import type { ActiveConnection } from './connection.ts'

export interface UnsavedTokens {
  /**
   * Writes tokens that the platform has given, with `write`. When the store does not take them, they are held in
   * memory and written again with growing pauses, for at most ten minutes; `saved` then resolves when they are written
   * or given up, and never rejects. `undo` removes what was written after `forget`. Errors of `write` other than
   * `StoreUnavailableError` are thrown.
   */
  save(
    connection: ActiveConnection,
    write: () => Promise<ActiveConnection>,
    undo: () => Promise<void>,
  ): Promise<{ connection: ActiveConnection; saved: Promise<void>; pending: boolean }>
  /** The tokens that the store has not taken yet. */
  find(userId: string, context: string): ActiveConnection | undefined
  ofUser(userId: string): ActiveConnection[]
  /** The connection is disconnected. */
  forget(userId: string, context: string): void
  /** Resolves when nothing is unsaved. */
  idle(): Promise<void>
  /** Logs what is unsaved as lost: the process ends. */
  giveUp(): void
}

interface Held {
  connection: ActiveConnection
  write(): Promise<ActiveConnection>
  undo(): Promise<void>
  saved: Promise<void>
}

const FIRST_PAUSE_MS = 100
/** Shorter than the next holder of the refresh lock waits for the tokens. */
const MAX_PAUSE_MS = 1_000
const GIVE_UP_MS = 600_000

/**
 * Tokens that were received and not stored: on a platform that rotates refresh tokens they are the only copy, so a store
 * that is full, read-only or failing over must not lose them.
 */
export function createUnsavedTokens(log: Logger): UnsavedTokens {
  const held = new Map<string, Held>()
  const placeOf = (userId: string, context: string) => JSON.stringify([userId, context])

  /** Writes until the store takes it; ends when newer tokens or a disconnect take the place of these. */
  async function retry(place: string, entry: Held): Promise<void> {
    const { connection, write, undo } = entry
    const { grantId } = connection
    const giveUpAt = performance.now() + GIVE_UP_MS
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random() / 2)))
      if (held.get(place) !== entry) return
      try {
        await write()
        // Disconnected while the write was under way.
        if (!held.has(place)) return await undo()
        log.info({ grantId }, 'received tokens were stored after the store had failed')
        return
      } catch (error) {
        // The connection is gone.
        if (error instanceof NotConnectedError || error instanceof ConnectionRevokedError) return
        const { name } = (error ?? {}) as { name?: string }
        if (!(error instanceof StoreUnavailableError)) return lost(connection, name ?? 'unknown')
        if (performance.now() > giveUpAt) return lost(connection, error.reason ?? 'unknown')
      }
    }
  }

  function lost({ grantId }: ActiveConnection, reason: string): void {
    log.error({ code: 'tokens_lost', grantId, reason }, 'received tokens could not be stored and are lost')
  }

  /** Newer tokens that wait for the store: a refresh of an earlier grant may end after a new consent. */
  function newerHeld(
    place: string,
    { grantId, connectedAt, requestedAt }: ActiveConnection,
  ): Held | undefined {
    const entry = held.get(place)
    if (!entry) return undefined
    const theirs = entry.connection
    // Of two grants the later consent counts, whenever their tokens were requested.
    const newer =
      theirs.grantId === grantId ? theirs.requestedAt > requestedAt : theirs.connectedAt > connectedAt
    return newer ? entry : undefined
  }

  return {
    async save(connection, write, undo) {
      const place = placeOf(connection.userId, connection.context)
      try {
        const written = await write()
        if (!newerHeld(place, connection)) held.delete(place)
        return { connection: written, saved: Promise.resolve(), pending: false }
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error
        const newer = newerHeld(place, connection)
        if (newer) return { connection: newer.connection, saved: newer.saved, pending: true }
        const { grantId } = connection
        log.error(
          { code: 'tokens_unsaved', grantId, reason: error.reason },
          'received tokens could not be stored yet; trying again',
        )
        const entry: Held = { connection, write, undo, saved: Promise.resolve() }
        held.set(place, entry)
        entry.saved = retry(place, entry)
          .catch(() => {})
          .finally(() => {
            if (held.get(place) === entry) held.delete(place)
          })
        return { connection, saved: entry.saved, pending: true }
      }
    },

    find: (userId, context) => (held.size === 0 ? undefined : held.get(placeOf(userId, context))?.connection),

    ofUser: (userId) =>
      [...held.values()].map(({ connection }) => connection).filter((entry) => entry.userId === userId),

    forget: (userId, context) => void held.delete(placeOf(userId, context)),

    idle: async () => {
      await Promise.all([...held.values()].map(({ saved }) => saved))
    },

    giveUp() {
      for (const { connection } of held.values()) lost(connection, 'the app was stopped')
      held.clear()
    },
  }
}
