import { LRUCache } from 'lru-cache'
import { type Key, keyName, type Store } from '../store/store.ts'
import { type Connection, parseConnection } from './connection.ts'
import { DecryptionError, type RecordCipher } from './encryption.ts'

/** A connection together with the exact ciphertext it was read from: what compare-and-set compares. */
export interface Stored<C extends Connection = Connection> {
  readonly connection: C
  readonly encrypted: string
}

/** Connections in the store, encrypted. Every method throws `StoreUnavailableError`; reading throws `DecryptionError` too. */
export interface Records {
  read(userId: string, context: string): Promise<Stored | null>
  /** Writes over whatever is there, also over what cannot be decrypted. */
  write(connection: Connection): Promise<void>
  /** Writes only where there is none yet. Resolves to whether it was written. */
  create(connection: Connection): Promise<boolean>
  /** Writes only over exactly what was read. Null when something else is there by now, or nothing. */
  replace<C extends Connection>(read: Stored, next: C): Promise<Stored<C> | null>
  remove(userId: string, context: string): Promise<boolean>
  /** All of a user's connections; one that does not open is listed with the reason instead. */
  list(userId: string): Promise<Listed[]>
  /** Encrypts every record with the first key. Resolves to the counts; a record that changed concurrently uses it already. */
  reencrypt(): Promise<{ reencrypted: number; current: number; unreadable: string[] }>
}

export type Listed = { context: string; connection: Connection } | { context: string; unreadable: string }

/** The kind of users' connections. */
export const CONNECTION = 'connection'
/**
 * Decrypted records that are kept in memory, and for how long, in ms. Each counts only for its exact ciphertext: another
 * process's write is a different one. A record that this process deletes, revokes or replaces is forgotten at once.
 */
const MAX_DECRYPTED = 5_000
const DECRYPTED_MS = 300_000

export const connectionKey = (userId: string, context: string, kind = CONNECTION): Key => ({
  kind,
  owner: userId,
  id: context,
})

export function createRecords(store: Store, cipher: RecordCipher, kind = CONNECTION): Records {
  const keyOf = (userId: string, context: string) => connectionKey(userId, context, kind)
  const decrypted = new LRUCache<string, Stored>({
    max: MAX_DECRYPTED,
    ttl: DECRYPTED_MS,
    ttlResolution: 1_000,
  })
  // What nobody asks for again is not found expired by anybody, so it is looked for.
  setInterval(() => decrypted.purgeStale(), DECRYPTED_MS / 5).unref()
  // By whose record it is, not by the ciphertext alone: one that was copied elsewhere must fail although it is known.
  const placeOf = (userId: string, context: string) => `${userId.length}:${userId}${context}`

  function open(userId: string, context: string, encrypted: string): Stored {
    const place = placeOf(userId, context)
    const known = decrypted.get(place)
    if (known?.encrypted === encrypted) return known
    const connection = parseConnection(cipher.decrypt(encrypted, keyName(keyOf(userId, context))))
    if (!connection)
      throw new DecryptionError('A stored record has a format that this version of the app cannot read.')
    const stored = { encrypted, connection }
    decrypted.set(place, stored)
    return stored
  }

  function encrypt(connection: Connection) {
    const key = keyOf(connection.userId, connection.context)
    decrypted.delete(placeOf(connection.userId, connection.context))
    return { key, encrypted: cipher.encrypt(JSON.stringify(connection), keyName(key)) }
  }

  return {
    async read(userId, context) {
      const encrypted = await store.get(keyOf(userId, context))
      if (encrypted !== null) return open(userId, context, encrypted)
      decrypted.delete(placeOf(userId, context))
      return null
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
      return (await store.compareAndSet(key, read.encrypted, encrypted))
        ? { encrypted, connection: next }
        : null
    },

    remove(userId, context) {
      decrypted.delete(placeOf(userId, context))
      return store.delete(keyOf(userId, context))
    },

    async list(userId) {
      const entries = await store.list(kind, userId)
      return entries.map(({ key, value }) => {
        try {
          return { context: key.id, connection: open(userId, key.id, value).connection }
        } catch (error) {
          if (error instanceof DecryptionError) return { context: key.id, unreadable: error.message }
          throw error
        }
      })
    },

    async reencrypt() {
      const counts = { reencrypted: 0, current: 0, unreadable: [] as string[] }
      for await (const { key, value } of store.scan(kind)) {
        if (value.startsWith(`v1.${cipher.keyId}.`)) {
          counts.current++
          continue
        }
        try {
          const text = cipher.decrypt(value, keyName(key))
          if (await store.compareAndSet(key, value, cipher.encrypt(text, keyName(key)))) counts.reencrypted++
          else counts.current++
        } catch (error) {
          if (!(error instanceof DecryptionError)) throw error
          counts.unreadable.push(error.message)
        }
      }
      return counts
    },
  }
}
