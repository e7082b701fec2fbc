import { connectionChannel, publish, recordChannel } from '../events.ts'
import type { Log } from '../log.ts'
import { NotConnectedError, PlatformError } from '../platform/errors.ts'
import type { OAuth } from '../platform/oauth.ts'
import { type ActiveConnection, type Connection, type ConnectionRef, REVOKED_REASONS } from './connection.ts'
import type { WriteDependencies } from './connection-writes.ts'
import { DecryptionError } from './encryption.ts'
import type { LastUse } from './last-use.ts'
import type { UnsavedTokens } from './unsaved.ts'

/**
 * What became of the consent on the platform: `remains` if the platform has no revocation endpoint, `unknown` if it did not
 * confirm the revocation, or there were no tokens to revoke it by.
 */
export type WithdrawnConsent = 'withdrawn' | 'remains' | 'unknown'

interface DisconnectDependencies extends WriteDependencies {
  oauth: Pick<OAuth, 'revoke'>
  unsaved: UnsavedTokens
  lastUse: LastUse
}

/** Deletes a connection, and revokes its grant. */
export async function disconnect(
  deps: DisconnectDependencies,
  ref: ConnectionRef,
): Promise<WithdrawnConsent | null> {
  const { platform, unsaved, connections, index, health, lastUse, log } = deps
  const unsavedConnection = unsaved.find(ref)
  const wasUnsaved = unsavedConnection !== undefined
  // A record that cannot be decrypted can be deleted nevertheless.
  const connection = unsavedConnection ?? (await connections.read(ref).catch(onlyUnreadable))?.connection
  const removed = (await connections.remove(ref)) || wasUnsaved
  unsaved.forget(ref)
  // Unsaved tokens may have been stored in the meantime.
  if (wasUnsaved) await connections.remove(ref)
  await Promise.all([index.remove(ref), health.clear(ref), lastUse.clear(ref)]).catch(() => {})
  if (!removed) return null
  log.info('account disconnected')
  publish(recordChannel, { action: 'deleted', written: true }, ref)
  publish(connectionChannel, { type: 'disconnected', platform: platform.name }, ref)
  return withdrawConsent(deps, connection)
}

function onlyUnreadable(error: unknown): null {
  if (error instanceof DecryptionError) return null
  throw error
}

/** Revokes the grant of a deleted connection (RFC 7009). */
async function withdrawConsent(
  { oauth, log }: { oauth: Pick<OAuth, 'revoke'>; log: Log },
  connection: Connection | undefined,
): Promise<WithdrawnConsent> {
  const isRevoked = connection?.status === 'revoked'
  if (isRevoked && connection.revokedReason === REVOKED_REASONS.invalidGrant) return 'withdrawn'
  if (!oauth.revoke) return 'remains'
  // There are no tokens to revoke it by.
  if (!connection || isRevoked) return 'unknown'
  const { accessToken, refreshToken } = connection
  try {
    if (refreshToken === null) await oauth.revoke(accessToken, 'access_token')
    else await oauth.revoke(refreshToken, 'refresh_token')
    return 'withdrawn'
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    log.warn(
      { code: error.code, reason: error.reason },
      'the grant of a disconnected account was not revoked',
    )
    return 'unknown'
  }
}

/**
 * Writes received tokens. If the user has disconnected meanwhile, only earlier tokens were revoked then, so these are revoked
 * now. Throws the errors of `write`.
 */
export async function saveOrWithdraw(
  deps: { oauth: Pick<OAuth, 'revoke'>; log: Log },
  connection: ActiveConnection,
  write: () => Promise<ActiveConnection>,
): Promise<ActiveConnection> {
  try {
    return await write()
  } catch (error) {
    if (error instanceof NotConnectedError) await withdrawConsent(deps, connection)
    throw error
  }
}
