import { createHmac } from 'node:crypto'
import type { ClientCredentials } from '../platform/client-authentication.ts'
import {
  ConfigurationError,
  InvalidGrantError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from '../platform/errors.ts'
import { appOwner, type Key, type KeyValueStore } from '../store/store.ts'
import { update } from '../store/update.ts'
import type { EncryptionKey } from './encryption.ts'

/**
 * Knows whether the platform refuses this app's own credentials (`invalid_client`). All connections and processes share one record
 * in the store. It contains a keyed hash of the secret, so it doesn't apply to another secret. Methods throw
 * `StoreUnavailableError`.
 */
export class AppCredentials {
  readonly #store: KeyValueStore
  readonly #key: Key
  readonly #hash: string

  /** `platform`: the platform's name. The first key is the key of the hash. */
  constructor(
    store: KeyValueStore,
    platform: string,
    [key]: readonly EncryptionKey[],
    { clientId, clientSecret }: ClientCredentials,
  ) {
    this.#store = store
    this.#key = { kind: `${platform}-refused-client`, owner: appOwner('credentials'), id: clientId }
    this.#hash = createHmac('sha256', key?.secret ?? '')
      .update(clientSecret)
      .digest('base64url')
  }

  /** Resolves to whether the latest answer refused the credentials. The result may be up to a second old. */
  async areRefused(): Promise<boolean> {
    return (await this.#store.getCached(this.#key)) === this.#hash
  }

  /** Resolves or rejects like `answer` of the token endpoint, after noting whether it refused or accepted the credentials. */
  async noting<T>(answer: Promise<T>): Promise<T> {
    const areRefused = await answer.then(() => false, refusesCredentials)
    // If the store fails, the platform's next answer is noted instead.
    if (areRefused !== null) await this.note(areRefused).catch(() => {})
    return answer
  }

  /** Writes to the store only if the value changes. */
  async note(areRefused: boolean): Promise<void> {
    const others = (stored: string | null) => (stored === this.#hash ? null : stored)
    await update(this.#store, this.#key, (stored) => (areRefused ? this.#hash : others(stored)))
  }
}

/** Whether an error of the token endpoint refuses this app's credentials; null if it doesn't show that, for example an outage. */
function refusesCredentials(error: unknown): boolean | null {
  if (error instanceof ConfigurationError) return true
  const isAnswer =
    error instanceof InvalidGrantError ||
    (error instanceof PlatformUnavailableError && error.kind === 'refused') ||
    (error instanceof PlatformRejectedError && error.field !== undefined)
  return isAnswer ? false : null
}
