import { ConnectionRevokedError, NotConnectedError } from '../platform/errors.ts'
import { StoreUnavailableError } from '../store/store.ts'
import { type ActiveConnection, isExpired } from './connection.ts'
import { assertActive } from './connection-repository.ts'
import type { LastUse } from './last-use.ts'
import { isRefreshedRecently, type Refresher, type RefreshOptions } from './refresh.ts'

/** The connections of a user after a check, and what the check did. */
export interface UnusedCheck {
  active: number
  revoked: number
  /** Records that cannot be decrypted. */
  unreadable: number
  /** How many tokens were refreshed. */
  refreshed: number
  /** The errors of refreshes that failed; a revocation is none. */
  failures: Error[]
}

interface UnusedDependencies extends RefreshOptions {
  refresher: Refresher
  lastUse: LastUse
}

/** Refreshes the tokens of a user's connections that were neither used nor refreshed for `unusedMs`. */
export async function refreshUnused(
  deps: UnusedDependencies,
  userId: string,
  unusedMs: number,
): Promise<UnusedCheck> {
  const { connections, unsaved } = deps
  const check: UnusedCheck = { active: 0, revoked: 0, unreadable: 0, refreshed: 0, failures: [] }
  for (const item of await connections.list(userId, { cached: false })) {
    if ('unreadable' in item) check.unreadable++
    else if (item.connection.status === 'revoked') check.revoked++
    else {
      check.active++
      const isUnsaved = unsaved.find(item.connection) !== undefined
      if (!isUnsaved && (await isUnused(deps, item.connection, unusedMs)))
        await refreshOne(deps, item.connection, check)
    }
  }
  return check
}

async function isUnused(
  { lastUse, now }: UnusedDependencies,
  connection: ActiveConnection,
  unusedMs: number,
): Promise<boolean> {
  // Without a refresh token there is nothing to keep alive; only its end can be noticed.
  if (connection.refreshToken === null) return isExpired(connection, now())
  const since = now() - unusedMs
  return connection.issuedAt <= since && ((await lastUse.read(connection)) ?? 0) <= since
}

async function refreshOne(
  { connections, refresher }: UnusedDependencies,
  connection: ActiveConnection,
  check: UnusedCheck,
): Promise<void> {
  try {
    await refresher.refresh(assertActive(await connections.read(connection)))
    check.refreshed++
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw error
    if (error instanceof NotConnectedError) check.active--
    else if (error instanceof ConnectionRevokedError) {
      check.active--
      check.revoked++
    } else if (!isRefreshedRecently(error)) check.failures.push(error as Error)
  }
}
