/**
 * Some platforms do not answer `invalid_grant` to a revoked refresh token, but another 4xx: an empty 400, a 404, a code of
 * their own. Alone, that may as well be a fault of the platform. It counts as the end of access if the API rejects the
 * access token as well, or if the token has expired and the refresh is refused again at least 30 s later. The tokens are
 * kept: later attempts go on, and a success restores the connection.
 */

import { connectionChannel, publish } from '../events.ts'
import type { Log } from '../log.ts'
import type { Platform } from '../platform/contract.ts'
import { ConnectionRevokedError } from '../platform/errors.ts'
import type { ActiveConnection } from './connection.ts'
import type { HealthRecords, Refusal, RefusalChange } from './health.ts'

interface RefusalDependencies {
  platform: Platform
  health: HealthRecords
  log: Log
}

/** Why a connection whose access is refused counts as revoked. */
export const REFUSED_REASON =
  'The platform rejects the access token and refuses to renew it, without saying why: the user revoked access, or it expired.'

/** Records that the platform refused to refresh this connection. Throws `StoreUnavailableError`. */
export async function noteRefusal(
  deps: RefusalDependencies,
  connection: ActiveConnection,
  expired: boolean,
): Promise<void> {
  report(deps, connection, await deps.health.noteRefusal(connection, connection.grantId, expired))
}

/**
 * Records that the API rejects the access token, too. Resolves to the refusal, or to null if the platform has not refused
 * a refresh since the last call or refresh that worked. Throws `StoreUnavailableError`.
 */
export async function confirmRefusal(
  deps: RefusalDependencies,
  connection: ActiveConnection,
): Promise<Refusal | null> {
  const refusal = await deps.health.confirmRefusal(connection, connection.grantId)
  report(deps, connection, refusal)
  return refusal
}

function report(
  { platform, log }: RefusalDependencies,
  connection: ActiveConnection,
  refusal: RefusalChange | null,
) {
  if (!refusal?.isNew) return
  log.warn({ grantId: connection.grantId, reason: REFUSED_REASON }, 'access refused')
  const event = { type: 'revoked', platform: platform.name, reason: REFUSED_REASON } as const
  publish(connectionChannel, event, connection)
}

/** The refusal that counts as the end of access to this connection, or null. Throws `StoreUnavailableError`. */
export async function findRefusal(
  health: HealthRecords,
  connection: ActiveConnection,
): Promise<Refusal | null> {
  return refusalOf(connection, (await health.read(connection)).refused)
}

/** The refusal, if it is one of this grant and counts as the end of access. */
export const refusalOf = ({ grantId }: ActiveConnection, refused: Refusal | null): Refusal | null =>
  refused?.confirmed && refused.grantId === grantId ? refused : null

export const refusedError = ({ since }: Refusal) =>
  new ConnectionRevokedError(new Date(since).toISOString(), REFUSED_REASON)
