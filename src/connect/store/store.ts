import { CoreError } from '../app-error.ts'

/**
 * The store port: a few atomic operations on which the rest of the app is built. Two adapters implement it, `redis.ts`
 * and `sqlite.ts`; `test/support/store-contract.ts` tests both.
 */

/** Identifies a value. The keys of an `owner` are listed together and share a slot of a Redis Cluster. */
export interface Key {
  /** What the value is: `connection`, `lease` ... A constant of ours: lower-case letters and hyphens. */
  readonly kind: string
  /** Who owns it: a `userId`, a random id, or an `appOwner`. Any well-formed string. */
  readonly owner: string
  /** Distinguishes the owner's values. Any well-formed string. */
  readonly id: string
}

/** A value with its key. */
export interface Entry {
  readonly key: Key
  readonly value: string
}

/** Some owners of one kind of values. `cursor`: where the next page begins. */
export interface OwnersPage {
  owners: string[]
  /** Null: this was the last page. */
  cursor: string | null
}

/** If a part of a key is not a well-formed string, every operation with this key rejects with a `TypeError`: it is an error of the caller. */
export interface KeyValueStore {
  /** Describes the store in the log at start and in checks of the settings. Contains no password. */
  readonly description: string
  /** Resolves to the value, or null if there is none or it has expired. */
  get(key: Key): Promise<string | null>
  /**
   * Like `get`, but the value may come from memory and be up to a second old. A write of this process is seen at once, one of
   * another process usually within milliseconds. It is for values that most requests read. An adapter without a cache reads the
   * store.
   */
  getCached(key: Key): Promise<string | null>
  /** Writes a value, which must not be empty. With `ttlMs` it expires and is not listed; without, it is permanent. */
  set(key: Key, value: string, ttlMs?: number): Promise<void>
  /**
   * Writes `next` only if the value is still exactly `expected`; null means absent in both. Resolves to whether it was
   * written. Atomic among all processes. With `'kept'`, the new value is permanent or expires as the old one; it saves the server
   * work. Without an old value, it is permanent.
   */
  compareAndSet(
    key: Key,
    expected: string | null,
    next: string | null,
    ttlMs?: number | 'kept',
  ): Promise<boolean>
  /** Deletes the value. Resolves to whether there was one. */
  delete(key: Key): Promise<boolean>
  /**
   * The owner's permanent values of one kind (written without `ttlMs`), in no particular order. It lets other requests get their
   * turn, however many values there are, so a value that is written in the meantime may be missing.
   */
  list(kind: string, owner: string): Promise<Entry[]>
  /**
   * A page of the owners that have permanent values of one kind. `cursor`: the cursor of the previous page, or null for the first
   * page. A cursor can be used days later, and by another process. An owner may be on several pages. An owner that exists during the
   * whole walk is on at least one.
   */
  owners(kind: string, cursor: string | null): Promise<OwnersPage>
  /**
   * All values of an owner, of every kind, including those that expire. It reads the whole store, which takes seconds per million
   * values, so it is only for the administration of one user's data.
   */
  ofOwner(owner: string): Promise<Entry[]>
  /** Resolves if the store takes writes, which it tests with a small value that expires. One of several servers is enough. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** The store is unreachable, too slow, or cannot write. A write may have happened, but never in part. */
export class StoreUnavailableError extends CoreError {
  readonly code = 'store_unavailable'
  readonly status = 503
  /** `reason`: the store's own message, for the log. */
  constructor(reason: string) {
    super('The store is not available', { reason })
  }
}

/**
 * Called with the reason when a ping finds that the store refuses writes, and with null when it takes them again. If several
 * servers refuse, the reason names each. It contains no secrets.
 */
export type OnRefusal = (reason: string | null) => void

/** Passes a reason on only if it differs from the last one. */
export function newsOnly(tell: OnRefusal = () => {}): OnRefusal {
  let last: string | null = null
  return (reason) => {
    if (reason !== last) tell(reason)
    last = reason
  }
}

/** The key as one string, unique to it whatever characters it contains: an encrypted value is bound to it. */
export const keyText = ({ kind, owner, id }: Key): string => JSON.stringify([kind, owner, id])

/**
 * The owner of values that belong to the app and not to a user, such as a queue that all processes share. No user can have
 * this id: the ids of users have no control characters.
 */
export const appOwner = (name: string): string => `\u0001${name}`

/** Throws a `TypeError` if a part of the key is not a well-formed string. JavaScript would turn `undefined` into a name. */
export function checkKey({ kind, owner, id }: Key): void {
  for (const part of [kind, owner, id])
    if (typeof part !== 'string' || !part.isWellFormed())
      throw new TypeError('the kind, owner and id of a key must be well-formed strings')
}

/** The owners that have permanent values of one kind; rarely, one comes twice. Throws `StoreUnavailableError`. */
export async function* allOwners(store: KeyValueStore, kind: string): AsyncIterable<string> {
  let cursor: string | null = null
  do {
    const page: OwnersPage = await store.owners(kind, cursor)
    yield* page.owners
    cursor = page.cursor
  } while (cursor !== null)
}
