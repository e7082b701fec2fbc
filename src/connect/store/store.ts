import { AppError } from '../app-error.ts'

/**
 * The store port: the few atomic verbs that the rest of the app is built on.
 * Two adapters implement it, `redis.ts` and `sqlite.ts`; `test/connect/store/contract.test.ts` holds both to it.
 */

/** Where a value lives. `owner` groups keys that are listed together and, on a Redis Cluster, live together. */
export interface Key {
  /** What the value is: `connection`, `attempt`, `lease` ... A constant of ours, in lower case. */
  readonly kind: string
  /** Whose it is, usually a `userId`. Any well-formed string. */
  readonly owner: string
  /** Which of the owner's it is. Any well-formed string. */
  readonly id: string
}

export interface Entry {
  readonly key: Key
  readonly value: string
}

export interface Store {
  /** Where values are kept, in words for the start line and `npm run doctor`. Holds no password. */
  readonly description: string
  /** The value, or null when there is none or it has expired. */
  get(key: Key): Promise<string | null>
  /** Writes a value, which must not be empty, unconditionally. With `ttlMs` the value expires and is not listed; without it, it stays. */
  set(key: Key, value: string, ttlMs?: number): Promise<void>
  /**
   * Writes `next` only if the value is still exactly `expected`; null stands for "absent" on either side.
   * Resolves to whether it was written. Atomic among all processes.
   */
  compareAndSet(key: Key, expected: string | null, next: string | null, ttlMs?: number): Promise<boolean>
  /** Removes the value. Resolves to whether there was one. */
  delete(key: Key): Promise<boolean>
  /** The owner's lasting values of one kind (those written without `ttlMs`), in no particular order. */
  list(kind: string, owner: string): Promise<Entry[]>
  /** Every lasting value of one kind, of all owners; for maintenance such as `npm run reencrypt`. */
  scan(kind: string): AsyncIterable<Entry>
  /** Resolves when the store answers. */
  ping(): Promise<void>
  /** What an operator should know about this store's settings, each as one sentence. Empty when all is well. */
  warnings(): Promise<string[]>
  close(): Promise<void>
}

/** The store cannot be reached, is too slow, or cannot write. Nothing was half-written. */
export class StoreUnavailableError extends AppError {
  readonly code = 'store_unavailable'
  readonly status = 503
  /** `reason`: the store's own words, for the log. */
  constructor(reason: string) {
    super("The app's own data store is not available. Nothing is lost; please try again in a moment.", {
      reason,
      retryAfterMs: 1000,
    })
  }
}

/**
 * The key as one string, injective: two different keys never meet, whatever characters they hold.
 * The braces are a Redis Cluster hash tag, so that all of an owner's keys share a slot.
 */
export function keyName({ kind, owner, id }: Key): string {
  return `connect:${kind}:{${encode(owner)}}:${encode(id)}`
}

/** The name of the group that `list` reads. */
export function groupName(kind: string, owner: string): string {
  return `connect:${kind}:{${encode(owner)}}`
}

/** Most ids need no encoding, and to see that is quicker than to encode. */
function encode(text: string): string {
  return /^[\w.-]*$/.test(text) ? text : encodeURIComponent(text)
}

/** The inverse of `keyName`; null for a name that is not one of ours. */
export function parseKeyName(name: string): Key | null {
  const match = /^connect:([a-z-]+):\{([^{}:]*)\}:([^{}:]*)$/.exec(name)
  if (!match) return null
  const [, kind = '', owner = '', id = ''] = match
  return { kind, owner: decodeURIComponent(owner), id: decodeURIComponent(id) }
}
