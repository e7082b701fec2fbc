import { randomUUID } from 'node:crypto'
import { connectionChannel, publish } from '../events.ts'
import { NotConnectedError } from '../platform/errors.ts'
import type { Tokens } from '../platform/oauth.ts'
import { retry } from '../store/retry.ts'
import type { VaultDependencies } from './access-token.ts'
import { type ActiveConnection, type ConnectionRef, FORMAT, NOT_REFRESHED, withTokens } from './connection.ts'
import { addToIndex, removeGrant } from './connection-writes.ts'
import { announceDisconnect, saveConsentOrWithdraw } from './disconnect.ts'

const NO_REFRESH_TOKEN =
  'this connection ends with its access token: the platform issued no refresh token. Many platforms issue one only if the scope offline_access is requested'

/** A refresh adds what could not be added until then. */
const INDEX_RETRIES = { timeoutMs: 60_000, pauseMs: 200, maxPauseMs: 1_000 }

/** `Vault.connect`. */
export async function connect(
  deps: VaultDependencies,
  { userId, bxcontext }: ConnectionRef,
  tokens: Tokens,
  sentAt: number,
): Promise<'saved' | 'unsaved'> {
  const { platform, unsaved, lock, health, log, now } = deps
  const granted = {
    format: FORMAT,
    status: 'active',
    userId,
    bxcontext,
    grantId: randomUUID(),
    connectedAt: sentAt,
    scopes: null,
    refreshToken: null,
    ...NOT_REFRESHED,
  } as const
  const connection: ActiveConnection = {
    ...withTokens(platform, granted, tokens, sentAt, now()),
    ...NOT_REFRESHED,
  }
  let isAnnounced = false
  const write = async () => {
    const stored = await saveConsentOrWithdraw(deps, connection).catch((error: unknown) => {
      if (isAnnounced && error instanceof NotConnectedError) announceDisconnect(deps, connection)
      throw error
    })
    // The account is connected, even if an earlier pause or problem could not be cleared. If it was written before, although the
    // store did not say so, another process may be refreshing it by now.
    if (stored.isNew) await Promise.all([lock.reset(connection), health.clear(connection)]).catch(() => {})
    return stored.connection
  }
  const { isUnsaved, saved } = await unsaved.save(connection, write, () => removeGrant(deps, connection))
  // Retried apart from the record: writing the record again could overwrite newer tokens.
  const addLater = () => retry(() => addToIndex(deps, connection), INDEX_RETRIES).catch(() => {})
  if (isUnsaved) void saved.then(addLater)
  else await addToIndex(deps, connection).catch(() => void addLater())
  const { grantId, scopes, expiresAt } = connection
  log.info({ grantId, expiresAt }, 'account connected')
  if (connection.refreshToken === null)
    log.warn(
      { grantId, endsAt: expiresAt === null ? null : new Date(expiresAt).toISOString() },
      NO_REFRESH_TOKEN,
    )
  isAnnounced = true
  publish(
    connectionChannel,
    { type: 'connected', platform: platform.name, ...(scopes && { scopes }) },
    connection,
  )
  return isUnsaved ? 'unsaved' : 'saved'
}
