import {
  ConnectionRevokedError,
  NotConnectedError,
  PlatformError,
  RefreshTooSoonError,
} from '../../connect/errors.ts'
import type { Connection, ConnectionRef, Vault } from '../../connect/index.ts'
import { type Counts, NO_COUNTS } from './sweep-state.ts'

/**
 * Refreshes the user's tokens that were neither used nor refreshed since a time, in ms: refresh tokens that end when they are not
 * used stay alive, and a revocation is noticed. Resolves to what the connections are then. Throws `StoreUnavailableError`.
 */
export async function refreshUnused(
  vault: Pick<Vault, 'list' | 'refresh'>,
  userId: string,
  since: number,
): Promise<Counts> {
  const counts = { ...NO_COUNTS }
  for (const connection of await vault.list(userId)) {
    if (!('tokens' in connection)) counts.unreadable++
    else if (isUnused(connection, since)) {
      const state = await refresh(vault, { userId, bxcontext: connection.bxcontext }, counts)
      if (state) counts[state]++
    } else counts[connection.view.state === 'revoked' ? 'revoked' : 'active']++
  }
  return counts
}

/** Without a refresh token there is nothing to keep alive. */
const isUnused = ({ tokens, lastUsedAt }: Connection, since: number) =>
  tokens !== null && tokens.refreshToken !== 'none' && tokens.issuedAt <= since && (lastUsedAt ?? 0) <= since

async function refresh(
  vault: Pick<Vault, 'refresh'>,
  ref: ConnectionRef,
  counts: Counts,
): Promise<'active' | 'revoked' | null> {
  try {
    await vault.refresh(ref, { manual: false })
    counts.refreshed++
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    if (error instanceof NotConnectedError) return null
    if (error instanceof ConnectionRevokedError) return 'revoked'
    // Another process was faster.
    if (!(error instanceof RefreshTooSoonError)) counts.failed++
  }
  return 'active'
}
