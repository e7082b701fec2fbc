import { connectionChannel, publish, recordChannel } from '../events.ts'
import type { Log } from '../log.ts'
import { NotConnectedError, PlatformError } from '../platform/errors.ts'
import type { OAuth } from '../platform/oauth.ts'
import { retry } from '../store/retry.ts'
import { type ActiveConnection, type Connection, type ConnectionRef, REVOKED_REASONS } from './connection.ts'
import {
  addToIndex,
  removeGrant,
  type SavedConsent,
  saveConsent,
  type WriteDependencies,
} from './connection-writes.ts'
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

/** As long as a consent that could not be stored is retried. */
const NOTE_RETRIES = { timeoutMs: 600_000, pauseMs: 100, maxPauseMs: 1_000 }
/** By how much the clocks of two machines may differ, in ms. */
const CLOCK_TOLERANCE_MS = 5_000

/** Deletes a connection, and revokes its grant. */
export async function disconnect(
  deps: DisconnectDependencies,
  ref: ConnectionRef,
): Promise<WithdrawnConsent | null> {
  const { connections, unsaved, index, health, lastUse, now } = deps
  // Before the record is read: another process that writes a consent now looks for the note after that. A store that is full
  // may refuse it, and delete nevertheless.
  const at = now()
  const note = () => connections.noteDisconnect(ref, at)
  const noted = note()
  await noted.catch(() => {})
  const unsavedBefore = unsaved.find(ref)
  const removed = await removeRecord(deps, ref)
  // There may be room for it now, or later.
  if (removed) await noted.catch(note).catch(() => void retry(note, NOTE_RETRIES).catch(() => {}))
  const unsavedConnection = unsaved.find(ref) ?? unsavedBefore
  unsaved.forget(ref)
  // Unsaved tokens may have been stored in the meantime. If they cannot be removed, they are as soon as the store allows it.
  const removedLater = unsavedConnection ? await removeRecord(deps, ref).catch(() => null) : null
  await Promise.allSettled([index.remove(ref), health.clear(ref), lastUse.clear(ref)])
  // The user may have connected the account again meanwhile.
  await addToIndex(deps, ref).catch(() => {})
  if (!removed && !removedLater && !unsavedConnection) {
    // Another process may have tokens that it could not store yet: without the note they would be.
    await noted
    return null
  }
  publish(recordChannel, { action: 'deleted', written: true }, ref)
  announceDisconnect(deps, ref)
  const unsavedRecord = unsavedConnection ? { connection: unsavedConnection } : null
  return withdrawConsents(
    deps,
    [removed, removedLater, unsavedRecord].filter((record) => record !== null),
  )
}

/** Logs and publishes that an account is disconnected. */
export function announceDisconnect(
  { platform, log }: Pick<WriteDependencies, 'platform' | 'log'>,
  ref: ConnectionRef,
): void {
  log.info('account disconnected')
  publish(connectionChannel, { type: 'disconnected', platform: platform.name }, ref)
}

interface RemovedRecord {
  /** Undefined if it could not be decrypted. */
  connection: Connection | undefined
}

/** Revokes each grant of these records once, by its latest tokens. Resolves to the worst outcome. */
async function withdrawConsents(
  deps: DisconnectDependencies,
  records: readonly RemovedRecord[],
): Promise<WithdrawnConsent> {
  const requestedAt = ({ connection }: RemovedRecord) =>
    connection?.status === 'active' ? connection.requestedAt : 0
  const latestLast = records.toSorted((one, other) => requestedAt(one) - requestedAt(other))
  const grants = new Map(latestLast.map(({ connection }) => [connection?.grantId, connection]))
  const outcomes = await Promise.all([...grants.values()].map((grant) => withdrawConsent(deps, grant)))
  return outcomes.find((outcome) => outcome !== 'withdrawn') ?? 'withdrawn'
}

/**
 * Deletes the record as it is at that moment: if it can be decrypted, tokens that are written between reading and deleting are
 * read again, so that they are revoked too. Resolves to null if there was no record.
 */
async function removeRecord(deps: DisconnectDependencies, ref: ConnectionRef): Promise<RemovedRecord | null> {
  const { connections } = deps
  for (;;) {
    const stored = await connections.read(ref).catch(onlyUnreadable)
    if (stored === null) return null
    if (stored === 'unreadable') return (await connections.remove(ref)) ? { connection: undefined } : null
    const { connection } = stored
    const isRemoved = await connections.removeIfUnchanged(stored).catch(async (error: unknown) => {
      const latest = await connections.read(ref).catch(() => 'unknown' as const)
      if (latest !== 'unknown' && latest?.connection.grantId !== connection.grantId) return true
      // The record may be deleted nevertheless, and with it the tokens to revoke the grant by.
      if (latest === 'unknown') await withdrawConsent(deps, connection)
      throw error
    })
    if (isRemoved) return { connection }
  }
}

function onlyUnreadable(error: unknown): 'unreadable' {
  if (error instanceof DecryptionError) return 'unreadable'
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
 * Stores a new consent. If a disconnect is noted since it was requested, removes it again and revokes its latest tokens. It can
 * be called again if the store fails. Throws `NotConnectedError`, `StoreUnavailableError`.
 */
export async function saveConsentOrWithdraw(
  deps: WriteDependencies & { oauth: Pick<OAuth, 'revoke'> },
  connection: ActiveConnection,
): Promise<SavedConsent> {
  if (!(await isDisconnectedSince(deps, connection))) {
    const saved = await saveConsent(deps, connection)
    // Again after the write: a disconnect notes itself first, and then deletes what it finds.
    if (!(await isDisconnectedSince(deps, connection))) return saved
  }
  const removed = await removeGrant(deps, connection)
  await withdrawConsent(deps, removed ?? connection)
  throw new NotConnectedError()
}

async function isDisconnectedSince(
  { connections, now }: WriteDependencies,
  connection: ActiveConnection,
): Promise<boolean> {
  const disconnectedAt = (await connections.disconnectedAt(connection)) ?? 0
  // A time further in the future comes from a machine whose clock is wrong; it proves nothing.
  return disconnectedAt > connection.connectedAt && disconnectedAt <= now() + CLOCK_TOLERANCE_MS
}

/**
 * Writes refreshed tokens. If the user has disconnected meanwhile, only earlier tokens were revoked then, so these are revoked
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
