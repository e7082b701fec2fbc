import { CoreError } from '../app-error.ts'

/**
 * The store interface: a few atomic operations on which the rest of the app builds. Two adapters implement it, `redis.ts` and
 * `sqlite.ts`; `test/support/store-contract.ts` tests both.
 */

/** Identifies a value. All keys of an `owner` share a slot of a Redis Cluster. */
export interface Key {
  /** The type of the value, such as `session`: a constant of lower-case letters and hyphens. */
  readonly kind: string
  /** The owner: a `userId`, a random id, or an `appOwner`. Any well-formed string. */
  readonly owner: string
  /** Distinguishes the owner's values. Any well-formed string. */
  readonly id: string
}

/**
 * How long a value lives. A number: it expires after this many ms, and is not listed. `place`: it is permanent, and pages of its
 * owner's values begin with the highest place. `'kept'`: as long as the old value, at the same place, which saves the server work;
 * without an old value, it is permanent.
 */
export type Life = number | { readonly place: number } | 'kept'
/** A permanent value whose place doesn't matter. */
export const PERMANENT: Life = { place: 0 }

/** A value with its key. */
export interface Entry {
  readonly key: Key
  readonly value: string
}

/** A page of an owner's permanent values of one kind. */
export interface EntriesPage {
  entries: Entry[]
  /** The number of values on all pages. */
  total: number
}

/** The values of one kind and owner, which `list` reads. */
export type Group = Pick<Key, 'kind' | 'owner'>

/** Some groups of permanent values. `cursor`: where the next page begins. */
export interface GroupsPage {
  groups: Group[]
  /** Null: this was the last page. */
  cursor: string | null
}

/** If a part of a key is not a well-formed string, which is a bug of the caller, operations reject with a `TypeError`. */
export interface KeyValueStore {
  /** Describes the store in the log at startup and in checks of the settings. Contains no password. */
  readonly description: string
  /** Resolves to the value, or null if there is none or it has expired. */
  get(key: Key): Promise<string | null>
  /**
   * Like `get`, but the value may come from memory and be up to a second old. It reflects a write of this process immediately, and
   * a write of another process usually within milliseconds. Use it for values that most requests read. An adapter without a cache
   * reads the store.
   */
  getCached(key: Key): Promise<string | null>
  /** Writes a value, which must not be empty. With `ttlMs`, it expires and is not listed. Without `ttlMs`, it is permanent. */
  set(key: Key, value: string, ttlMs?: number): Promise<void>
  /**
   * Writes `next` only if the value is still exactly `expected`; null means absent in both. Resolves to whether it was written.
   * Atomic among all processes. Without `life`, the value is permanent.
   */
  compareAndSet(key: Key, expected: string | null, next: string | null, life?: Life): Promise<boolean>
  /** Deletes the value. Resolves to whether there was one. */
  delete(key: Key): Promise<boolean>
  /**
   * The owner's permanent values of one kind (those that don't expire), in no particular order. It lets other requests run in
   * between, so a value that is written in the meantime may be missing.
   */
  list(kind: string, owner: string): Promise<Entry[]>
  /**
   * Some of the values that `list` resolves to, those with the highest place first, and the number of them all. It costs as much as
   * its page, even if the owner has thousands of values.
   */
  page(kind: string, owner: string, page: { skip: number; top: number }): Promise<EntriesPage>
  /**
   * A page of the groups of permanent values, of one kind or of all kinds (null). `cursor`: the cursor of the previous page, or null
   * for the first page. A cursor can be used days later, and by another process. A group may be on several pages. A group that
   * exists during the whole walk is on at least one page.
   */
  groups(kind: string | null, cursor: string | null): Promise<GroupsPage>
  /**
   * All values of an owner, of every kind, including those that expire. It reads the whole store, which takes seconds per million
   * values, so it is only for the administration of one user's data.
   */
  ofOwner(owner: string): Promise<Entry[]>
  /** Resolves if the store accepts writes, which it tests with a temporary value. One of several servers is enough. */
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
 * Called with the reason when a ping finds that the store refuses writes, and with null when it accepts them again. If several
 * servers refuse, the reason names each. It contains no secrets.
 */
export type OnRefusal = (reason: string | null) => void

/** Passes on a reason only if it differs from the last one. */
export function newsOnly(tell: OnRefusal = () => {}): OnRefusal {
  let last: string | null = null
  return (reason) => {
    if (reason !== last) tell(reason)
    last = reason
  }
}

/** Returns a unique text for a key, whatever characters it contains. Encrypted values are bound to it. */
export const keyText = ({ kind, owner, id }: Key): string => JSON.stringify([kind, owner, id])

/**
 * The owner of values that belong to the app and not to a user, such as a lease. No user can have this id, because user ids contain
 * no control characters.
 */
export const appOwner = (name: string): string => `\u0001${name}`

/** Throws a `TypeError` if a part of the key is not a well-formed string. JavaScript would turn `undefined` into text. */
export function checkKey({ kind, owner, id }: Key): void {
  for (const part of [kind, owner, id])
    if (typeof part !== 'string' || !part.isWellFormed())
      throw new TypeError('the kind, owner and id of a key must be well-formed strings')
}

/** The groups of permanent values. In rare cases, a group occurs twice. Throws `StoreUnavailableError`. */
export async function* allGroups(store: KeyValueStore, kind: string | null): AsyncIterable<Group> {
  let cursor: string | null = null
  do {
    const page: GroupsPage = await store.groups(kind, cursor)
    yield* page.groups
    cursor = page.cursor
  } while (cursor !== null)
}

/** The owners that have permanent values of one kind. In rare cases, an owner occurs twice. Throws `StoreUnavailableError`. */
export async function* allOwners(store: KeyValueStore, kind: string): AsyncIterable<string> {
  for await (const { owner } of allGroups(store, kind)) yield owner
}
