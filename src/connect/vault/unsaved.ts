import type { Log } from '../log.ts'
import { ConnectionRevokedError, NotConnectedError } from '../platform/errors.ts'
import { retry, sleep } from '../store/retry.ts'
import { StoreUnavailableError } from '../store/store.ts'
import { type ActiveConnection, type ConnectionRef, refName } from './connection.ts'

export interface UnsavedTokens {
  /**
   * Stores received tokens with `write`. If the store refuses them, keeps them in memory and retries with growing pauses
   * for at most ten minutes: `isUnsaved` is true then, and `saved` resolves (it never rejects) once they are written or
   * lost. `undo` removes tokens that were written after `forget`. Throws the errors of `write` other than
   * `StoreUnavailableError`.
   */
  save(
    connection: ActiveConnection,
    write: () => Promise<ActiveConnection>,
    undo: () => Promise<unknown>,
  ): Promise<{ connection: ActiveConnection; saved: Promise<void>; isUnsaved: boolean }>
  /** The connection whose tokens are not stored yet. */
  find(ref: ConnectionRef): ActiveConnection | undefined
  ofUser(userId: string): ActiveConnection[]
  /** Discards the tokens of a connection that was disconnected. */
  forget(ref: ConnectionRef): void
  /** Resolves when all tokens are stored, lost, or removed again. */
  idle(): Promise<void>
  /** Stops retrying and logs the tokens as lost, because the process stops; a write in flight may still store them. */
  discard(): void
}

interface UnsavedEntry {
  connection: ActiveConnection
  write(): Promise<ActiveConnection>
  undo(): Promise<unknown>
  saved: Promise<void>
  /** Whether the connection was disconnected. */
  isForgotten: boolean
}
type Entries = Map<string, UnsavedEntry>

const FIRST_PAUSE_MS = 100
/** Shorter than the next holder of the refresh lock waits for the tokens. */
const MAX_PAUSE_MS = 1_000
const RETRY_FOR_MS = 600_000

/**
 * Keeps tokens that were received but could not be stored. A platform that rotates refresh tokens has no other copy, so
 * a store that is full, read-only or failing over must not lose them.
 */
export function createUnsavedTokens(log: Log): UnsavedTokens {
  const entries: Entries = new Map()
  /** Of forgotten entries as well: they remove what they have written. */
  const unfinished = new Set<Promise<void>>()
  return {
    async save(connection, write, undo) {
      const name = refName(connection)
      try {
        const written = await write()
        if (!newerEntry(entries.get(name), connection)) entries.delete(name)
        return { connection: written, saved: Promise.resolve(), isUnsaved: false }
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error
        const newer = newerEntry(entries.get(name), connection)
        if (newer) return { connection: newer.connection, saved: newer.saved, isUnsaved: true }
        const { grantId } = connection
        log.error(
          { code: 'tokens_unsaved', grantId, reason: error.reason },
          'received tokens could not be stored yet; retrying',
        )
        const entry: UnsavedEntry = { connection, write, undo, saved: Promise.resolve(), isForgotten: false }
        entries.set(name, entry)
        entry.saved = writeLater(entries, entry, log)
          .catch(() => {})
          .finally(() => {
            if (entries.get(name) === entry) entries.delete(name)
            unfinished.delete(entry.saved)
          })
        unfinished.add(entry.saved)
        return { connection, saved: entry.saved, isUnsaved: true }
      }
    },

    find: (ref) => (entries.size === 0 ? undefined : entries.get(refName(ref))?.connection),

    ofUser: (userId) =>
      [...entries.values()].map(({ connection }) => connection).filter((entry) => entry.userId === userId),

    forget(ref) {
      const entry = entries.get(refName(ref))
      if (entry) entry.isForgotten = true
      entries.delete(refName(ref))
    },

    idle: async () => {
      await Promise.all(unfinished)
    },

    discard() {
      for (const { connection } of entries.values()) logLost(log, connection, 'the app was stopped')
      entries.clear()
    },
  }
}

/** Retries until the store accepts the tokens; stops if newer tokens or a disconnect replace the entry. */
async function writeLater(entries: Entries, entry: UnsavedEntry, log: Log): Promise<void> {
  const { connection, write, undo } = entry
  const name = refName(connection)
  const writeOnce = async () => {
    // The connection was disconnected, perhaps during a write.
    if (entry.isForgotten) return void (await undo())
    if (entries.get(name) !== entry) return
    await write()
    if (entry.isForgotten) return void (await undo())
    log.info({ grantId: connection.grantId }, 'received tokens were stored after the store had failed')
  }
  await sleep(FIRST_PAUSE_MS)
  try {
    await retry(writeOnce, { timeoutMs: RETRY_FOR_MS, pauseMs: 2 * FIRST_PAUSE_MS, maxPauseMs: MAX_PAUSE_MS })
  } catch (error) {
    if (error instanceof NotConnectedError || error instanceof ConnectionRevokedError) return
    logLost(
      log,
      connection,
      error instanceof StoreUnavailableError ? error.reason : (error as Error | null)?.name,
    )
  }
}

function logLost(log: Log, { grantId }: ActiveConnection, reason = 'unknown'): void {
  log.error({ code: 'tokens_lost', grantId, reason }, 'received tokens could not be stored and are lost')
}

/** The entry, if it is newer: a refresh of an earlier grant may end after a new consent. */
function newerEntry(entry: UnsavedEntry | undefined, connection: ActiveConnection): UnsavedEntry | undefined {
  if (!entry) return undefined
  const { grantId, requestedAt, connectedAt } = entry.connection
  // Of two grants the later consent wins, whenever their tokens were requested.
  const newer =
    grantId === connection.grantId
      ? requestedAt > connection.requestedAt
      : connectedAt > connection.connectedAt
  return newer ? entry : undefined
}
