/**
 * Some platforms do not answer `invalid_grant` to a revoked refresh token, but another 4xx: an empty 400, a 404, a code of
 * their own. Alone, that may as well be a fault of the platform. It counts as the end of access if the API rejects the
 * current access token as well, or if the token has expired and the refresh is refused again at least 30 s later. The tokens are
 * kept: later attempts go on, and a success restores the connection.
 */
import type { Logger } from 'pino'
import { connectionChannel, publish } from '../events.ts'
import { ConnectionRevokedError } from '../platform/errors.ts'
import type { ActiveConnection } from './connection.ts'
import type { HealthRecords, Refusal } from './health.ts'

interface RefusalDependencies {
  health: HealthRecords
  log: Logger
}

/** Why a connection whose access is refused counts as revoked. */
export const REFUSED_REASON =
  'The platform rejects the access token and refuses to renew it, without saying why: the user revoked access, or it expired.'

/**
 * Records a refused refresh of a connection whose access token no longer works. `confirmed`: the API has rejected the
 * token. Throws `StoreUnavailableError`.
 */
export async function noteRefusal(
  { health, log }: RefusalDependencies,
  connection: ActiveConnection,
  confirmed: boolean,
): Promise<Refusal> {
  const { grantId } = connection
  const refusal = await health.noteRefusal(connection, grantId, confirmed)
  if (refusal.isNew) {
    log.warn({ grantId, reason: REFUSED_REASON }, 'access refused')
    publish(connectionChannel, { type: 'revoked', reason: REFUSED_REASON }, connection)
  }
  return refusal
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
