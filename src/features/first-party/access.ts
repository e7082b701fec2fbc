import { createHash, randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { InvalidGrantError, NotConnectedError } from '../../connect/platform/errors.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'
import type { Store } from '../../connect/store/store.ts'
import { FORMAT } from '../../connect/vault/connection.ts'
import { createRecordCipher, DecryptionError, type EncryptionKey } from '../../connect/vault/encryption.ts'
import { createHealthRecords } from '../../connect/vault/health.ts'
import { createRecords } from '../../connect/vault/records.ts'
import { createRefreshLock } from '../../connect/vault/refresh-lock.ts'
import { createVault } from '../../connect/vault/vault.ts'
import type { FirstParty, FirstPartyCredentials } from './first-party.ts'

export interface FirstPartyAccessOptions {
  store: Store
  keys: readonly EncryptionKey[]
  firstParty: FirstParty
  credentials: FirstPartyCredentials
  log: Logger
  now?: () => number
  /** The shortest time between two refreshes or logins, in ms; 30 s unless a test says otherwise. */
  minIntervalMs?: number
}

/** The kind under which first-party tokens are stored: beside users' connections, never among them. */
export const FIRST_PARTY = 'first-party'

export interface FirstPartyAccess extends TokenSource {
  /** Names the credential: equal in every process that uses it, and tells nothing about it. */
  readonly id: string
}

/**
 * First-party access as a source of tokens, kept encrypted in the store, so that neither a call nor a run logs in while
 * an earlier token or refresh token works. It is a connection in the vault like any other, with the same single
 * refresh among callers and processes; only that a refresh without a living refresh token is a login.
 * Its methods throw `ConfigurationError` for refused keys, otherwise as `Vault.accessToken`.
 */
export function createFirstPartyAccess(options: FirstPartyAccessOptions): FirstPartyAccess {
  const { store, keys, firstParty, credentials, log, now = Date.now } = options
  const lockOptions = {
    now,
    ...(options.minIntervalMs !== undefined && { minIntervalMs: options.minIntervalMs }),
  }
  const { email, apiKey, subscriptionKey, tenantId = '' } = credentials
  // The owner is a hash of the credentials, so a new key starts a new record.
  const owner = createHash('sha256')
    .update(JSON.stringify([email, apiKey, subscriptionKey]))
    .digest('hex')
  const records = createRecords(store, createRecordCipher(keys), FIRST_PARTY)
  const refresh = ({ refreshToken }: { refreshToken: string }) =>
    refreshToken === ''
      ? firstParty.login()
      : firstParty.refresh(refreshToken).catch((error: unknown) => {
          if (error instanceof InvalidGrantError) return firstParty.login()
          throw error
        })
  const vault = createVault({
    store,
    keys,
    log,
    ...lockOptions,
    oauth: { refresh, scopes: [] },
    kind: FIRST_PARTY,
  })
  const lock = createRefreshLock(store, createHealthRecords(store, now), lockOptions)
  const source = vault.tokenSource(owner, tenantId)

  /** Does the work on a record that is there: at first one whose token has ended, so that the refresh is the login. */
  async function kept<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof DecryptionError) await records.remove(owner, tenantId)
      else if (!(error instanceof NotConnectedError)) throw error
      const at = now()
      // A login that was made for an earlier record does not keep this one waiting.
      await lock.reset(owner, tenantId)
      await records.create({
        format: FORMAT,
        status: 'active',
        userId: owner,
        context: tenantId,
        grantId: randomUUID(),
        scopes: null,
        accessToken: '',
        refreshToken: '',
        requestedAt: at,
        issuedAt: at,
        expiresAt: at,
        connectedAt: at,
        refreshedAt: null,
      })
      return work()
    }
  }

  return {
    ...source,
    account: `${FIRST_PARTY}:${owner}:${tenantId}`,
    id: `${FIRST_PARTY}:${owner}:${tenantId}`,
    headers: firstParty.headers,
    accessToken: () => kept(source.accessToken),
    refresh: (rejected) => kept(() => source.refresh(rejected)),
  }
}
