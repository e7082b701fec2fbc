import * as z from 'zod'
import { parseJson } from '../platform/http.ts'
import { type Key, type KeyValueStore, keyName } from '../store/store.ts'
import { DecryptionError, type RecordCipher } from './encryption.ts'

const count = z.number().int().nonnegative()
const resultSchema = z.object({
  reencrypted: count,
  /** Number of records that already used the first key. */
  current: count,
  /** Number of records that could not be decrypted. */
  unreadable: count,
  /** Why they could not be decrypted, each reason once. */
  reasons: z.array(z.string()),
})
export type ReencryptResult = z.infer<typeof resultSchema>

/** Where an interrupted run continues. */
const positionSchema = z.object({
  keyId: z.string(),
  partition: z.string(),
  cursor: z.string(),
  result: resultSchema,
})

/** How long an interrupted run can be continued, in ms. */
const POSITION_MS = 7 * 86_400_000
/** More reasons than this are not listed. */
const MAX_REASONS = 20

/**
 * Encrypts every record of a kind with the first key. A run that was interrupted continues where it was; records that
 * other processes write meanwhile stay correct. `onProgress` is called after every few hundred records.
 * Throws `StoreUnavailableError`.
 */
export async function reencrypt(
  store: KeyValueStore,
  cipher: RecordCipher,
  kind: string,
  onProgress: (result: ReencryptResult) => void = () => {},
): Promise<ReencryptResult> {
  const positionKey: Key = { kind: 'reencrypt', owner: kind, id: '' }
  const partitions = await store.partitions()
  const position = positionSchema.safeParse(parseJson((await store.get(positionKey)) ?? '')).data
  const first = position?.keyId === cipher.keyId ? partitions.indexOf(position.partition) : -1
  const result = (first >= 0 && position?.result) || {
    reencrypted: 0,
    current: 0,
    unreadable: 0,
    reasons: [],
  }
  for (const [index, partition] of partitions.entries()) {
    if (index < first) continue
    let cursor = index === first ? (position?.cursor ?? null) : null
    do {
      const page = await store.owners(kind, partition, cursor)
      await Promise.all(page.owners.map((owner) => reencryptOwner(store, cipher, kind, owner, result)))
      onProgress(result)
      cursor = page.cursor
      if (cursor === null) continue
      const next: z.infer<typeof positionSchema> = { keyId: cipher.keyId, partition, cursor, result }
      await store.set(positionKey, JSON.stringify(next), POSITION_MS)
    } while (cursor !== null)
  }
  await store.delete(positionKey)
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
  for (let value: string | null = scanned; value !== null; value = await store.get(key)) {
    if (value.startsWith(`v1.${cipher.keyId}.`)) return 'current'
    const text = cipher.decrypt(value, keyName(key))
    if (await store.compareAndSet(key, value, cipher.encrypt(text, keyName(key)))) return 'reencrypted'
  }
  return 'current'
}
