/** Records of connections as the vault stores them, for tests that look behind it or fill a store. */
import { createRecordCipher, type EncryptionKey, platform } from '../../src/connect/index.ts'
import { type KeyValueStore, keyName } from '../../src/connect/stores.ts'
import { createBxcontextIndex } from '../../src/connect/vault/bxcontext-index.ts'
import type { ConnectionRef } from '../../src/connect/vault/connection.ts'
import { connectionKey, createConnectionRepository } from '../../src/connect/vault/connection-repository.ts'

export { type ActiveConnection, FORMAT } from '../../src/connect/vault/connection.ts'

/** The stored connections of the platform. */
export const storedConnections = (store: KeyValueStore, keys: readonly EncryptionKey[]) =>
  createConnectionRepository(store, createRecordCipher(keys), platform.name)

/** Which users are connected to which bxcontext. */
export const storedIndex = (store: KeyValueStore) => createBxcontextIndex(store, platform.name)

/** The key of a connection's record. */
export const recordKey = (ref: ConnectionRef) => connectionKey(platform.name, ref)
/** The name of that key in Redis. */
export const recordName = (ref: ConnectionRef) => keyName(recordKey(ref))
