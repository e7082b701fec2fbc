import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import { ConnectionRevokedError, DecryptionError, NotConnectedError } from '../../../connect/errors.ts'
import {
  type EncryptionKey,
  type Platform,
  platform,
  type TokenSource,
  Vault,
  type VaultOptions,
} from '../../../connect/index.ts'
import type { KeyValueStore } from '../../../connect/stores.ts'
import { type FirstPartyOptions, firstPartyHeaders, logIn, refresh } from './first-party.ts'

export interface FirstPartyAccessOptions extends FirstPartyOptions {
  store: KeyValueStore
  /** Keys for the tokens. The first key encrypts; all keys decrypt. */
  keys: readonly EncryptionKey[]
  log: Logger
  now?: () => number
}

/** A source of tokens. `id` identifies the tenant and the credentials without revealing them, and is the same in every process. */
export type FirstPartyAccess = TokenSource & { readonly id: string }

/** This name separates its records in the store from users' connections. */
const FIRST_PARTY: Platform = { ...platform, name: 'firstparty' }

/** The errors of a record without valid tokens. */
const WITHOUT_TOKENS = [NotConnectedError, ConnectionRevokedError, DecryptionError]
/** A placeholder for the tokens of a login, which is never sent to the platform: refreshing it logs in. */
const NOT_LOGGED_IN = 'not logged in'

/**
 * Creates a token source for first-party access (specification 5.2). The tokens are encrypted in a separate vault and refreshed
 * like users' tokens. If there are no valid tokens, a record is stored whose refresh is the login, so callers and processes share a
 * login, and the pause after a failed login. Only processes that find no record at the same moment log in twice. The methods throw
 * `ConfigurationError` if the platform rejects the credentials, and the errors of `Vault.accessToken`.
 */
export function createFirstPartyAccess(options: FirstPartyAccessOptions): FirstPartyAccess {
  const { store, keys, log, now = Date.now, email, apiKey, subscriptionKey, tenantId = '' } = options
  // The owner is a hash of the credentials, so a new key starts a new record.
  const userId = createHash('sha256')
    .update(JSON.stringify([email, apiKey, subscriptionKey]))
    .digest('hex')
  const ref = { userId, bxcontext: tenantId }
  const client = { clientId: email, clientSecret: JSON.stringify([apiKey, subscriptionKey, tenantId]) }
  const oauth: VaultOptions['oauth'] = {
    refresh: ({ refreshToken }) =>
      refreshToken === NOT_LOGGED_IN ? logIn(options) : refresh(options, refreshToken),
    scopes: [],
  }
  const vault = new Vault({ store, keys, log, now, client, oauth, platform: FIRST_PARTY })
  const source = vault.tokenSource(ref)

  let beginning: Promise<unknown> | undefined
  const begin = () => {
    const tokens = { accessToken: NOT_LOGGED_IN, refreshToken: NOT_LOGGED_IN }
    beginning ??= vault
      .connect(ref, async () => ({ ...tokens, expiresIn: undefined, scopes: undefined }))
      .finally(() => {
        beginning = undefined
      })
    return beginning
  }

  /** Gets a token. Logs in first if there are no valid tokens. */
  async function withLogin(getToken: () => Promise<string>): Promise<string> {
    const token = await getToken().catch(async (error: unknown) => {
      if (!WITHOUT_TOKENS.some((kind) => error instanceof kind)) throw error
      await begin()
      return NOT_LOGGED_IN
    })
    // Again, because another process may have begun at the same moment, and its record has taken the place of ours.
    return token === NOT_LOGGED_IN ? withLogin(() => source.refresh(token)) : token
  }

  const id = `${FIRST_PARTY.name}:${userId}:${tenantId}`
  return {
    ...source,
    id,
    headers: firstPartyHeaders(subscriptionKey),
    accessToken: () => withLogin(source.accessToken),
    refresh: (rejected) => withLogin(() => source.refresh(rejected)),
  }
}
