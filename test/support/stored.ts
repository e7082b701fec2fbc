/** The stored data of a connection. */
import {
  connectionKind,
  createRecordCipher,
  type EncryptionKey,
  platform,
  Vault,
  type VaultOptions,
} from '../../src/connect/index.ts'
import { type Key, type KeyValueStore, keyText } from '../../src/connect/stores.ts'
import type { Running } from './app.ts'
import { REF } from './vault.ts'

export const recordKey = ({ userId, bxcontext } = REF): Key => ({
  kind: connectionKind(platform.name),
  owner: userId,
  id: bxcontext,
})

/** The stored tokens of a connection, so that a test can search for them elsewhere; null if there are none. */
export async function storedTokens(
  store: KeyValueStore,
  keys: readonly EncryptionKey[],
  ref = REF,
): Promise<{ accessToken: string; refreshToken: string } | null> {
  const key = recordKey(ref)
  const { tokens } = JSON.parse((await store.get(key)) ?? '{}')
  if (typeof tokens !== 'string') return null
  return JSON.parse(createRecordCipher(keys).decrypt(tokens, keyText(key)))
}

/** A vault on the app's store, like that of another process, perhaps with another time or key. */
export const anotherVault = ({ config, services }: Running, options: Partial<VaultOptions>): Vault =>
  new Vault({
    platform,
    store: services.store,
    keys: config.tokenEncryptionKeys,
    oauth: services.connect.oauth,
    ...options,
  })
