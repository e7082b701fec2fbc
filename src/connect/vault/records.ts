import { randomInt, randomUUID } from 'node:crypto'
import * as z from 'zod'
import { parseJson } from '../platform/json.ts'
import { retry } from '../retry.ts'
import { type Key, type KeyValueStore, keyName, StoreUnavailableError } from '../store/store.ts'
import {
  type ConnectionRecord,
  type ConnectionRef,
  NO_RECORD,
  NONE_TTL_MS,
  parseRecord,
  resealed,
} from './connection.ts'
import { createRecordCipher, DecryptionError, type EncryptionKey, type RecordCipher } from './encryption.ts'

/** The kind of the records of a platform's connections, to walk over the users in the store. `platform`: its name. */
export const connectionKind = (platform: string) => `${platform}-connection`

/** What a record keeps encrypted. An ended connection has the names only. */
const secretsSchema = z.object({
  accessToken: z.string().nullable(),
  refreshToken: z.string().nullable(),
  businessName: z.string().nullable(),
  userName: z.string().nullable(),
})
export type Secrets = z.infer<typeof secretsSchema>

/** A change of a record. Both are the same if there was nothing to change. */
export interface Change {
  before: ConnectionRecord
  after: ConnectionRecord
}

/** From a record to the next one; the same record back means that nothing changes. */
type Transition = (record: ConnectionRecord) => ConnectionRecord

/** How many records are kept parsed and decrypted: both take longer than a read from Redis (npm run bench, `vault.accessToken`). */
const MAX_KEPT = 1_000

/** Remembers what was computed of the latest texts. */
function remembered<V>(values: Map<string, V>, text: string, compute: () => V): V {
  const known = values.get(text)
  if (known !== undefined) return known
  if (values.size >= MAX_KEPT) values.clear()
  const value = compute()
  values.set(text, value)
  return value
}

/** What was received is written again for ten minutes. */
const WRITE_RETRIES = { timeoutMs: 600_000, pauseMs: 100, maxPauseMs: 1_000 }

/** The records of a platform's connections in the store. Methods throw `StoreUnavailableError`. */
export class ConnectionRecords {
  readonly #store: KeyValueStore
  readonly #cipher: RecordCipher
  readonly #kind: string
  readonly #parsed = new Map<string, ConnectionRecord>()
  readonly #unsealed = new Map<string, Secrets>()
  readonly #onWritten: (ref: ConnectionRef, change: Change) => void

  /** `platform`: its name. `onWritten` is called once for each change. */
  constructor(
    store: KeyValueStore,
    keys: readonly EncryptionKey[],
    platform: string,
    onWritten: (ref: ConnectionRef, change: Change) => void,
  ) {
    this.#store = store
    this.#cipher = createRecordCipher(keys)
    this.#kind = connectionKind(platform)
    this.#onWritten = onWritten
  }

  /** Throws `DecryptionError` if the record cannot be read. */
  async read(ref: ConnectionRef): Promise<ConnectionRecord> {
    return readable(await this.#store.get(this.#key(ref)))
  }

  /** Like `read`; a value that is at most a second old may come from memory. */
  async readCached(ref: ConnectionRef): Promise<ConnectionRecord> {
    const text = await this.#store.getCached(this.#key(ref))
    return text === null ? NO_RECORD : remembered(this.#parsed, text, () => readable(text))
  }

  /** The stored connections of a user. */
  async list(userId: string): Promise<{ bxcontext: string; text: string }[]> {
    const entries = await this.#store.list(this.#kind, userId)
    return entries.map(({ key, value }) => ({ bxcontext: key.id, text: value }))
  }

  /** Changes a record: reads it, calls `next`, and writes the result, unless another process was faster; then again. */
  change(ref: ConnectionRef, next: Transition): Promise<Change> {
    return this.#repeatable(ref, next)()
  }

  /**
   * Like `change`, repeated until the store accepts it: for what was received and exists nowhere else. Returns the outcome of the
   * first attempt, and that of the last one.
   */
  write(ref: ConnectionRef, next: Transition): { first: Promise<Change>; last: Promise<Change> } {
    const attempt = this.#repeatable(ref, next)
    const first = attempt()
    const last = first.catch((error: unknown) => {
      if (!(error instanceof StoreUnavailableError)) throw error
      return retry(attempt, WRITE_RETRIES)
    })
    return { first, last }
  }

  /**
   * A change that may be attempted again after its answer was lost: the record has the `rev` of the attempt then, and nothing
   * is written twice.
   */
  #repeatable(ref: ConnectionRef, next: Transition): () => Promise<Change> {
    const key = this.#key(ref)
    const rev = randomUUID()
    let sent: Change | undefined
    return async () => {
      for (;;) {
        const text = await this.#store.get(key)
        const before = (text === null ? null : parseRecord(text)) ?? newRecord()
        if (sent && before.rev === rev) return this.#written(ref, sent)
        const after = next(before)
        if (after === before) return { before, after }
        sent = { before, after: { ...after, rev } }
        const ttlMs = after.status === 'none' ? NONE_TTL_MS : undefined
        if (await this.#store.compareAndSet(key, text, JSON.stringify(sent.after), ttlMs))
          return this.#written(ref, sent)
      }
    }
  }

  #written(ref: ConnectionRef, change: Change): Change {
    this.#onWritten(ref, change)
    return change
  }

  /**
   * Removes a connection by `next`, or its record if that cannot be read. A store that is full may refuse to write, and still
   * delete. Resolves to the record before it; null: it could not be read.
   */
  async remove(ref: ConnectionRef, next: Transition): Promise<ConnectionRecord | null> {
    const key = this.#key(ref)
    const read = parseRecord(await this.#store.get(key))
    if (read) {
      const attempt = this.#repeatable(ref, next)
      try {
        // The second attempt finds what the first one has written if only its answer was lost.
        return (await attempt().catch(attempt)).before
      } catch (error) {
        if (read.status === 'none' || !(error instanceof StoreUnavailableError)) throw error
      }
    }
    await this.#store.delete(key)
    if (read) this.#onWritten(ref, { before: read, after: next(read) })
    return read
  }

  /** Encrypts a record, which `text` was a moment ago, with the first key. Throws `DecryptionError`. */
  async reencrypt(ref: ConnectionRef, text: string): Promise<'reencrypted' | 'current'> {
    readable(text)
    const aad = keyName(this.#key(ref))
    const { before, after } = await this.change(ref, (record) =>
      resealed(record, (sealed) =>
        this.#cipher.isCurrent(sealed)
          ? sealed
          : this.#cipher.encrypt(this.#cipher.decrypt(sealed, aad), aad),
      ),
    )
    return after === before ? 'current' : 'reencrypted'
  }

  seal(ref: ConnectionRef, secrets: Secrets): string {
    return this.#cipher.encrypt(JSON.stringify(secrets), keyName(this.#key(ref)))
  }

  /** Throws `DecryptionError`. */
  unseal(ref: ConnectionRef, sealed: string): Secrets {
    const aad = keyName(this.#key(ref))
    return remembered(this.#unsealed, `${aad} ${sealed}`, () => this.#decrypt(sealed, aad))
  }

  #decrypt(sealed: string, aad: string): Secrets {
    const { data } = secretsSchema.safeParse(parseJson(this.#cipher.decrypt(sealed, aad)))
    if (!data)
      throw new DecryptionError('A stored record has a format that this version of the app cannot read.')
    return data
  }

  #key({ userId, bxcontext }: ConnectionRef): Key {
    return { kind: this.#kind, owner: userId, id: bxcontext }
  }
}

/** The numbers begin anywhere, so that no consent of a record that was deleted has one of the next record. */
function newRecord(): ConnectionRecord {
  const begun = randomInt(2 ** 40)
  return { ...NO_RECORD, begun, consent: begun }
}

/** Throws `DecryptionError` if the text is no record. */
export function readable(text: string | null): ConnectionRecord {
  const record = parseRecord(text)
  if (!record)
    throw new DecryptionError('A stored record has a format that this version of the app cannot read.')
  return record
}
