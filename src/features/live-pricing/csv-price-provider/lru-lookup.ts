import { LRUCache } from 'lru-cache'

/** Limits of the cache, since callers choose the keys: number of values, and length of a key in characters. */
const MAX_VALUES = 30_000
const MAX_KEY_LENGTH = 250

/** Caches the results of `find`. Keys that are not found are undefined and not cached. */
export function lruLookup<T>(
  find: (keys: string[]) => Map<string, T>,
): (keys: string[]) => (T | undefined)[] {
  const cache = new LRUCache<string, { value: T }>({ max: MAX_VALUES })
  return (keys) => {
    const cached = keys.map((key) => cache.get(key))
    const missing = keys.filter((_, index) => !cached[index])
    if (missing.length === 0) return cached.map((entry) => entry?.value)
    const found = find([...new Set(missing)])
    for (const [key, value] of found) if (key.length <= MAX_KEY_LENGTH) cache.set(key, { value })
    return keys.map((key, index) => (cached[index] ? cached[index].value : found.get(key)))
  }
}
