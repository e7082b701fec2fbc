import { randomInt, randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { Platform } from '../platform/contract.ts'
import { parseJson } from '../platform/json.ts'
import type { Tokens } from '../platform/token-answer.ts'
import { type Entry, type Key, type KeyValueStore, keyText, type Life } from '../store/store.ts'
import {
  type ActiveRecord,
  type ConnectionRecord,
  type ConnectionRef,
  type EndedRecord,
  type GrantedTokens,
  LATER,
  labelled,
  lifetimeOf,
  type Names,
  NO_RECORD,
  NONE_TTL_MS,
  namesSchema,
  parseRecord,
} from './connection.ts'
import {
  createRecordCipher,
  DecryptionError,
  type EncryptionKey,
  type RecordCipher,
  unknownFormat,
} from './encryption.ts'
import { inTurns, type Listed } from './listing.ts'

/** The `kind` of the keys of a platform's connections, for example to list their owners. `platform`: the platform's name. */
export const connectionKind = (platform: string) => `${platform}-connection`
export const isConnectionKind = (kind: string) => kind.endsWith('-connection')

const tokensSchema = z.object({ accessToken: z.string(), refreshToken: z.string().nullable() })
/** The decrypted secrets of an active record. */
export type Secrets = z.infer<typeof tokensSchema> & Names

/** A change of a record. `before` and `after` are the same record if it did not change. */
export interface Change {
  before: ConnectionRecord
  after: ConnectionRecord
}

/** Returns the next record, or the same record to leave it unchanged. */
export type Transition = (record: ConnectionRecord) => ConnectionRecord

/** How many parsed and decrypted records are kept, because both steps take longer than a read from Redis (`npm run bench`). */
const MAX_KEPT = 1_000

/** The records of a platform's connections in the store. Methods throw `StoreUnavailableError`. */
export class ConnectionRecords {
  readonly #store: KeyValueStore
  readonly #cipher: RecordCipher
  readonly #kind: string
  readonly #assumedLifetimeMs: number
  readonly #kept = new Map<string, ConnectionRecord>()
  readonly #secrets = new WeakMap<ActiveRecord, Secrets>()
  /** The stored text of each record that was read or written. */
  readonly #texts = new WeakMap<ConnectionRecord, string>()
  readonly #placeOf: (record: ConnectionRecord) => number
  readonly #onWritten: (ref: ConnectionRef, change: Change) => void

  /** `placeOf` decides the order of a user's connections. `onWritten` is called once for each change. */
  constructor(
    { name, assumedLifetimeMs }: Platform,
    store: KeyValueStore,
    keys: readonly EncryptionKey[],
    {
      placeOf,
      onWritten,
    }: {
      placeOf: (record: ConnectionRecord) => number
      onWritten: (ref: ConnectionRef, change: Change) => void
    },
  ) {
    this.#store = store
    this.#cipher = createRecordCipher(keys)
    this.#kind = connectionKind(name)
    this.#assumedLifetimeMs = assumedLifetimeMs
    this.#placeOf = placeOf
    this.#onWritten = onWritten
  }

  /** Throws `DecryptionError` if the record cannot be read. */
  async read(ref: ConnectionRef): Promise<ConnectionRecord> {
    return this.#parsed(await this.#store.get(this.#key(ref)))
  }

  /** Like `read`, but the record may come from memory and be up to a second old. */
  async readCached(ref: ConnectionRef): Promise<ConnectionRecord> {
    const key = this.#key(ref)
    const text = await this.#store.getCached(key)
    if (text === null) return NO_RECORD
    const name = `${keyText(key)} ${text}`
    const known = this.#kept.get(name)
    if (known) return known
    const record = this.#parsed(text)
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear()
    this.#kept.set(name, record)
    return record
  }

  /** The stored connections of a user. There may be thousands. */
  async list(userId: string): Promise<Listed[]> {
    return inTurns(await this.#store.list(this.#kind, userId), listed)
  }

  /** Some of the stored connections of a user, in the order of `placeOf`, and the number of them all. */
  async page(userId: string, page: { skip: number; top: number }) {
    const { entries, total } = await this.#store.page(this.#kind, userId, page)
    return { listed: entries.map(listed), total }
  }

  /**
   * Changes a record: reads it, calls `next`, and writes the result. Starts over if another process changed the record first.
   * `seen`: the record that the caller has read. It isn't read again, because the write fails if it is outdated. But it is read
   * again if `next` doesn't change it.
   */
  change(ref: ConnectionRef, next: Transition, seen?: ConnectionRecord): Promise<Change> {
    return this.changer(ref, next, seen)()
  }

  /**
   * Returns a function that makes a change. Call it again if the store's answer was lost. If the earlier call has written the
   * record, its `rev` shows that, and the record isn't written twice.
   */
  changer(ref: ConnectionRef, next: Transition, seen?: ConnectionRecord): () => Promise<Change> {
    const key = this.#key(ref)
    const rev = randomUUID()
    let known = seen && this.#texts.has(seen) ? seen : undefined
    let sent: Change | undefined
    return async () => {
      for (;;) {
        const isStored = !known
        const before = known ?? (await this.#stored(key))
        known = undefined
        if (!sent || before.rev !== rev) {
          const after = next(before)
          if (after === before && isStored) return { before, after }
          if (after === before) continue
          sent = { before, after: { ...after, rev } }
          if (!(await this.#replace(key, sent))) continue
        }
        this.#onWritten(ref, sent)
        return sent
      }
    }
  }

  /**
   * Deletes a record, which works even if the store is full. Afterwards, a consent that began earlier can't be stored, because the
   * next record uses other numbers. Resolves to the deleted record, or to null if it could not be read.
   */
  async remove(ref: ConnectionRef): Promise<ConnectionRecord | null> {
    const key = this.#key(ref)
    for (;;) {
      const text = await this.#store.get(key)
      if (text === null) return NO_RECORD
      const attempt = () => this.#store.compareAndSet(key, text, null)
      // If only the answer to the first attempt was lost, the record is gone.
      const isDeleted = await attempt().catch(async () => (await this.#store.get(key)) === null || attempt())
      if (!isDeleted) continue
      const before = parseRecord(text)
      if (before) this.#onWritten(ref, { before, after: NO_RECORD })
      return before
    }
  }

  /** Changes the label of a connection: see `labelled`. Throws `DecryptionError`. */
  label(ref: ConnectionRef, label: string | null): Promise<Change> {
    const open = (sealed: string) => this.#unseal(ref, sealed, namesSchema)
    const seal = (names: Names) => this.#seal(ref, names)
    return this.change(ref, (record) => labelled(record, label, { open, seal }))
  }

  /** Throws `DecryptionError`. */
  secretsOf(ref: ConnectionRef, record: ActiveRecord): Secrets {
    const known = this.#secrets.get(record)
    if (known) return known
    const secrets = { ...this.#unseal(ref, record.tokens, tokensSchema), ...this.namesOf(ref, record) }
    this.#secrets.set(record, secrets)
    return secrets
  }

  /** The secrets of a record, or only its names after access has ended. Null without a connection, or if decryption fails. */
  secretsIfReadable(ref: ConnectionRef, record: ConnectionRecord): Partial<Secrets> | null {
    try {
      if (record.status === 'none') return null
      return record.status === 'active' ? this.secretsOf(ref, record) : this.namesOf(ref, record)
    } catch (error) {
      if (error instanceof DecryptionError) return null
      throw error
    }
  }

  /** Throws `DecryptionError`. */
  namesOf(ref: ConnectionRef, { names }: ActiveRecord | EndedRecord): Names {
    return this.#unseal(ref, names, namesSchema)
  }

  /**
   * Returns the values that a token response, received at `issuedAt`, changes in a record. Keeps names and a refresh token that it
   * does not repeat, and after a refresh also the scopes. After a consent, drops a refresh token that the platform has refused.
   */
  granted(
    ref: ConnectionRef,
    record: ConnectionRecord,
    tokens: Tokens,
    { issuedAt, isRefresh = false }: { issuedAt: number; isRefresh?: boolean },
  ): GrantedTokens {
    const earlier = this.secretsIfReadable(ref, record)
    const { accessToken, expiresIn } = tokens
    const isRefused = !isRefresh && record.status === 'active' && record.refusal !== null
    const refreshToken = tokens.refreshToken ?? (isRefused ? null : earlier?.refreshToken) ?? null
    const businessName = tokens.businessName ?? earlier?.businessName ?? null
    const userName = tokens.userName ?? earlier?.userName ?? null
    const label = earlier?.label ?? null
    const renewable = refreshToken !== null
    const isSame = isRefresh && accessToken === earlier?.accessToken
    const scopes = isRefresh && record.status === 'active' ? record.scopes : null
    return {
      tokens: this.#seal(ref, { accessToken, refreshToken }),
      names: this.#seal(ref, { businessName, userName, label }),
      renewable,
      scopes: tokens.scopes ?? scopes,
      ...lifetimeOf(expiresIn, { issuedAt, renewable, isSame }, this.#assumedLifetimeMs),
    }
  }

  /** The stored record, or a new record if it is missing or unreadable. */
  async #stored(key: Key): Promise<ConnectionRecord> {
    const text = await this.#store.get(key)
    const record = (text === null ? null : parseRecord(text)) ?? newRecord()
    if (text !== null) this.#texts.set(record, text)
    return record
  }

  /** Replaces the record `before` with `after`. Resolves to false if `before` is not the stored record. */
  #replace(key: Key, { before, after }: Change): Promise<boolean> {
    const text = JSON.stringify(after)
    this.#texts.set(after, text)
    const life = after.status === 'none' ? NONE_TTL_MS : this.#permanent(before, after)
    return this.#store.compareAndSet(key, this.#texts.get(before) ?? null, text, life)
  }

  /** The stored place of a record above `LATER` may be older than the scopes that the app requests now, so it is always written. */
  #permanent(before: ConnectionRecord, after: ConnectionRecord): Life {
    const place = this.#placeOf(after)
    const isKept = before.status !== 'none' && place === this.#placeOf(before) && place < LATER
    return isKept ? 'kept' : { place }
  }

  /** Throws `DecryptionError` if the text is not a record. */
  #parsed(text: string | null): ConnectionRecord {
    const record = parseRecord(text) ?? unknownFormat()
    if (text !== null) this.#texts.set(record, text)
    return record
  }

  #seal(ref: ConnectionRef, secrets: object): string {
    return this.#cipher.encrypt(JSON.stringify(secrets), keyText(this.#key(ref)))
  }

  #unseal<T>(ref: ConnectionRef, sealed: string, schema: z.ZodType<T>): T {
    const { data } = schema.safeParse(parseJson(this.#cipher.decrypt(sealed, keyText(this.#key(ref)))))
    return data ?? unknownFormat()
  }

  #key({ userId, bxcontext }: ConnectionRef): Key {
    return { kind: this.#kind, owner: userId, id: bxcontext }
  }
}

const listed = ({ key, value }: Entry): Listed => ({
  ref: { userId: key.owner, bxcontext: key.id },
  record: parseRecord(value),
})

/** Consent numbers start at a random number, so a consent of a deleted record never has a number of the next record. */
function newRecord(): ConnectionRecord {
  const begun = randomInt(2 ** 40)
  return { ...NO_RECORD, begun, consent: begun }
}
