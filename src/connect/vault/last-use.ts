import type { KeyValueStore } from '../store/store.ts'
import { type ConnectionRef, refKey, refName } from './connection.ts'

/** When connections were last used, stored beside the connections: losing it does no harm. */
export interface LastUse {
  /**
   * Records in the background that the API accepted a call of this connection, at most once a minute in this process.
   * Never fails.
   */
  note(ref: ConnectionRef): void
  /** Resolves to the latest recorded time, in ms since 1970, or null. Throws `StoreUnavailableError`. */
  read(ref: ConnectionRef): Promise<number | null>
  /** Throws `StoreUnavailableError`. */
  clear(ref: ConnectionRef): Promise<void>
}

const INTERVAL_MS = 60_000
/** How long the last use is stored, in ms. */
const TTL_MS = 400 * 24 * 3_600_000
/** For how many connections the last write is remembered. */
const MAX_NOTED = 10_000

/** `platform`: its name. */
export function createLastUse(store: KeyValueStore, platform: string, now: () => number): LastUse {
  const keyOf = (ref: ConnectionRef) => refKey(platform, 'last-use', ref)
  /** When this process last recorded a use. */
  const noted = new Map<string, number>()
  return {
    note(ref) {
      const time = now()
      const last = noted.get(refName(ref))
      if (last !== undefined && time - last < INTERVAL_MS) return
      if (noted.size >= MAX_NOTED) noted.clear()
      noted.set(refName(ref), time)
      store.set(keyOf(ref), String(time), TTL_MS).catch(() => {})
    },

    async read(ref) {
      const value = await store.get(keyOf(ref))
      return value !== null && /^\d+$/.test(value) ? Number(value) : null
    },

    async clear(ref) {
      noted.delete(refName(ref))
      await store.delete(keyOf(ref))
    },
  }
}
