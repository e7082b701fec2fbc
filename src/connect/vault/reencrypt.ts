import { Readable } from 'node:stream'
import { allGroups, type Entry, type Group, type KeyValueStore, keyText } from '../store/store.ts'
import { parseRecord, resealed } from './connection.ts'
import {
  createRecordCipher,
  DecryptionError,
  type EncryptionKey,
  isEncrypted,
  unknownFormat,
} from './encryption.ts'
import { isConnectionKind } from './records.ts'

/** The outcome for a value: it was re-encrypted, the first key already encrypted it, or it cannot be decrypted. */
export type Reencryption = 'reencrypted' | 'current' | DecryptionError

/** How many groups are re-encrypted at the same time. */
const CONCURRENT = 200

/** Returns a value with its secrets encrypted by the first key, or the same value. Throws `DecryptionError`. */
type Reseal = (entry: Entry) => string

/**
 * Encrypts all secrets of the store with the first key: the connections of every platform, and values that are encrypted as a whole
 * and bound to their `keyText`. After an interruption, the next run only reads finished values. Leaves out values that expire.
 * Throws `StoreUnavailableError`.
 */
export function reencrypt(store: KeyValueStore, keys: readonly EncryptionKey[]): AsyncIterable<Reencryption> {
  const cipher = createRecordCipher(keys)
  const reseal: Reseal = ({ key, value }) => {
    const aad = keyText(key)
    const sealed = (text: string) =>
      cipher.isCurrent(text) ? text : cipher.encrypt(cipher.decrypt(text, aad), aad)
    if (!isConnectionKind(key.kind)) return sealed(value)
    const record = parseRecord(value) ?? unknownFormat()
    const next = resealed(record, sealed)
    return next === record ? value : JSON.stringify(next)
  }
  const reencryptGroup = async ({ kind, owner }: Group) => {
    const entries = await store.list(kind, owner)
    const secret = entries.filter(({ value }) => isConnectionKind(kind) || isEncrypted(value))
    return Promise.all(secret.map((entry) => reencryptEntry(store, entry, reseal)))
  }
  return Readable.from(allGroups(store, null)).flatMap(reencryptGroup, { concurrency: CONCURRENT })
}

async function reencryptEntry(store: KeyValueStore, entry: Entry, reseal: Reseal): Promise<Reencryption> {
  const { key } = entry
  try {
    for (let stored: string | null = entry.value; stored !== null; stored = await store.get(key)) {
      const next = reseal({ key, value: stored })
      if (next === stored) break
      if (await store.compareAndSet(key, stored, next, 'kept')) return 'reencrypted'
    }
    return 'current'
  } catch (error) {
    if (error instanceof DecryptionError) return error
    throw error
  }
}
