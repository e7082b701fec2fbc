import { allOwners, type Key, type KeyValueStore, keyName } from '../store/store.ts'
import { update } from '../store/update.ts'
import { DecryptionError, type RecordCipher } from './encryption.ts'

export interface ReencryptResult {
  reencrypted: number
  /** Number of records that already used the first key. */
  current: number
  /** Number of records that could not be decrypted. */
  unreadable: number
  /** Why they could not be decrypted, each reason once. */
  reasons: string[]
}

/** How many owners are worked on at the same time. */
const CONCURRENT = 200
/** More reasons than this are not listed. */
const MAX_REASONS = 20

/**
 * Encrypts every record of a kind with the first key. Run again after an interruption, it only reads those that are done;
 * records that other processes write meanwhile stay correct. `onProgress` is called after every few hundred records.
 * Throws `StoreUnavailableError`.
 */
export async function reencrypt(
  store: KeyValueStore,
  cipher: RecordCipher,
  kind: string,
  onProgress: (result: ReencryptResult) => void = () => {},
): Promise<ReencryptResult> {
  const result: ReencryptResult = { reencrypted: 0, current: 0, unreadable: 0, reasons: [] }
  let batch: string[] = []
  const finishBatch = async () => {
    await Promise.all(batch.map((owner) => reencryptOwner(store, cipher, kind, owner, result)))
    batch = []
    onProgress(result)
  }
  for await (const owner of allOwners(store, kind)) {
    batch.push(owner)
    if (batch.length === CONCURRENT) await finishBatch()
  }
  await finishBatch()
  return result
}

async function reencryptOwner(
  store: KeyValueStore,
  cipher: RecordCipher,
  kind: string,
  owner: string,
  result: ReencryptResult,
): Promise<void> {
  for (const { key, value } of await store.list(kind, owner)) {
    try {
      result[await reencryptRecord(store, cipher, key, value)]++
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error
      result.unreadable++
      const { message } = error
      if (!result.reasons.includes(message) && result.reasons.length < MAX_REASONS)
        result.reasons.push(message)
    }
  }
}

/** Encrypts one record, also if another process writes it meanwhile, perhaps still with an older key. */
async function reencryptRecord(
  store: KeyValueStore,
  cipher: RecordCipher,
  key: Key,
  scanned: string,
): Promise<'reencrypted' | 'current'> {
  const isCurrent = (value: string) => value.startsWith(`v1.${cipher.keyId}.`)
  if (isCurrent(scanned)) return 'current'
  let result: 'reencrypted' | 'current' = 'current'
  await update(store, key, (value) => {
    const isDone = value === null || isCurrent(value)
    result = isDone ? 'current' : 'reencrypted'
    return isDone ? value : cipher.encrypt(cipher.decrypt(value, keyName(key)), keyName(key))
  })
  return result
}
