import type { Logger } from 'pino'
import {
  ConnectionRevoked,
  GrantRejected,
  Misconfigured,
  NotConnected,
  PlatformError,
  PlatformUnavailable,
} from '../platform/errors.ts'
import type { OAuth, Tokens } from '../platform/oauth.ts'
import type { ActiveConnection, Connection, RevokedConnection } from './connection.ts'
import type { Gate, Pass, Pause } from './gate.ts'
import type { Records, Stored } from './records.ts'

export interface RefreshOptions {
  records: Records
  gate: Gate
  oauth: Pick<OAuth, 'refresh'>
  log: Logger
  now: () => number
  /** A refresh, its waits included, ends by then, in ms. */
  deadlineMs?: number
}

export interface Refresher {
  /**
   * A connection newer than `seen`: refreshed by us, by another caller or process, or consented again.
   * One request to the platform however many ask. Throws `NotConnected`, `ConnectionRevoked`, `Misconfigured`,
   * `PlatformUnavailable`, `PlatformRejected`, `StoreUnavailable`.
   */
  refresh(seen: Stored<ActiveConnection>): Promise<ActiveConnection>
  /** Resolves when no refresh is under way. */
  idle(): Promise<void>
}

/** How long one token answer without `expires_in` is taken to live, in ms. */
const ASSUMED_LIFE_MS = 300_000
const POLL_MS = 50
const REVOKED =
  'The platform no longer accepts this grant (invalid_grant): the user revoked it, or it ended there.'
const ENDED = 'The access ended, and the platform had given no refresh token.'

export function createRefresher({
  records,
  gate,
  oauth,
  log,
  now,
  deadlineMs = 20_000,
}: RefreshOptions): Refresher {
  /** Refreshes under way in this process, by the exact record that they start from. */
  const underWay = new Map<string, Promise<ActiveConnection>>()

  function refresh(seen: Stored<ActiveConnection>): Promise<ActiveConnection> {
    const shared = underWay.get(seen.sealed)
    if (shared) return shared
    const started = take(seen).finally(() => underWay.delete(seen.sealed))
    underWay.set(seen.sealed, started)
    return started
  }

  /** Takes the turn to refresh, or waits for whoever has it and uses what they got. */
  async function take(seen: Stored<ActiveConnection>): Promise<ActiveConnection> {
    const { userId, context } = seen.connection
    const ends = now() + deadlineMs
    for (let wait = POLL_MS; ; wait = Math.min(wait * 1.2, 4 * POLL_MS)) {
      const turn = await gate.enter(userId, context)
      // Read after the turn is known: whoever had it before us wrote before letting go.
      const latest = await records.read(userId, context).catch(async (error: unknown) => {
        if (typeof turn === 'object' && 'leave' in turn) await leave(turn)
        throw error
      })
      if (typeof turn === 'object' && 'leave' in turn) return underLease(turn, seen, latest)
      const newer = newerThan(seen, latest)
      if (newer) return newer
      if (turn !== 'busy') throw pausedError(turn)
      if (now() > ends) throw new PlatformUnavailable('another process has been refreshing for too long')
      await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())))
    }
  }

  async function underLease(pass: Pass, seen: Stored<ActiveConnection>, latest: Stored | null) {
    try {
      const newer = newerThan(seen, latest)
      const result = newer ?? (await send(active(latest)))
      await leave(pass)
      return result
    } catch (error) {
      if (!(error instanceof PlatformError && error.status >= 500)) {
        await leave(pass)
        throw error
      }
      const because = error instanceof Misconfigured ? 'misconfigured' : 'unavailable'
      log[because === 'misconfigured' ? 'error' : 'warn'](
        { grantId: seen.connection.grantId, code: error.code, reason: error.reason },
        'refresh failed',
      )
      await pass.leavePaused(because, error.retryAfterMs).catch(() => {})
      throw error
    }
  }

  /** The one request to the platform, and what its answer makes of the record. */
  async function send(read: Stored<ActiveConnection>): Promise<ActiveConnection> {
    const { refreshToken, context } = read.connection
    if (refreshToken === null) return revoke(read, ENDED)
    let tokens: Tokens
    try {
      tokens = await oauth.refresh({ refreshToken, context })
    } catch (error) {
      if (error instanceof GrantRejected) return revoke(read, REVOKED)
      throw error
    }
    return keep(read, tokens)
  }

  /** Writes the new tokens, unless the record is gone, of a newer grant, or already fresher than ours. */
  async function keep(read: Stored<ActiveConnection>, tokens: Tokens): Promise<ActiveConnection> {
    const at = now()
    for (let latest = read; ; ) {
      const next = withTokens(latest.connection, tokens, at)
      const written = await records.replace(latest, next)
      if (written) {
        log.info({ grantId: next.grantId, expiresAt: next.expiresAt }, 'token refreshed')
        return next
      }
      const found = active(await records.read(next.userId, next.context))
      const theirs = found.connection
      if (theirs.grantId !== next.grantId || theirs.issuedAt >= at) return theirs
      latest = found
    }
  }

  /** Marks the grant as ended, unless the record changed since: then somebody holds better tokens. */
  async function revoke(read: Stored<ActiveConnection>, revokedBecause: string): Promise<ActiveConnection> {
    for (let latest = read; ; ) {
      const { userId, context, grantId, scopes, connectedAt, refreshedAt } = latest.connection
      const revokedAt = now()
      const next: RevokedConnection = {
        status: 'revoked',
        ...{ userId, context, grantId, scopes, connectedAt, refreshedAt, revokedAt, revokedBecause },
      }
      if (await records.replace(latest, next)) {
        log.warn({ grantId, revokedBecause }, 'connection revoked')
        throw revokedError(next)
      }
      const found = active(await records.read(userId, context))
      const sameTokens =
        found.connection.accessToken === latest.connection.accessToken && found.connection.grantId === grantId
      if (!sameTokens) return found.connection
      latest = found
    }
  }

  /** What a waiter may use: an active record that is not the one it found stale. */
  function newerThan(seen: Stored, latest: Stored | null): ActiveConnection | null {
    const found = active(latest)
    return found.sealed !== seen.sealed && found.connection.expiresAt > now() ? found.connection : null
  }

  async function leave(pass: Pass): Promise<void> {
    // A lease that cannot be released ends by itself; what was refreshed is stored already.
    await pass.leave().catch(() => {})
  }

  return {
    refresh,
    idle: async () => {
      await Promise.allSettled(underWay.values())
    },
  }
}

/** The connection with the tokens of an answer; counted from our own clock, so that the platform's does not matter. */
export function withTokens(
  connection: Omit<ActiveConnection, 'accessToken' | 'issuedAt' | 'expiresAt'>,
  tokens: Tokens,
  at: number,
): ActiveConnection {
  return {
    ...connection,
    accessToken: tokens.accessToken,
    refreshToken: tokens.refreshToken ?? connection.refreshToken,
    scopes: tokens.scopes ?? connection.scopes,
    issuedAt: at,
    refreshedAt: at,
    expiresAt: at + (tokens.expiresIn === undefined ? ASSUMED_LIFE_MS : tokens.expiresIn * 1000),
  }
}

/** The record if it can be used. Throws `NotConnected`, `ConnectionRevoked`. */
export function active(stored: Stored | null): Stored<ActiveConnection> {
  if (!stored) throw new NotConnected()
  if (isActive(stored)) return stored
  throw revokedError(stored.connection as RevokedConnection)
}

function isActive(stored: Stored<Connection>): stored is Stored<ActiveConnection> {
  return stored.connection.status === 'active'
}

function revokedError({ revokedAt, revokedBecause }: RevokedConnection): ConnectionRevoked {
  return new ConnectionRevoked(new Date(revokedAt).toISOString(), revokedBecause)
}

function pausedError({ because, forMs }: Pause): PlatformError {
  return because === 'misconfigured'
    ? new Misconfigured('refreshing is paused after a configuration error')
    : new PlatformUnavailable('refreshing is paused after a failure', forMs)
}
