import { PlatformRejectedError, TokenRefusedError } from '../platform/errors.ts'
import { StoreUnavailableError } from '../store/store.ts'
import { type ActiveConnection, type ConnectionRef, isExpired, REVOKED_REASONS } from './connection.ts'
import { assertActive, isActive } from './connection-repository.ts'
import { revoke } from './connection-writes.ts'
import type { LastUse } from './last-use.ts'
import { isRefreshedRecently, type Refresher, type RefreshOptions } from './refresh.ts'
import { confirmRefusal, refusedError } from './refusal.ts'

export interface VaultDependencies extends RefreshOptions {
  refresher: Refresher
  lastUse: LastUse
}

/** A token is refreshed in the background when less than this is left, in ms; a short-lived one, a fifth of its lifetime. */
const REFRESH_MARGIN_MS = 60_000
/** How many rejections, at least a minute apart, end a grant without a refresh token. */
const MAX_REJECTIONS = 3
export const NOT_STORED = 'the latest tokens are not stored yet'

/**
 * A token that is not stored yet, or null. Throws `StoreUnavailableError` if it has expired or is the rejected one: a
 * refresh would start from an older record.
 */
function unsavedToken({ unsaved, now }: VaultDependencies, ref: ConnectionRef, rejectedToken?: string) {
  const connection = unsaved.find(ref)
  if (!connection) return null
  if (isExpired(connection, now()) || connection.accessToken === rejectedToken)
    throw new StoreUnavailableError(NOT_STORED)
  return connection.accessToken
}

/** `Vault.accessToken`. */
export async function accessToken(deps: VaultDependencies, ref: ConnectionRef): Promise<string> {
  const { connections, refresher, now } = deps
  const notStored = unsavedToken(deps, ref)
  if (notStored !== null) return notStored
  const cached = await connections.readCached(ref)
  if (cached && isActive(cached) && !isDue(cached.connection, now())) return cached.connection.accessToken
  // The store itself decides that a token must be refreshed, or that there is none.
  const stored = assertActive(await connections.read(ref))
  const { accessToken: token, expiresAt, refreshToken } = stored.connection
  if (expiresAt === null || !isDue(stored.connection, now())) return token
  const leftMs = expiresAt - now()
  if (leftMs <= 0) {
    try {
      return (await refresher.refresh(stored)).accessToken
    } catch (error) {
      if (!isRefreshedRecently(error)) throw error
      // It expired again right after several refreshes, according to the platform. Let the API decide.
      return assertActive(await connections.read(ref)).connection.accessToken
    }
  }
  // The token still works; a failure in the background is logged, and the next call tries again.
  if (refreshToken !== null) refresher.refresh(stored).catch(() => {})
  return token
}

/** Whether a token has expired or should be refreshed in the background. */
const isDue = ({ issuedAt, expiresAt }: ActiveConnection, now: number) =>
  expiresAt !== null && expiresAt - now <= Math.min(REFRESH_MARGIN_MS, (expiresAt - issuedAt) / 5)

/** Resolves to a token to use instead of one that the API rejected. */
export async function refreshRejected(deps: VaultDependencies, ref: ConnectionRef, rejectedToken: string) {
  const { connections, refresher, health } = deps
  const notStored = unsavedToken(deps, ref, rejectedToken)
  if (notStored !== null) return notStored
  const stored = assertActive(await connections.read(ref))
  if (stored.connection.accessToken !== rejectedToken) return stored.connection.accessToken
  if (stored.connection.refreshToken !== null) {
    try {
      return (await refresher.refresh(stored)).accessToken
    } catch (error) {
      if (!(error instanceof TokenRefusedError)) throw error
      // Read again: the user may have consented again, which can end the earlier grant.
      const { connection } = assertActive(await connections.read(ref))
      if (connection.accessToken !== rejectedToken) return connection.accessToken
      const refusal = await confirmRefusal(deps, connection)
      throw refusal ? refusedError(refusal) : error
    }
  }
  // A single 401 must not end a grant whose token cannot be replaced.
  if ((await health.tokenRejected(ref)) >= MAX_REJECTIONS)
    return (await revoke(deps, stored, REVOKED_REASONS.rejected)).accessToken
  throw new PlatformRejectedError('the API rejects the access token, and there is no refresh token')
}
