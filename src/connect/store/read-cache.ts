import { LRUCache } from 'lru-cache'

/**
 * Values that Redis reports when they change (client-side caching,
 * https://redis.io/docs/latest/develop/clients/client-side-caching), so that reading them again needs no round trip.
 *
 * Reports come in order with the answers of the same connection. So an answer proves every value that is still here, as of
 * the moment when its command was sent; a connection that died in silence proves nothing. A value is used for at most a
 * second after the last proof.
 */
export interface ReadCache {
  /** The value of a key, or undefined if it must be read. */
  get(name: string): string | undefined
  /** Reads a value, once for all callers that ask at the same time, and keeps it unless it changes meanwhile. */
  load(name: string, read: () => Promise<string | null>): Promise<string | null>
  /** Called when Redis reports a change or this process writes the key; null: any key may have changed. */
  forget(name: string | null): void
}

const MAX_VALUES = 10_000
/** How long a value is used without a proof that it is still the same, in ms. */
const MAX_AGE_MS = 1_000
/** How old a proof may be before the next one is requested, in ms. */
const PROVE_AFTER_MS = 250

/** `prove`: sends any command on the connection that reports changes. */
export function createReadCache(prove: () => Promise<unknown>): ReadCache {
  const values = new LRUCache<string, string>({ max: MAX_VALUES })
  const loads = new Map<string, Promise<string | null>>()
  let provenAt = Number.NEGATIVE_INFINITY
  let proving = false

  function proven(sentAt: number): void {
    provenAt = Math.max(provenAt, sentAt)
  }

  async function requestProof(): Promise<void> {
    proving = true
    const sentAt = performance.now()
    await prove().then(
      () => proven(sentAt),
      () => {},
    )
    proving = false
  }

  return {
    get(name) {
      const value = values.get(name)
      if (value === undefined) return undefined
      const ageMs = performance.now() - provenAt
      if (ageMs > PROVE_AFTER_MS && !proving) void requestProof()
      return ageMs <= MAX_AGE_MS ? value : undefined
    },

    load(name, read) {
      const running = loads.get(name)
      if (running) return running
      const sentAt = performance.now()
      const load = read()
        .then((value) => {
          proven(sentAt)
          // Otherwise it has changed in the meantime.
          if (value !== null && loads.get(name) === load) values.set(name, value)
          return value
        })
        .finally(() => {
          if (loads.get(name) === load) loads.delete(name)
        })
      loads.set(name, load)
      return load
    },

    forget(name) {
      if (name === null) {
        values.clear()
        loads.clear()
      } else {
        values.delete(name)
        loads.delete(name)
      }
    },
  }
}
