import { createHmac } from 'node:crypto'
import { appOwner, type Key, type KeyValueStore } from './store/store.ts'
import { update } from './store/update.ts'
import type { EncryptionKey } from './vault/encryption.ts'

/** What a program authenticates itself with at a token endpoint (RFC 6749 section 2.3.1). */
export interface ClientCredentials {
  clientId: string
  clientSecret: string
}

/**
 * Whether the platform refuses this app's own credentials (`invalid_client`): one record in the store for all connections and
 * processes. It is kept for the client id and a keyed hash of the secret, so another secret starts without it. Methods throw
 * `StoreUnavailableError`.
 */
export class AppCredentials {
  readonly #store: KeyValueStore
  readonly #key: Key
  readonly #hash: string

  /** `platform`: its name. The first of the keys is that of the hash. */
  constructor(
    store: KeyValueStore,
    platform: string,
    [key]: readonly EncryptionKey[],
    { clientId, clientSecret }: ClientCredentials,
  ) {
    this.#store = store
    this.#key = { kind: `${platform}-refused-client`, owner: appOwner('credentials'), id: clientId }
    this.#hash = createHmac('sha256', key?.secret ?? '').update(clientSecret).digest('base64url')
  }

  /** As the latest answer to a token request said. May be a second old. */
  async areRefused(): Promise<boolean> {
    return (await this.#store.getCached(this.#key)) === this.#hash
  }

  /** Notes what an answer to a token request says. Writes only what is news. */
  async note(areRefused: boolean): Promise<void> {
    const others = (stored: string | null) => (stored === this.#hash ? null : stored)
    await update(this.#store, this.#key, (stored) => (areRefused ? this.#hash : others(stored)))
  }
}
