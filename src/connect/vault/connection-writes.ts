/**
 * The compare-and-set writes that keep connections correct whatever happens concurrently: of two grants the later consent
 * wins, of two results for a grant the one requested later, and tokens win over a revocation of the same grant.
 */

import { connectionChannel, publish, recordChannel } from '../events.ts'
import type { Log } from '../log.ts'
import type { Platform } from '../platform/contract.ts'
import { NotConnectedError } from '../platform/errors.ts'
import type { BxcontextIndex } from './bxcontext-index.ts'
import {
  type ActiveConnection,
  type Connection,
  type ConnectionRef,
  FORMAT,
  type RevokedConnection,
} from './connection.ts'
import {
  assertActive,
  type ConnectionRepository,
  isActive,
  revokedError,
  type StoredActive,
  type StoredConnection,
} from './connection-repository.ts'
import { DecryptionError } from './encryption.ts'
import type { HealthRecords } from './health.ts'
import { findRefusal } from './refusal.ts'

export interface WriteDependencies {
  platform: Platform
  connections: ConnectionRepository
  health: HealthRecords
  index: BxcontextIndex
  log: Log
  now: () => number
}

/**
 * Writes refreshed tokens, unless the connection is gone, has a new grant, or holds the result of a later request.
 * Resolves to the connection to use. Throws `NotConnectedError`, `ConnectionRevokedError`, `StoreUnavailableError`.
 */
export async function saveTokens(
  { platform, connections, log, now }: WriteDependencies,
  read: StoredConnection,
  next: ActiveConnection,
): Promise<ActiveConnection> {
  const startedAt = Date.now()
  const written = (isWritten: boolean) =>
    publish(recordChannel, { action: 'refreshed', written: isWritten }, next, startedAt)
  const announce = () => {
    log.info({ grantId: next.grantId, expiresAt: next.expiresAt }, 'token refreshed')
    written(true)
    publish(connectionChannel, { type: 'refreshed', platform: platform.name, ...scopesOf(next) }, next)
  }
  for (let latest = read; ; ) {
    if (await connections.replace(latest, next)) {
      announce()
      if (!isActive(latest)) publish(connectionChannel, { type: 'recovered', platform: platform.name }, next)
      return next
    }
    written(false)
    const found = await connections.read(next)
    if (!found) throw new NotConnectedError()
    if (found.connection.grantId !== next.grantId) return assertActive(found).connection
    // A record that is revoked is overwritten: the platform has just issued tokens for this grant.
    if (isActive(found)) {
      const { requestedAt, accessToken } = found.connection
      // An earlier attempt has written it, and the store's answer was lost.
      if (requestedAt === next.requestedAt && accessToken === next.accessToken) {
        announce()
        return next
      }
      // A time in the future comes from a machine whose clock is ahead; it proves nothing.
      if (requestedAt >= next.requestedAt && requestedAt <= now()) return found.connection
    }
    latest = found
  }
}

/**
 * Marks the grant as revoked: the record keeps when and why, and no tokens. Three things lead here: the token endpoint
 * answers a refresh with `invalid_grant` (refresh.ts), the access token expires and there is no refresh token (refresh.ts),
 * or, without a refresh token, the API rejects the access token three times (access-token.ts).
 * Throws `ConnectionRevokedError`, unless the record has newer tokens by now: then it resolves to that connection.
 */
export async function revoke(
  { platform, connections, health, log, now }: WriteDependencies,
  read: StoredActive,
  revokedReason: string,
): Promise<ActiveConnection> {
  const startedAt = Date.now()
  // A refusal that counts as the end of access has been published as a revocation.
  const isKnown = (await findRefusal(health, read.connection).catch(() => null)) !== null
  for (let latest = read; ; ) {
    const { userId, bxcontext, grantId, scopes, connectedAt, refreshedAt, accessToken } = latest.connection
    const { businessName, userName } = latest.connection
    const next: RevokedConnection = {
      format: FORMAT,
      status: 'revoked',
      userId,
      bxcontext,
      grantId,
      businessName,
      userName,
      scopes,
      connectedAt,
      refreshedAt,
      revokedAt: now(),
      revokedReason,
    }
    if (await connections.replace(latest, next)) {
      log.warn({ grantId, revokedReason }, 'connection revoked')
      publish(recordChannel, { action: 'revoked', written: true }, next, startedAt)
      if (!isKnown) {
        const event = { type: 'revoked', platform: platform.name, reason: revokedReason } as const
        publish(connectionChannel, event, next)
      }
      await health.clear(next).catch(() => {})
      throw revokedError(next)
    }
    const found = assertActive(await connections.read(next))
    const sameTokens = found.connection.accessToken === accessToken && found.connection.grantId === grantId
    if (!sameTokens) return found.connection
    latest = found
  }
}

const scopesOf = ({ scopes }: ActiveConnection) => (scopes ? { scopes } : {})

export interface SavedConsent {
  /** The connection that is stored. */
  connection: ActiveConnection
  /** Whether this consent was written now. */
  isNew: boolean
}

/**
 * Writes a new consent over any record but that of a newer consent. It can be called again if the store fails. Throws
 * `StoreUnavailableError`.
 */
export async function saveConsent(
  { connections, now }: WriteDependencies,
  connection: ActiveConnection,
): Promise<SavedConsent> {
  const startedAt = Date.now()
  const saved = (written: boolean) =>
    publish(recordChannel, { action: 'saved', written }, connection, startedAt)
  for (;;) {
    const stored = await connections.read(connection).catch((error: unknown) => {
      if (error instanceof DecryptionError) return 'unreadable' as const
      throw error
    })
    if (stored === 'unreadable') {
      await connections.write(connection)
      saved(true)
      return { connection, isNew: true }
    }
    // It was written before, although the store did not say so; what is stored may be newer by now, or revoked.
    if (stored?.connection.grantId === connection.grantId)
      return { connection: isActive(stored) ? stored.connection : connection, isNew: false }
    if (stored && isActive(stored)) {
      const { connectedAt } = stored.connection
      // A time in the future comes from a machine whose clock is ahead; it proves nothing.
      if (connectedAt > connection.connectedAt && connectedAt <= now()) {
        saved(false)
        return { connection: stored.connection, isNew: false }
      }
    }
    const written = stored
      ? (await connections.replace(stored, connection)) !== null
      : await connections.create(connection)
    if (written) {
      saved(true)
      return { connection, isNew: true }
    }
  }
}

/** Removes a grant that was written after its connection had been disconnected. Resolves to what was removed. */
export async function removeGrant(
  { connections, index }: WriteDependencies,
  connection: ActiveConnection,
): Promise<Connection | null> {
  for (;;) {
    const stored = await connections.read(connection)
    if (stored?.connection.grantId !== connection.grantId) return null
    if (!(await connections.removeIfUnchanged(stored))) continue
    // A later disconnect removes it as well.
    await index.remove(connection).catch(() => {})
    return stored.connection
  }
}

/**
 * Adds the user of a stored connection to the index, unless the account is disconnected meanwhile. Throws
 * `StoreUnavailableError`.
 */
export async function addToIndex(
  { connections, index }: Pick<WriteDependencies, 'connections' | 'index'>,
  ref: ConnectionRef,
): Promise<void> {
  const isStored = async () => (await connections.read(ref)) !== null
  if (!(await isStored())) return
  await index.add(ref)
  // Disconnecting deletes the record first: if it is there now, a later disconnect removes the user from the index.
  if (!(await isStored())) await index.remove(ref)
}
