import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AppError } from '../../connect/app-error.ts'
import {
  ConfigurationError,
  ConnectionRevokedError,
  NotConnectedError,
  PlatformUnavailableError,
} from '../../connect/platform/errors.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'
import type { KeyValueStore } from '../../connect/store/store.ts'
import { createConnectionRepository } from '../../connect/vault/connection-repository.ts'
import { createRecordCipher, DecryptionError, type EncryptionKey } from '../../connect/vault/encryption.ts'
import { createHealthRecords } from '../../connect/vault/health.ts'
import { backoffError, isHandle } from '../../connect/vault/refresh.ts'
import { createRefreshLock, type LockHandle } from '../../connect/vault/refresh-lock.ts'
import { createVault } from '../../connect/vault/vault.ts'
import type { FirstParty, FirstPartyCredentials } from './first-party.ts'

export interface FirstPartyAccessOptions {
  store: KeyValueStore
  /** Keys for the tokens: the first encrypts, all of them decrypt. */
  keys: readonly EncryptionKey[]
  firstParty: FirstParty
  credentials: FirstPartyCredentials
  log: Logger
  now?: () => number
  /** As in `RefreshLockOptions`, in ms. */
  refillMs?: number
}

/** Record kind of first-party tokens, which keeps them separate from users' connections. */
export const FIRST_PARTY = 'first-party'
/** How often to check whether another process has logged in, in ms. */
const POLL_MS = 50
/** How long to wait for another process to log in, in ms. */
const LOGIN_TIMEOUT_MS = 20_000

export interface FirstPartyAccess extends TokenSource {
  /** Identifies the credentials and the tenant without revealing them; the same in every process. */
  readonly id: string
  /** Identifies the subscription key, whose tenants share a rate limit. */
  readonly rateLimitId: string
}

/** The stored first-party tokens. */
const firstPartyRecords = (store: KeyValueStore, keys: readonly EncryptionKey[]) =>
  createConnectionRepository(store, createRecordCipher(keys), FIRST_PARTY)

/**
 * Creates a token source for first-party access (specification 5.2). The tokens are encrypted in a separate vault and
 * refreshed like users' tokens. If there are no valid tokens, it logs in; concurrent callers and processes share a
 * login. Its methods throw `ConfigurationError` if the platform rejects the credentials, and the errors of
 * `Vault.accessToken`.
 */
export function createFirstPartyAccess(options: FirstPartyAccessOptions): FirstPartyAccess {
  const { store, keys, firstParty, credentials, log, now = Date.now } = options
  const { email, apiKey, subscriptionKey, tenantId = '' } = credentials
  // The owner is a hash of the credentials, so a new key starts a new record.
  const userId = createHash('sha256')
    .update(JSON.stringify([email, apiKey, subscriptionKey]))
    .digest('hex')
  const ref = { userId, bxcontext: tenantId }
  const lockOptions = {
    now,
    ...(options.refillMs !== undefined && { refillMs: options.refillMs }),
  }
  const oauth = {
    refresh: ({ refreshToken }: { refreshToken: string }) => firstParty.refresh(refreshToken),
  }
  const vault = createVault({ store, keys, log, oauth, kind: FIRST_PARTY, ...lockOptions })
  const records = firstPartyRecords(store, keys)
  const lock = createRefreshLock(store, createHealthRecords(store, now), lockOptions)
  const source = vault.tokenSource(ref)
  let login: Promise<void> | undefined

  async function logIn(): Promise<void> {
    for (const deadline = performance.now() + LOGIN_TIMEOUT_MS; ; ) {
      const acquired = await lock.acquire(ref)
      if (isHandle(acquired)) return logInLocked(acquired)
      if (acquired !== 'busy') throw backoffError(acquired, false)
      if (performance.now() > deadline)
        throw new PlatformUnavailableError('no_answer', 'another process is still logging in')
      await setTimeout(POLL_MS)
    }
  }

  async function logInLocked(handle: LockHandle): Promise<void> {
    try {
      const stored = await records.read(ref).catch((error: unknown) => {
        if (error instanceof DecryptionError) return null
        throw error
      })
      // Another process has already logged in.
      if (stored?.connection.status === 'active') return
      const sentAt = now()
      await vault.connect(ref, await firstParty.login(), sentAt)
    } catch (error) {
      const mustBackOff = error instanceof AppError && error.status >= 500
      if (mustBackOff)
        await handle.releaseWithBackoff(
          error instanceof ConfigurationError ? 'misconfigured' : 'unavailable',
          error.retryAfterMs,
        )
      throw error
    } finally {
      // Does nothing after `releaseWithBackoff`, which has released the lock.
      await handle.release()
    }
  }

  /** Gets a token. Logs in first if there are no valid tokens. */
  async function withLogin(getToken: () => Promise<string>): Promise<string> {
    try {
      return await getToken()
    } catch (error) {
      const hasNoTokens =
        error instanceof NotConnectedError ||
        error instanceof ConnectionRevokedError ||
        error instanceof DecryptionError
      if (!hasNoTokens) throw error
      login ??= logIn().finally(() => {
        login = undefined
      })
      await login
      return source.accessToken()
    }
  }

  const id = `${FIRST_PARTY}:${userId}:${tenantId}`
  return {
    ...source,
    account: id,
    id,
    rateLimitId: `${FIRST_PARTY}:${createHash('sha256').update(subscriptionKey).digest('hex')}`,
    headers: firstParty.headers,
    accessToken: () => withLogin(source.accessToken),
    refresh: (rejected) => withLogin(() => source.refresh(rejected)),
  }
}
