import { randomBytes } from 'node:crypto'
import { appOwner, type KeyValueStore, update } from '../../connect/stores.ts'
import type { Parameter } from './flow.ts'
import { type EventParameter, Secret } from './masking.ts'

/** How long a key is used, in ms. */
const KEY_MS = 24 * 3_600_000
const KEY = { kind: 'fingerprint-key', owner: appOwner('flow-inspector'), id: 'current' }

/**
 * The key of the fingerprints, which all processes share through the store: the same secret has the same fingerprint
 * everywhere for a day. Throws `StoreUnavailableError`.
 */
export async function fingerprintKey(store: KeyValueStore): Promise<string> {
  return update(store, KEY, (key) => key ?? randomBytes(32).toString('base64url'), KEY_MS)
}

/** The fingerprint of a secret: its kind, its length, and 6 hex digits of a keyed digest (`code:43:0a1b2c`). */
export const fingerprintOf = (secret: Secret, key: string): string =>
  `${secret.kind.replaceAll(':', '_').slice(0, 200) || '_'}:${secret.length}:${secret.digest(key).slice(0, 6)}`

/** Converts a parameter of an event, in which a secret becomes its fingerprint. */
export function toParameter({ name, value }: EventParameter, key: string): Parameter {
  const shortName = name.slice(0, 200)
  return value instanceof Secret
    ? { name: shortName, fingerprint: fingerprintOf(value, key) }
    : { name: shortName, value }
}

/** Converts headers of an event. A bearer token is shown as `Bearer` and its fingerprint. */
export function toHeaders(headers: readonly EventParameter[], key: string): Record<string, string> {
  const entries = headers.map(({ name, value }) => {
    if (!(value instanceof Secret)) return [name, value]
    const fingerprint = fingerprintOf(value, key)
    return [name, name === 'authorization' ? `Bearer ${fingerprint}` : fingerprint]
  })
  return Object.fromEntries(entries)
}
