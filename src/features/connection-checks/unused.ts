import {
  ConnectionRevokedError,
  NotConnectedError,
  PlatformError,
  RefreshTooSoonError,
} from '../../connect/errors.ts'
import type { Connection, Vault } from '../../connect/index.ts'
import type { Counts } from './round.ts'

/**
 * Refreshes a user's tokens that were neither used nor refreshed after `since` (ms since 1970), and those that the platform
 * has refused. This keeps idle refresh tokens alive, and detects revoked or restored access. Adds refreshes, failures and the
 * resulting states of the connections to `counts`. Throws `StoreUnavailableError`.
 */
export async function refreshUnused(
  vault: Pick<Vault, 'list' | 'refresh'>,
  userId: string,
  since: number,
  counts: Counts,
): Promise<void> {
  let connections = await vault.list(userId)
  const unused = connections.flatMap((one) => ('tokens' in one && isDue(one, since) ? [one.bxcontext] : []))
  for (const bxcontext of unused) {
    try {
      await vault.refresh({ userId, bxcontext }, { manual: false })
      counts.refreshed++
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error
      if (!isNoFailure(error)) counts.failed++
    }
  }
  if (unused.length > 0) connections = await vault.list(userId)
  for (const { view } of connections) counts[view.state]++
}

/** A connection without a refresh token cannot be refreshed. */
const isDue = ({ tokens, lastUsedAt, view }: Connection, since: number) =>
  tokens?.renewable && (view.state === 'revoked' || (tokens.issuedAt <= since && (lastUsedAt ?? 0) <= since))

/** Errors that do not count as a failed check: the connection has ended, or its tokens were refreshed in the meantime. */
const isNoFailure = (error: PlatformError) =>
  error instanceof ConnectionRevokedError ||
  error instanceof NotConnectedError ||
  error instanceof RefreshTooSoonError
