import type { Key, KeyValueStore } from './store.ts'

/**
 * Changes a value: reads it, and writes the result of `change`. Starts over if another process has changed it in the meantime.
 * `change` gets null if there is no value, and returns null to delete it. If it returns the same value, no write follows. It may be
 * called several times, and its errors end the update. Resolves to the value that is stored now. Throws `StoreUnavailableError`.
 *
 * @example
 * const count = await update(store, key, (value) => String(Number(value ?? 0) + 1))
 */
export async function update<V extends string | null>(
  store: KeyValueStore,
  key: Key,
  change: (value: string | null) => V,
  ttlMs?: number,
): Promise<V> {
  for (;;) {
    const value = await store.get(key)
    const next = change(value)
    if (next === value || (await store.compareAndSet(key, value, next, ttlMs))) return next
  }
}
