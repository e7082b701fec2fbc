import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { ConnectionRevokedError, NotConnectedError } from '../platform/errors.ts'
import { parseJson } from '../platform/json.ts'
import { type Key, type KeyValueStore, keyName } from '../store/store.ts'
import { update } from '../store/update.ts'
import {
  type ActiveConnection,
  type Connection,
  type ConnectionRef,
  kindOf,
  parseConnection,
  type RevokedConnection,
  refKey,
  refName,
} from './connection.ts'
import { DecryptionError, type RecordCipher } from './encryption.ts'

/** A connection together with the exact ciphertext it was read from, which compare-and-set compares. */
export interface StoredConnection<C extends Connection = Connection> {
  readonly connection: C
  readonly encrypted: string
}

export type StoredActive = StoredConnection<ActiveConnection>

/** Connections in the store, encrypted. Every method throws `StoreUnavailableError`; `read` also throws `DecryptionError`. */
export interface ConnectionRepository {
  read(ref: ConnectionRef): Promise<StoredConnection | null>
  /** Like `read`, but may be stale (`KeyValueStore.getCached`): use it only to return a token that has not expired. */
  readCached(ref: ConnectionRef): Promise<StoredConnection | null>
  /** Overwrites any record, even one that cannot be decrypted. */
  write(connection: Connection): Promise<void>
  /** Writes only if there is no record. Resolves to whether it was written. */
  create(connection: Connection): Promise<boolean>
  /** Writes only if the record is still exactly what was read; otherwise resolves to null. */
  replace<C extends Connection>(read: StoredConnection, next: C): Promise<StoredConnection<C> | null>
  /** Resolves to whether there was a record. */
  remove(ref: ConnectionRef): Promise<boolean>
  /** Removes the record only if it is still exactly what was read. Resolves to whether it was. */
  removeIfUnchanged(read: StoredConnection): Promise<boolean>
  /** Notes that the user disconnects, for `disconnectedAt`. `at`: ms since 1970. */
  noteDisconnect(ref: ConnectionRef, at: number): Promise<void>
  /** When the user disconnected, in ms since 1970; null if that is not known. It is for at least 15 minutes. */
  disconnectedAt(ref: ConnectionRef): Promise<number | null>
  /**
   * All connections of a user; one that cannot be decrypted is listed with the reason. `cached: false` does not cache
   * them: a walk over all users would replace the connections in use.
   */
  list(userId: string, options?: { cached: boolean }): Promise<ConnectionListItem[]>
}

export type ConnectionListItem =
  | { bxcontext: string; connection: Connection }
  | { bxcontext: string; unreadable: DecryptionError }

/** How many decrypted records are cached, and for how long, in ms. */
const MAX_CACHED = 5_000
const CACHE_TTL_MS = 300_000

/** How long a disconnect is remembered, in ms: longer than a consent that could not be stored is retried. */
const NOTE_MS = 900_000
/** How many disconnects are remembered for each user. */
const MAX_NOTES = 100
const notesSchema = z.array(z.object({ digest: z.string(), at: z.number() }))

/** The kind of the records of a platform's connections, to walk over the users in the store. `platform`: its name. */
export const connectionKind = (platform: string) => kindOf(platform, 'connection')
/** The kind of the notes of which accounts a user has disconnected. They expire. `platform`: its name. */
export const disconnectKind = (platform: string) => kindOf(platform, 'disconnected')
export const connectionKey = (platform: string, ref: ConnectionRef): Key =>
  refKey(platform, 'connection', ref)

/** `platform`: its name. */
export function createConnectionRepository(
  store: KeyValueStore,
  cipher: RecordCipher,
  platform: string,
): ConnectionRepository {
  const keyOf = (ref: ConnectionRef) => connectionKey(platform, ref)
  const { decrypt, encrypt, forget } = createCodec(cipher, keyOf)

  return {
    async read(ref) {
      const encrypted = await store.get(keyOf(ref))
      if (encrypted !== null) return decrypt(ref, encrypted)
      forget(ref)
      return null
    },

    async readCached(ref) {
      const encrypted = await store.getCached(keyOf(ref))
      return encrypted === null ? null : decrypt(ref, encrypted)
    },

    async write(connection) {
      const { key, encrypted } = encrypt(connection)
      await store.set(key, encrypted)
    },

    async create(connection) {
      const { key, encrypted } = encrypt(connection)
      return store.compareAndSet(key, null, encrypted)
    },

    async replace(read, next) {
      const { key, encrypted } = encrypt(next)
      const written = await store.compareAndSet(key, read.encrypted, encrypted)
      return written ? { encrypted, connection: next } : null
    },

    remove(ref) {
      forget(ref)
      return store.delete(keyOf(ref))
    },

    removeIfUnchanged({ connection, encrypted }) {
      forget(connection)
      return store.compareAndSet(keyOf(connection), encrypted, null)
    },

    ...disconnectNotes(store, platform),

    async list(userId, { cached } = { cached: true }) {
      const entries = await store.list(connectionKind(platform), userId)
      return entries.map(({ key: { id: bxcontext }, value }) =>
        listItem(bxcontext, () => decrypt({ userId, bxcontext }, value, cached)),
      )
    },
  }
}

function listItem(bxcontext: string, decrypt: () => StoredConnection): ConnectionListItem {
  try {
    return { bxcontext, connection: decrypt().connection }
  } catch (error) {
    if (error instanceof DecryptionError) return { bxcontext, unreadable: error }
    throw error
  }
}

/** The latest disconnects of each user, in one value: no request can fill the store with notes. */
function disconnectNotes(
  store: KeyValueStore,
  platform: string,
): Pick<ConnectionRepository, 'noteDisconnect' | 'disconnectedAt'> {
  const keyOf = ({ userId }: ConnectionRef): Key => ({
    kind: disconnectKind(platform),
    owner: userId,
    id: '',
  })
  // Whatever a request names as the bxcontext, in 43 characters.
  const digestOf = ({ bxcontext }: ConnectionRef) =>
    createHash('sha256').update(bxcontext).digest('base64url')
  const parse = (value: string | null) => notesSchema.safeParse(parseJson(value ?? '')).data ?? []
  return {
    async noteDisconnect(ref, at) {
      const digest = digestOf(ref)
      const add = (value: string | null) => {
        const others = parse(value).filter((note) => note.digest !== digest)
        return JSON.stringify([...others, { digest, at }].slice(-MAX_NOTES))
      }
      await update(store, keyOf(ref), add, NOTE_MS)
    },

    async disconnectedAt(ref) {
      const digest = digestOf(ref)
      const notes = parse(await store.get(keyOf(ref)))
      return notes.find((note) => note.digest === digest)?.at ?? null
    },
  }
}

/** Encrypts records, and decrypts them with a cache. */
function createCodec(cipher: RecordCipher, keyOf: (ref: ConnectionRef) => Key) {
  const cache = createDecryptCache()
  return {
    decrypt(ref: ConnectionRef, encrypted: string, keep = true): StoredConnection {
      const cached = cache.get(refName(ref))
      if (cached?.encrypted === encrypted) return cached
      const connection = parseConnection(cipher.decrypt(encrypted, keyName(keyOf(ref))))
      if (!connection)
        throw new DecryptionError('A stored record has a format that this version of the app cannot read.')
      const stored = { encrypted, connection }
      if (keep) cache.set(refName(ref), stored)
      return stored
    },
    encrypt(connection: Connection) {
      cache.delete(refName(connection))
      const key = keyOf(connection)
      return { key, encrypted: cipher.encrypt(JSON.stringify(connection), keyName(key)) }
    },
    forget(ref: ConnectionRef): void {
      cache.delete(refName(ref))
    },
  }
}

/**
 * Caches decrypted records by ref: a record that is copied to another ref must still fail to decrypt. A cached record is
 * used only for its exact ciphertext, so another process's write is noticed. A record that this process deletes,
 * revokes or replaces leaves the cache at once.
 */
function createDecryptCache(): LRUCache<string, StoredConnection> {
  const cache = new LRUCache<string, StoredConnection>({
    max: MAX_CACHED,
    ttl: CACHE_TTL_MS,
    ttlResolution: 1_000,
  })
  // Without this, tokens that are not requested again would stay in memory.
  setInterval(() => cache.purgeStale(), CACHE_TTL_MS / 5).unref()
  return cache
}

/** The record, if it is active. Throws `NotConnectedError`, `ConnectionRevokedError`. */
export function assertActive(stored: StoredConnection | null): StoredActive {
  if (!stored) throw new NotConnectedError()
  if (isActive(stored)) return stored
  throw revokedError(stored.connection as RevokedConnection)
}

export function isActive(stored: StoredConnection): stored is StoredActive {
  return stored.connection.status === 'active'
}

export function revokedError({ revokedAt, revokedReason }: RevokedConnection): ConnectionRevokedError {
  return new ConnectionRevokedError(new Date(revokedAt).toISOString(), revokedReason)
}
